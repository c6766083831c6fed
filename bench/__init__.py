"""Measurements: whole runs through the real daemon, side by side, with medians. Nothing here runs in `make test`."""
