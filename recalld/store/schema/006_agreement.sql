-- `fact.compared`: 0 = to be compared with what is known, 2 = being compared, 1 = compared. Whatever changes a fact
-- sets 0, so that a comparison that was under way meanwhile is dropped.
DROP INDEX fact_to_compare;
CREATE INDEX fact_to_compare ON fact (compared) WHERE compared <> 1;
CREATE INDEX resolution_of_other ON resolution (other);

-- Keys are written when a fact is compared, from its words and relations as they are then.
DELETE FROM fact_key;
UPDATE fact SET compared = 0;
