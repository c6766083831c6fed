-- A fact that the rules found in a block which a model has read since, as it was there. What a model's facts do not say
-- stands beside them; another model may leave out what this one says, so all of the block's are kept.
CREATE TABLE rules_source (
  statement_id  INTEGER NOT NULL REFERENCES statement(id) ON DELETE CASCADE,
  uid           TEXT NOT NULL,          -- as fact.uid
  passage_id    INTEGER NOT NULL REFERENCES passage(id) ON DELETE CASCADE,
  line_from     INTEGER NOT NULL,       -- 1 = the block's first line
  line_to       INTEGER NOT NULL,
  wording       TEXT NOT NULL,          -- as fact_source.wording
  happened_from TEXT,                   -- ISO days
  happened_to   TEXT,
  PRIMARY KEY (statement_id, uid)
) STRICT, WITHOUT ROWID;
CREATE INDEX rules_source_of_passage ON rules_source (passage_id);

-- 1: a model found it there.
ALTER TABLE fact_source ADD COLUMN by_model INTEGER NOT NULL DEFAULT 0;

-- How many facts of the rules stand beside a model's, which do not say them; null where no model has read the block.
ALTER TABLE block ADD COLUMN beside INTEGER;
CREATE INDEX block_beside ON block (beside) WHERE beside > 0;

-- Of blocks that a model has read before, the rules' facts are gone: all notes are read again. Vectors and what the
-- model said come from their caches.
UPDATE note SET extractor = '';
