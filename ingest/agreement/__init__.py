"""How new facts stand to those that are known: the same, more of the same, at odds, or apart."""
