"""From a query to hits, or to nothing: words, candidates, fusion, ranking, evidence.

It reads the store and knows nothing of files, watching or sockets.
"""
