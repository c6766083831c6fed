"""Models behind small protocols: the embedding model, and later a language model."""
