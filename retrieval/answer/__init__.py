"""Answers in sentences: joined by a language model, borne out by recalled hits, or left out."""
