-- How much its place says that it matters, 0..1: a model's facts of the block take it over from the nearest statement.
ALTER TABLE statement ADD COLUMN importance REAL NOT NULL DEFAULT 0.5;

-- A wording has it as its sixth part: [text, category or null, confidence, entities, relations, importance]. Notes that
-- were read before are read again, as the rules have another version.
UPDATE fact_source SET wording = json_insert(wording, '$[#]', 0.5);
