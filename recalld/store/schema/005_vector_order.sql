-- A statement's embedding, numbered as it came, so that a copy in memory learns of new ones by number alone:
-- int8 with a scale of its own (free under cosine), and the signs of its numbers.
CREATE TABLE numbered_vector (
  number       INTEGER PRIMARY KEY AUTOINCREMENT,
  statement_id INTEGER NOT NULL UNIQUE REFERENCES statement(id) ON DELETE CASCADE,
  signs        BLOB NOT NULL,           -- one bit a dimension
  embedding    BLOB NOT NULL            -- one int8 a dimension
) STRICT;
INSERT INTO numbered_vector (statement_id, signs, embedding)
  SELECT statement_id, signs, embedding FROM vector ORDER BY statement_id;
DROP TABLE vector;
ALTER TABLE numbered_vector RENAME TO vector;
CREATE INDEX vector_signs ON vector (statement_id, signs);
