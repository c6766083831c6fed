"""The numbered scripts that make the schema. A released script is never edited."""
