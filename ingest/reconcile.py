"""Decides what a walk means for the notes that are known: read, moved, gone, held back or unknown.

A missing file is the only evidence of a deletion, and poor evidence when much is missing at once: a
disk that is not mounted, a replaced folder or a stray `rm` look the same. Then nothing is deleted
until somebody confirms, or a grace period is over. Pure: it knows neither the disk nor the store.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ingest.disk.records import RootIdentity, Scope, Walk, parents_of
from recalld.records import FileStat, NoteId


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNote:
    """A note as the store has it: its stat when it was read, and the hash of what was read."""

    note_id: NoteId
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    content_hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class RootState:
    """The root's identity as stored (None: never seen) and as it is now (None: not there)."""

    stored: RootIdentity | None
    present: RootIdentity | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionGuard:
    """When missing notes are too many to believe in, and what lifts that."""

    # More than `count` notes and more than `share` (0..1) of the root's notes together are a mass.
    count: int = 10
    share: float = 0.5
    # Notes of this root retracted a short while ago: a deletion seen in portions is one deletion.
    recent: int = 0
    confirmed: bool = False
    grace_over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A known note that is at another path now."""

    note_id: NoteId
    old: str
    new: str


PlanReason = Literal[
    "missing",  # the root is not there
    "unreadable",  # the root can't be listed, or was replaced meanwhile
    "empty",  # the root holds no note, and nothing proves that it is the folder we knew
    "replaced",  # the root is another folder than the one we knew
    "mass_deletion",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to do after a scan. Paths are sorted; no note is in two of moved, gone, held, unknown.

    `root_state` speaks for the plan's scope: a hold that a whole scan found ends only with another.
    After a whole scan that is "ok" the root's present identity is the one to store.
    """

    # To be read: new, or maybe different from what is stored; a moved note only if it may be
    # different.
    changed: tuple[str, ...] = ()
    # The part of `changed` that no known note stands for: each may prove to be a missing one, by
    # hash.
    arrived: tuple[str, ...] = ()
    moved: tuple[Move, ...] = ()
    # To be retracted, once `match_arrivals` has had its say.
    gone: tuple[NoteId, ...] = ()
    # Missing, but kept as they are.
    held: tuple[NoteId, ...] = ()
    # Not seen because something above them could not be looked into; kept.
    unknown: tuple[NoteId, ...] = ()
    root_state: Literal["ok", "unavailable", "held"] = "ok"
    reason: PlanReason | None = None


def reconcile(
    known: Mapping[str, KnownNote],
    walk: Walk,
    *,
    scope: Scope,
    trust_stat: bool,
    guard: DeletionGuard,
    root: RootState,
) -> Plan:
    """The plan that makes the known notes those on the disk, within `scope`.

    Args:
        known: Every known note of the root by path, also those outside `scope`: the guard counts
        them. walk: Of exactly this scope, with rules that are current.
        scope: A file that it names itself is read whatever its stat says, as a stat is too coarse
        to
            show two writes in one moment.
        trust_stat: False has every file read; its hash then says whether it changed.
        guard: What counts as a mass deletion, and whether it is confirmed.
        root: The root's identity, before and now.
    """
    within = {path: note for path, note in known.items() if scope.covers(path)}
    if root.present is None or walk.identity is None or "" in walk.unreadable:
        reason: PlanReason = "unreadable" if "" in walk.unreadable else "missing"
        unknown = tuple(sorted(note.note_id for note in within.values()))
        return Plan(unknown=unknown, root_state="unavailable", reason=reason)
    moved = _moves_by_inode(within, walk.files)
    owners = _owners(within, moved, walk.files)
    changed = tuple(
        path
        for path, found in sorted(walk.files.items())
        if not trust_stat or scope.names(path) or _differs(owners.get(path), found)
    )
    left = {move.old for move in moved}
    absent = [p for p in within if p not in owners and p not in left]
    unreadable = frozenset(walk.unreadable)
    unknown_paths = {p for p in absent if _is_hidden(p, unreadable)}
    plan = Plan(
        changed=changed,
        arrived=tuple(path for path in changed if path not in owners),
        moved=moved,
        held=tuple(sorted(within[p].note_id for p in absent if p not in unknown_paths)),
        unknown=tuple(sorted(within[p].note_id for p in unknown_paths)),
    )
    found_any = bool(walk.files)
    return _judged(plan, len(known), found_any=found_any, scope=scope, guard=guard, root=root)


def match_arrivals(
    plan: Plan,
    known: Mapping[str, KnownNote],
    hashes: Mapping[str, bytes],
    *,
    scope: Scope,
    guard: DeletionGuard,
    root: RootState,
) -> Plan:
    """The plan with missing notes recognised among the files that arrived, by their content.

    To be asked after reading and before deleting anything: what moved is not missing, so a hold may
    be lifted by it. `hashes` are those of `plan.arrived`, where they could be read.
    """
    missing = {*plan.gone, *plan.held}
    if not missing or not hashes:
        return plan
    gone = {path: note for path, note in known.items() if note.note_id in missing}
    arrived = {path: hashes[path] for path in plan.arrived if path in hashes}
    moves = match_moves(gone, arrived)
    found = {move.note_id for move in moves}
    new_paths = {move.new for move in moves}
    matched = replace(
        plan,
        arrived=tuple(path for path in plan.arrived if path not in new_paths),
        moved=tuple(sorted((*plan.moved, *moves), key=lambda move: move.old)),
        held=tuple(sorted(missing - found)),
    )
    return _judged(matched, len(known), found_any=True, scope=scope, guard=guard, root=root)


