"""The settings: what may be set, what it may be, and where each value came from."""
