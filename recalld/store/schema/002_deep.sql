-- What a language model gave for a chunk, so that the same text costs no second call.
CREATE TABLE extraction_cache (
  key     BLOB NOT NULL PRIMARY KEY,    -- of text, headings, date, model and prompt version
  result  TEXT NOT NULL,                -- JSON as it was accepted
  used_at INTEGER NOT NULL              -- ms since 1970
) STRICT, WITHOUT ROWID;

-- Why a block was given up, until its text, the model or the prompt changes; null unless parked.
ALTER TABLE block ADD COLUMN parked_reason TEXT;
-- How many facts of a model were refused for this block, by reason: JSON object.
ALTER TABLE block ADD COLUMN refused TEXT NOT NULL DEFAULT '{}';
CREATE INDEX block_to_extract ON block (extraction) WHERE extraction <> 'done';
CREATE INDEX block_refused ON block (refused) WHERE refused <> '{}';

-- 1: the wording of a fact that its passage does not have; 0: a sentence of the passage.
ALTER TABLE statement ADD COLUMN of_fact INTEGER NOT NULL DEFAULT 0;

-- A typed edge between two facts; it goes with either of them. `supersedes` runs from newer to older.
CREATE TABLE fact_link (
  from_fact INTEGER NOT NULL REFERENCES fact(id) ON DELETE CASCADE,
  to_fact   INTEGER NOT NULL REFERENCES fact(id) ON DELETE CASCADE,
  kind      TEXT NOT NULL CHECK (kind IN
            ('similar', 'related', 'contradicts', 'extends', 'supersedes', 'caused_by', 'temporal')),
  weight    REAL NOT NULL,
  origin    TEXT NOT NULL CHECK (origin IN ('rule', 'llm', 'user')),
  reason    TEXT NOT NULL,
  PRIMARY KEY (from_fact, to_fact, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX fact_link_to ON fact_link (to_fact, kind);

-- Words by which facts that may say the same find each other: of any two that share half their content
-- words, at least one of these is common.
CREATE TABLE fact_key (
  key     TEXT NOT NULL,
  fact_id INTEGER NOT NULL REFERENCES fact(id) ON DELETE CASCADE,
  PRIMARY KEY (key, fact_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX fact_key_of_fact ON fact_key (fact_id);

-- 0: still to be compared with what is known.
ALTER TABLE fact ADD COLUMN compared INTEGER NOT NULL DEFAULT 0;
CREATE INDEX fact_to_compare ON fact (compared) WHERE compared = 0;

-- A user's word on two facts, by their uids, so that it outlives a rebuild. `both`: both hold.
CREATE TABLE resolution (
  one     TEXT NOT NULL,                -- the winner where the verdict is `supersedes`
  other   TEXT NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('supersedes', 'both')),
  made_at INTEGER NOT NULL,             -- ms since 1970
  PRIMARY KEY (one, other)
) STRICT, WITHOUT ROWID;

-- Another name of an entity, from a note's aliases; the note's title is the entity's name.
CREATE TABLE alias (
  key       TEXT NOT NULL,              -- folded, as entity.key
  note_id   INTEGER NOT NULL REFERENCES note(id) ON DELETE CASCADE,
  shown     TEXT NOT NULL,
  PRIMARY KEY (key, note_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX alias_of_note ON alias (note_id);
