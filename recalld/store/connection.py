"""Opening the SQLite file: extension, settings of a connection, migrations, a pool of readers.

The only place where apsw and sqlite_vec are imported. It knows how to open and check, not what the rows mean.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import Any

import apsw
import sqlite_vec

from recalld.errors import StoreBusy, StoreDamaged, StoreError, StoreTooNew, StoreUnusable

Row = tuple[Any, ...]
Connection = apsw.Connection

_PRAGMAS = (
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    # What a note says no more, or hides now, must not stay in freed pages.
    "PRAGMA secure_delete = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA mmap_size = 1073741824",
    "PRAGMA cache_size = -32768",
    "PRAGMA journal_size_limit = 67108864",
)
# Must come before the first table.
_CREATION = ("PRAGMA page_size = 8192", "PRAGMA auto_vacuum = INCREMENTAL")
_BUSY_MS = 5000
_MAX_IDLE_READERS = 8
_TOLERANCE = 1e-6
_REMEDY = "reinstall it: pip install --force-reinstall sqlite-vec"


@contextmanager
def translated() -> Iterator[None]:
    """Turns apsw's errors into ours, each with what the user can do."""
    try:
        yield
    except apsw.BusyError as error:
        raise StoreBusy("the database is locked by another program", hint="close it") from error
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise StoreDamaged(
            f"the database is damaged ({error})",
            hint="stop recalld, move the file away and start again: it is rebuilt from the notes",
        ) from error
    except apsw.FullError as error:
        raise StoreUnusable("the disk is full", hint="free some space") from error
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise StoreUnusable(
            f"the database can't be opened for writing ({error})",
            hint="check the folder's owner and permissions",
        ) from error
    except apsw.Error as error:
        raise StoreError(f"the database failed: {error}") from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise StoreUnusable(
            f"the database can't be made ({where}{error.strerror})",
            hint="check the folder's owner and permissions",
        ) from error


def execute(connection: Connection, sql: str, bindings: Any = None) -> list[Row]:
    """All rows of one statement or script. Draining matters: apsw stops at the first row that nobody takes."""
    # A recall runs some fifty statements: entering a context for each would cost it a tenth of a millisecond.
    try:
        return connection.execute(sql, bindings).fetchall()
    except (apsw.Error, OSError):
        with translated():
            raise


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """One transaction for the block: all of it, or none where it raises. It does not nest.

    On a full disk SQLite takes the transaction back by itself; then there is nothing left to undo.
    """
    execute(connection, "BEGIN IMMEDIATE")
    try:
        with translated():
            yield
        execute(connection, "COMMIT")
    except BaseException:
        if connection.in_transaction:
            execute(connection, "ROLLBACK")
        raise


def load_vectors(connection: Connection) -> str | None:
    """Loads sqlite-vec and runs it once. Returns None, or why it can't be used and what to do."""
    try:
        connection.enable_load_extension(True)  # noqa: FBT003 - apsw takes it so
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)  # noqa: FBT003 - apsw takes it so
        one: list[Row] = connection.execute(
            "SELECT vec_distance_cosine(vec_int8(x'0102'), vec_int8(x'0102')),"
            " vec_distance_hamming(vec_bit(x'0f'), vec_bit(x'00'))"
        ).fetchall()
    except (apsw.Error, OSError, AttributeError) as error:
        return f"sqlite-vec can't be loaded ({error}); {_REMEDY}"
    cosine, hamming = (float(value) for value in one[0])
    if abs(cosine) > _TOLERANCE or hamming != 4:
        return f"sqlite-vec computes wrong distances ({cosine}, {hamming}, not 0, 4); {_REMEDY}"
    return None


def require_fts5(connection: Connection) -> None:
    """Raises StoreUnusable when this SQLite has no FTS5, or one too old to delete from a contentless table."""
    try:
        connection.execute(
            "CREATE VIRTUAL TABLE temp.fts_probe USING fts5(x, content='', contentless_delete=1)"
        ).fetchall()
        connection.execute("DROP TABLE temp.fts_probe").fetchall()
    except apsw.Error as error:
        raise StoreUnusable(
            f"this SQLite ({apsw.sqlite_lib_version()}) lacks the full-text search that recalld needs: {error}",
            hint="install apsw from its wheel: pip install --only-binary apsw apsw",
        ) from error


def migrations() -> list[tuple[int, str]]:
    """The numbered scripts, by the schema version that each gives."""
    folder = resources.files("recalld.store.schema")
    scripts = [item for item in folder.iterdir() if item.name.endswith(".sql")]
    return sorted((int(item.name.split("_")[0]), item.read_text("utf-8")) for item in scripts)


def require_ours(connection: Connection, newest: int) -> None:
    """Raises when the file is another program's or a newer recalld's; nothing is written to it.

    Raises:
        StoreDamaged: another program's.
        StoreTooNew: its schema is above `newest`.
    """
    tables = {name for (name,) in execute(connection, "SELECT name FROM sqlite_schema")}
    version = int(execute(connection, "PRAGMA user_version")[0][0])
    if not {"meta", "note", "passage"} <= tables if version else tables:
        raise StoreDamaged(
            "the file is a database of another program",
            hint="choose another data folder, or move the file away",
        )
    if version > newest:
        raise StoreTooNew(
            f"the database has schema {version}, this recalld knows {newest}",
            hint="upgrade recalld, or move the database away to rebuild it from the notes",
        )


def migrate(connection: Connection, scripts: list[tuple[int, str]]) -> int:
    """Brings the schema to the newest version, each step in a transaction of its own. Returns the version.

    Raises:
        StoreDamaged: foreign keys do not hold after a step; the step is undone.
    """
    version = int(execute(connection, "PRAGMA user_version")[0][0])
    for number, script in scripts:
        if number > version:
            with transaction(connection):
                execute(connection, script)
                if execute(connection, "PRAGMA foreign_key_check"):
                    raise StoreDamaged(f"migration {number} left dangling rows")
                execute(connection, f"PRAGMA user_version = {number}")
    return scripts[-1][0]


