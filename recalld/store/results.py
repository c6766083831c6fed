"""What a model once gave and is kept by key: taking away what may be kept no longer."""

from __future__ import annotations

from collections.abc import Callable

from recalld.store.connection import Connection, execute, transaction
from recalld.store.reading import meta

_LOOKED_AT = "results/kept_by"
_AT_ONCE = 500


def drop_results(connection: Connection, is_unfit: Callable[[str], bool], *, version: str) -> int:
    """Drops the kept results that are unfit, once a version. Returns how many.

    Args:
        connection: The database's only writing connection.
        is_unfit: Told each result as it is kept, in JSON.
        version: Of what is unfit; a version that has looked at all of them does not look again.
    """
    if meta(connection, _LOOKED_AT) == version:
        return 0
    dropped = 0
    last = b""
    while rows := execute(
        connection,
        "SELECT key, result FROM extraction_cache WHERE key > ? ORDER BY key LIMIT ?",
        (last, _AT_ONCE),
    ):
        last = rows[-1][0]
        unfit = [key for key, result in rows if is_unfit(result)]
        with transaction(connection):
            for key in unfit:
                execute(connection, "DELETE FROM extraction_cache WHERE key = ?", (key,))
        dropped += len(unfit)
    with transaction(connection):
        execute(connection, "INSERT OR REPLACE INTO meta VALUES (?, ?)", (_LOOKED_AT, version))
    return dropped
