"""The rules extractor: statements, facts, categories, dates and entities, in any language, without a model. Pure."""
