"""The day of a note as SQL: the one that it gives itself, else that of its file."""

from __future__ import annotations

from typing import Final

# Where the columns of `note` can be named.
NOTE_DAY: Final = "coalesce(dated, date(mtime_ns / 1000000000, 'unixepoch'))"
