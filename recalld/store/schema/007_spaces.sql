-- A space of vectors: those of one model with its weights, prefixes and mean. Those `in_use` are what recall reads;
-- those `coming` are made beside them until they are whole; what was `left` is on its way into the cache.
CREATE TABLE space (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  identity  TEXT NOT NULL,              -- differs whenever vectors would
  name      TEXT NOT NULL,              -- of the model, for people
  dimension INTEGER NOT NULL,
  state     TEXT NOT NULL CHECK (state IN ('in_use', 'coming', 'left')),
  whole     INTEGER NOT NULL            -- 0: taken into use before all statements had their vector once
) STRICT;
CREATE UNIQUE INDEX space_by_state ON space (state) WHERE state <> 'left';
INSERT INTO space (identity, name, dimension, state, whole)
  SELECT value, value, coalesce((SELECT length(embedding) FROM vector LIMIT 1), 0), 'in_use', 1
  FROM meta WHERE key = 'embedding_model';
DELETE FROM meta WHERE key = 'embedding_model';

-- A statement's embedding in a space, numbered as it came, so that a copy in memory learns of new ones by number alone:
-- int8 with a scale of its own (free under cosine), and the signs of its numbers.
CREATE TABLE space_vector (
  number       INTEGER PRIMARY KEY AUTOINCREMENT,
  space        INTEGER NOT NULL REFERENCES space(id),
  statement_id INTEGER NOT NULL REFERENCES statement(id) ON DELETE CASCADE,
  signs        BLOB NOT NULL,           -- one bit a dimension
  embedding    BLOB NOT NULL,           -- one int8 a dimension
  UNIQUE (statement_id, space)
) STRICT;
INSERT INTO space_vector (number, space, statement_id, signs, embedding)
  SELECT number, space.id, statement_id, signs, embedding FROM vector CROSS JOIN space ORDER BY number;
DROP TABLE vector;
ALTER TABLE space_vector RENAME TO vector;
CREATE INDEX vector_signs ON vector (space, statement_id, signs);

-- Vectors of statements that are gone and of spaces that were left, so that a move, a revert, a restored note or going
-- back to a model costs no model call.
CREATE TABLE space_cache (
  space      INTEGER NOT NULL REFERENCES space(id) ON DELETE CASCADE,
  embed_hash BLOB NOT NULL,
  signs      BLOB NOT NULL,
  embedding  BLOB NOT NULL,
  used_at    INTEGER NOT NULL,          -- ms since 1970
  PRIMARY KEY (space, embed_hash)
) STRICT, WITHOUT ROWID;
INSERT INTO space_cache (space, embed_hash, signs, embedding, used_at)
  SELECT space.id, embed_hash, signs, embedding, used_at FROM embedding_cache CROSS JOIN space;
DROP TABLE embedding_cache;
ALTER TABLE space_cache RENAME TO embedding_cache;

-- A statement that waits for its vector in the coming space; `statement.embed_state` is of the space in use.
CREATE TABLE coming_statement (
  statement_id INTEGER PRIMARY KEY REFERENCES statement(id) ON DELETE CASCADE,
  attempts     INTEGER NOT NULL DEFAULT 0,
  failed       INTEGER NOT NULL DEFAULT 0 -- 1: given up
) STRICT;
CREATE INDEX coming_by_turn ON coming_statement (failed, attempts, statement_id DESC);
