"""Whether a statement says only what its source says. Pure; it knows no model and no store."""
