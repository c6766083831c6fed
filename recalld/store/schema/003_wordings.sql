-- How each place words its fact, as JSON: [text, category or null, confidence, entities, relations]. A fact is made of
-- all its places' wordings and of nothing else, so that none lingers when its place is gone.
ALTER TABLE fact_source ADD COLUMN wording TEXT NOT NULL DEFAULT '["", null, 0, [], []]';

-- Notes that were read before have no wordings: they are read again. Vectors come from the cache.
UPDATE note SET extractor = '';
