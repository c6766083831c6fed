"""Users' words on pairs of facts, taken together: none may put a fact above what stands above it.

Called inside a transaction.
"""

from __future__ import annotations

from recalld.errors import InvalidParams
from recalld.store.connection import Connection, execute

# Of an anchor, as it is shown.
_SHORT = 8


def require_no_circle(connection: Connection, winner: str, loser: str) -> None:
    """Makes sure that a user can put one fact above another: earlier words must not put the other above the one.

    In a circle each fact would be superseded, and none found. Words that the circle needs and that nobody can take
    back any more, as one of their facts is gone, are dropped instead.

    Args:
        connection: The writing one.
        winner: The uid of the fact to stand above.
        loser: That of the other.

    Raises:
        InvalidParams: words on facts that are there put the other above the one.
    """
    while chain := _chain(connection, loser, winner):
        for one, other in chain:
            if not _are_there(connection, one, other):
                execute(
                    connection,
                    "DELETE FROM resolution WHERE (one, other) = (?, ?)",
                    (one, other),
                )
                break
        else:
            one, other = (f"fact:{uid[:_SHORT]}" for uid in chain[-1])
            raise InvalidParams(
                f"fact:{loser[:_SHORT]} stands above fact:{winner[:_SHORT]} by what you said before,"
                " so this would put each above the other",
                hint=f"take that back first: recalld resolve {one} {other} --both",
            )


def _chain(connection: Connection, above: str, below: str) -> list[tuple[str, str]]:
    """The words by which one fact stands above another, from the top, as (winner, loser); none when it does not."""
    rows = execute(
        connection,
        "WITH RECURSIVE under (uid) AS (SELECT :above UNION"
        " SELECT other FROM under JOIN resolution ON one = uid WHERE verdict = 'supersedes')"
        " SELECT one, other FROM under JOIN resolution ON one = uid WHERE verdict = 'supersedes'",
        {"above": above},
    )
    found: dict[str, list[tuple[str, str]]] = {above: []}
    reached = [above]
    for uid in reached:
        for one, other in rows:
            if one == uid and other not in found:
                found[other] = [*found[uid], (one, other)]
                reached.append(other)
    return found.get(below, [])


def _are_there(connection: Connection, one: str, other: str) -> bool:
    rows = execute(connection, "SELECT count(*) FROM fact WHERE uid IN (?, ?)", (one, other))
    return bool(rows[0][0] == 2)
