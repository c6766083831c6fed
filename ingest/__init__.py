"""From a note's text to the store: blocks, statements, facts, and a plan of changes.

It knows nothing of watching, sockets or schedules.
"""