def _forget_statistics(connection: Connection) -> None:
    """Has SQLite plan by the statements and the schema alone.

    Statistics tell of the store as it was when they were gathered: by those of ten notes, each recall would go through
    all pairs of facts of ten thousand. Where an order matters, the statement says it.
    """
    for table in ("sqlite_stat1", "sqlite_stat4"):
        execute(connection, f"DROP TABLE IF EXISTS {table}")


def _opened(path: Path, flags: int, *, mode: int | None = None) -> Connection:
    """A connection with our settings; `mode` is set on the file."""
    with translated():
        connection = apsw.Connection(str(path), flags)
    try:
        with translated():
            if mode is not None:
                path.chmod(mode)
            connection.set_busy_timeout(_BUSY_MS)
            for pragma in _PRAGMAS:
                execute(connection, pragma)
    except BaseException:
        connection.close()
        raise
    return connection


def _require_schema(connection: Connection, number: int) -> None:
    if execute(connection, "PRAGMA user_version") != [(number,)]:
        raise StoreUnusable(
            "the memory was written by an older recalld",
            hint="start recalld once: it brings the memory up to date",
        )


@contextmanager
def let_go(connection: Connection) -> Iterator[None]:
    """Ends a reader's snapshot for the block and begins another after it, so that the log does not grow meanwhile."""
    execute(connection, "ROLLBACK")
    try:
        yield
    finally:
        execute(connection, "BEGIN")


class Readers:
    """Connections to the file that threads borrow to read, each use in one snapshot."""

    def __init__(self, path: Path) -> None:
        """Opens nothing yet."""
        self.path = path
        # Why sqlite-vec can't be used, and what to do; None where it can.
        self.vectors_problem: str | None = None
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._closed = False

    def _open_reader(self) -> Connection:
        """A connection that can't write."""
        connection = _opened(self.path, apsw.SQLITE_OPEN_READONLY)
        load_vectors(connection)
        return connection

    @contextmanager
    def reader(self) -> Iterator[Connection]:
        """A read-only connection for the block, in one snapshot; give it back by leaving."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = self._open_reader()
        try:
            execute(connection, "BEGIN")
            yield connection
        finally:
            if not connection.in_transaction or not execute(connection, "ROLLBACK"):
                self._give_back(connection)

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < _MAX_IDLE_READERS:
                self._idle.append(connection)
                return
        connection.close()

    def size(self) -> int:
        """Bytes of the file and its write-ahead log."""
        names = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(name.stat().st_size for name in names if name.exists())

    def close(self) -> None:
        """Closes the connections that nobody has borrowed; the others close when they come back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


class ReadOnlyDatabase(Readers):
    """The file as it is, for looking at it while a daemon may be writing: nothing is made, migrated or marked."""

    def __init__(self, path: Path) -> None:
        """Opens and checks the file.

        Raises:
            StoreUnusable: there is none, or one of an older recalld.
            StoreDamaged, StoreTooNew: see each.
        """
        super().__init__(path)
        if not path.exists():
            raise StoreUnusable(
                f"there is no memory at {path}", hint="`recalld run ROOT` makes one from your notes"
            )
        connection = _opened(path, apsw.SQLITE_OPEN_READONLY)
        try:
            newest = migrations()[-1][0]
            require_ours(connection, newest)
            _require_schema(connection, newest)
            self.vectors_problem = load_vectors(connection)
        except BaseException:
            connection.close()
            raise
        self._give_back(connection)


class Database(Readers):
    """The file: one writer connection, and readers that threads borrow."""

    def __init__(self, path: Path) -> None:
        """Opens, checks and migrates the file; makes it when it does not exist.

        Raises:
            StoreDamaged, StoreTooNew, StoreUnusable: see each.
        """
        super().__init__(path)
        self.writer = self._open()
        try:
            require_ours(self.writer, migrations()[-1][0])
            for pragma in _CREATION:
                execute(self.writer, pragma)
            execute(self.writer, "PRAGMA journal_mode = WAL")
            require_fts5(self.writer)
            self.vectors_problem = load_vectors(self.writer)
            self.schema = migrate(self.writer, migrations())
            _forget_statistics(self.writer)
            self._check_after_a_crash()
        except BaseException:
            self.writer.close()
            raise

    def _open(self) -> Connection:
        with translated():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _opened(self.path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, mode=0o600)

    def _open_reader(self) -> Connection:
        connection = self._open()
        load_vectors(connection)
        execute(connection, "PRAGMA query_only = ON")
        return connection

    def _check_after_a_crash(self) -> None:
        """Looks for damage when the last run did not close the file; a clean start stays instant."""
        closed = execute(self.writer, "SELECT value FROM meta WHERE key = 'closed'")
        if closed == [("no",)]:
            found = execute(self.writer, "PRAGMA quick_check(1)")
            if found[0][0] != "ok":
                raise StoreDamaged(
                    f"the database is damaged ({found[0][0]})",
                    hint=f"stop recalld, move {self.path} away and start again:"
                    " it is rebuilt from the notes",
                )
        self._mark_closed("no")

    def _mark_closed(self, value: str) -> None:
        execute(self.writer, "INSERT OR REPLACE INTO meta VALUES ('closed', ?)", (value,))

    def close(self) -> None:
        """Closes every connection; the write-ahead log is folded into the file.

        A file that can't be written any more counts as not closed: the next start looks it over.
        """
        super().close()
        with suppress(StoreError):
            self._mark_closed("yes")
        with translated():
            self.writer.close()
