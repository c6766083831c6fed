-- How many facts spell an entity so, as a kind of name: it is shown as most of them have it.
CREATE TABLE spelling (
  entity_id INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE,
  name      TEXT NOT NULL,
  kind      TEXT NOT NULL,
  facts     INTEGER NOT NULL,
  PRIMARY KEY (entity_id, name, kind)
) STRICT, WITHOUT ROWID;

-- The spellings that a fact has, as JSON: [[entity_id, name, kind] …]. Each is counted in `spelling`.
ALTER TABLE fact ADD COLUMN spelled TEXT NOT NULL DEFAULT '[]';

-- Facts that were there before have none counted: notes are read again. Vectors come from the cache.
UPDATE note SET extractor = '';