def match_moves(gone: Mapping[str, KnownNote], arrived: Mapping[str, bytes]) -> tuple[Move, ...]:
    """Which missing notes (by old path) are which arrived files, by equal content hash.

    Where several have one content, equal file names find each other first, then the order of paths
    decides; each note and each file is used once.
    """
    by_hash: defaultdict[bytes, list[str]] = defaultdict(list)
    for path in sorted(arrived):
        by_hash[arrived[path]].append(path)
    return _paired(gone, lambda note: by_hash[note.content_hash])


def _judged(
    plan: Plan,
    known_count: int,
    *,
    found_any: bool,
    scope: Scope,
    guard: DeletionGuard,
    root: RootState,
) -> Plan:
    """The plan with its missing notes, all in `held`, either left there with a reason or let go."""
    state, reason = _doubt(
        plan, known_count, found_any=found_any, scope=scope, guard=guard, root=root
    )
    if state == "ok" or guard.confirmed or (state == "held" and guard.grace_over):
        return replace(plan, gone=plan.held, held=(), root_state="ok", reason=None)
    return replace(plan, gone=(), root_state=state, reason=reason)


def _doubt(
    plan: Plan,
    known_count: int,
    *,
    found_any: bool,
    scope: Scope,
    guard: DeletionGuard,
    root: RootState,
) -> tuple[Literal["ok", "unavailable", "held"], PlanReason | None]:
    """Why the missing notes may not be deleted, if there is a reason."""
    is_whole = scope.prefixes is None
    if is_whole and not plan.held:
        return "ok", None
    if root.stored != root.present and is_whole and not found_any:
        return "unavailable", "empty"
    if root.stored is not None and root.stored != root.present:
        return "held", "replaced"
    missing = len(plan.held) + guard.recent
    if plan.held and missing > max(guard.count, guard.share * (known_count + guard.recent)):
        return "held", "mass_deletion"
    return "ok", None


def _moves_by_inode(
    known: Mapping[str, KnownNote], files: Mapping[str, FileStat]
) -> tuple[Move, ...]:
    """Known notes whose file is at another path with the same inode, size and time.

    A note that is still at its path stays there, even if its file came from elsewhere (`mv a b`):
    only when its own file is found elsewhere too, as when two notes swap names, it makes way.
    """
    by_inode: defaultdict[tuple[int, int, int], list[str]] = defaultdict(list)
    for path, found in sorted(files.items()):
        if path not in known or found.inode != known[path].inode:
            by_inode[found.inode, found.size, found.mtime_ns].append(path)
    leaving = {
        path: note
        for path, note in known.items()
        if path not in files or files[path].inode != note.inode
    }
    moves = _paired(leaving, lambda note: by_inode.get((note.inode, note.size, note.mtime_ns), ()))
    return _without_collisions(moves, known)


def _without_collisions(
    moves: tuple[Move, ...], known: Mapping[str, KnownNote]
) -> tuple[Move, ...]:
    """The moves to free paths: new ones, or ones whose own note moves away as well."""
    while True:
        left = {move.old for move in moves}
        free = tuple(move for move in moves if move.new not in known or move.new in left)
        if len(free) == len(moves):
            return moves
        moves = free


def _paired(
    notes: Mapping[str, KnownNote], candidates: Callable[[KnownNote], Iterable[str]]
) -> tuple[Move, ...]:
    """Each note with one of its candidate paths, none twice; equal file names go first."""
    taken: dict[str, Move] = {}
    placed: set[str] = set()
    for by_name in (True, False):
        for old, note in sorted(notes.items()):
            if old in placed:
                continue
            for new in candidates(note):
                if new != old and new not in taken and (not by_name or _name(new) == _name(old)):
                    taken[new] = Move(note_id=note.note_id, old=old, new=new)
                    placed.add(old)
                    break
    return tuple(sorted(taken.values(), key=lambda move: move.old))


def _owners(
    known: Mapping[str, KnownNote], moved: tuple[Move, ...], files: Mapping[str, FileStat]
) -> dict[str, KnownNote]:
    """The known note that each file stands for, by path; files without one have arrived."""
    left = {move.old for move in moved}
    staying = {path: note for path, note in known.items() if path in files and path not in left}
    return staying | {move.new: known[move.old] for move in moved}


def _differs(note: KnownNote | None, found: FileStat) -> bool:
    """Whether a file may hold something else than what is stored for it."""
    if note is None:
        return True
    stored = (note.size, note.mtime_ns, note.ctime_ns, note.inode)
    return stored != (found.size, found.mtime_ns, found.ctime_ns, found.inode)


def _is_hidden(path: str, unreadable: frozenset[str]) -> bool:
    """Whether a path is, or lies below, something that could not be looked into."""
    return path in unreadable or any(parent in unreadable for parent in parents_of(path))


def _name(path: str) -> str:
    return path.rpartition("/")[2]
