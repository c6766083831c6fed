-- ISO day of the oldest note that states it: as of a day between the two it was stated already.
ALTER TABLE fact ADD COLUMN first_stated TEXT;

UPDATE fact SET first_stated = (
  SELECT min(coalesce(dated, date(mtime_ns / 1000000000, 'unixepoch'))) FROM fact_source
  JOIN passage ON passage.id = passage_id JOIN note ON note.id = note_id WHERE fact_id = fact.id);
