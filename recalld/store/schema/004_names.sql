-- Every name that a note goes by is kept in `alias`: those of its head, its title and its file name. A name that is
-- several of them is one row.
ALTER TABLE alias ADD COLUMN origin TEXT NOT NULL DEFAULT 'alias' CHECK (origin IN ('alias', 'title', 'file'));

-- Notes that were read before have no names yet: they are read again. Vectors come from the cache.
UPDATE note SET extractor = '';
