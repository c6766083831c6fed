"""A note's text as blocks with exact line spans, links, tags and problems. Pure."""
