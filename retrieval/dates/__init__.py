"""Dates and spans of days as people write them: read from notes and from questions by one grammar."""
