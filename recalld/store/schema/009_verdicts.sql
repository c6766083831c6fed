-- What a model said of two facts, by their uids, so that it outlives a rebuild and a note that comes back. Of several
-- answers to one question the latest counts. `met`: rules tell, once the two are compared; `failed`: no answer can be read.
CREATE TABLE verdict (
  one     TEXT NOT NULL,                -- of the two uids the first in order
  other   TEXT NOT NULL,
  asked   BLOB NOT NULL,                -- of both facts' words, days and headings: what the question was
  judge   TEXT NOT NULL,                -- model, weights and prompt version
  verdict TEXT NOT NULL CHECK (verdict IN ('duplicate', 'extends', 'contradicts', 'independent', 'met', 'failed')),
  refused TEXT,                         -- why the answer is not followed; null where it is
  told_at INTEGER NOT NULL,             -- ms since 1970
  PRIMARY KEY (one, other, asked, judge)
) STRICT, WITHOUT ROWID;
CREATE INDEX verdict_of_other ON verdict (other);
CREATE INDEX verdict_failed ON verdict (verdict) WHERE verdict = 'failed';
CREATE INDEX verdict_refused ON verdict (refused) WHERE refused IS NOT NULL;

-- 0: where rules can't tell how it stands to what is known, a model is still to be asked.
ALTER TABLE fact ADD COLUMN judged INTEGER NOT NULL DEFAULT 0;
CREATE INDEX fact_to_judge ON fact (judged) WHERE judged = 0;
