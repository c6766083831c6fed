-- The content words of a compared fact as numbers, so that candidates are weighed without reading their texts.
CREATE TABLE fact_words (
  fact_id INTEGER PRIMARY KEY REFERENCES fact(id) ON DELETE CASCADE,
  words   BLOB NOT NULL
) STRICT;

-- Keys are pairs of words now; they are written when a fact is compared.
DELETE FROM fact_key;
UPDATE fact SET compared = 0;
