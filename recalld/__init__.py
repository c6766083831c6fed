"""The ground that the wings of recalld share: records, errors, settings, the store, models, the client.

It imports none of `retrieval`, `ingest` and `daemon`.
"""

__version__ = "0.1.0"
