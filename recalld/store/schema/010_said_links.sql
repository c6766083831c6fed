-- A link between two facts that a note itself says, by the facts' uids: a place may lose a fact to a model's and get it
-- back. It counts while the note states both. `caused_by` runs from what came of something to what it came of,
-- `temporal` from the later to the earlier.
CREATE TABLE said_link (
  note_id  INTEGER NOT NULL REFERENCES note(id) ON DELETE CASCADE,
  from_uid TEXT NOT NULL,
  to_uid   TEXT NOT NULL,
  kind     TEXT NOT NULL CHECK (kind IN ('caused_by', 'temporal')),
  reason   TEXT NOT NULL,
  PRIMARY KEY (note_id, from_uid, to_uid, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX said_link_from ON said_link (from_uid);
CREATE INDEX said_link_to ON said_link (to_uid);

-- 1: a place that states the fact names the entity by a wikilink.
ALTER TABLE mention ADD COLUMN linked INTEGER NOT NULL DEFAULT 0;

-- Notes that were read before have said no links yet: they are read again. Vectors come from the cache.
UPDATE note SET extractor = '';
