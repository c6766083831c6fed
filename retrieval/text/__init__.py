"""Text as words, in every script. Both the index and a query are read by this."""
