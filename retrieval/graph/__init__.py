"""The graph as a channel of recall: from the names in a question to what belongs to them."""
