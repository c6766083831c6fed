"""Opening the database: migrations, other people's files, damage, and what SQLite may lack."""

import os
import shutil
import sys
import tempfile
import threading
from pathlib import Path

import apsw
import pytest
import sqlite_vec

from recalld.errors import StoreDamaged, StoreError, StoreTooNew, StoreUnusable
from recalld.store.connection import (
    Database,
    ReadOnlyDatabase,
    execute,
    let_go,
    load_vectors,
    migrate,
    migrations,
)
from recalld.store.writers import Writers
from tests.waiting import DEADLINE_S


def schema(connection):
    return execute(connection, "SELECT name, sql FROM sqlite_schema ORDER BY name")


def opened(path):
    database = Database(path)
    database.close()
    return database


def filled(path):
    """A closed database file of some pages."""
    database = Database(path)
    for number in range(300):
        execute(database.writer, "INSERT INTO meta VALUES (?, ?)", (f"key {number}", "x" * 200))
    database.close()
    return path


def test_a_fresh_file_has_the_newest_schema_and_is_private(tmp_path):
    database = Database(tmp_path / "new" / "memory.db")
    assert database.schema == migrations()[-1][0]
    assert execute(database.writer, "PRAGMA user_version") == [(database.schema,)]
    assert execute(database.writer, "PRAGMA journal_mode") == [("wal",)]
    assert execute(database.writer, "PRAGMA foreign_keys") == [(1,)]
    database.close()
    for file in (tmp_path / "new").iterdir():
        assert file.stat().st_mode & 0o077 == 0, file
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0


def test_migrations_are_numbered_without_gaps():
    assert [number for number, _ in migrations()] == list(range(1, len(migrations()) + 1))


@pytest.mark.parametrize("version", range(len(migrations())))
def test_every_older_schema_ends_as_a_fresh_one(version, tmp_path):
    fresh = apsw.Connection(str(tmp_path / "fresh.db"))
    migrate(fresh, migrations())
    old = apsw.Connection(str(tmp_path / "old.db"))
    if version:
        migrate(old, migrations()[:version])
    migrate(old, migrations())
    assert schema(old) == schema(fresh)
    fresh.close()
    old.close()


def test_opening_again_changes_nothing(tmp_path):
    path = filled(tmp_path / "memory.db")
    opened(path)
    database = Database(path)
    assert execute(database.writer, "SELECT count(*) FROM meta WHERE key LIKE 'key %'") == [(300,)]
    database.close()


def test_statistics_of_an_earlier_day_do_not_outlive_a_start(tmp_path):
    database = Database(tmp_path / "memory.db")
    execute(database.writer, "INSERT INTO meta VALUES ('a', 'b'); ANALYZE")
    assert execute(database.writer, "SELECT 1 FROM sqlite_stat1 LIMIT 1")
    database.close()
    database = Database(tmp_path / "memory.db")
    Writers.over(database.writer).maintain()
    names = execute(
        database.writer, "SELECT name FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'"
    )
    assert names == []
    database.close()


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE half (x); INSERT INTO half VALUES (1); SELECT no_such_function();",
        "CREATE TABLE half (x); this is no SQL;",
        "PRAGMA defer_foreign_keys = ON; INSERT INTO note_tag VALUES (99, 'a', 'a');",
    ],
)
def test_a_failing_migration_leaves_the_old_schema(script, tmp_path):
    database = Database(tmp_path / "memory.db")
    before = schema(database.writer)
    newest = migrations()[-1][0]
    with pytest.raises(StoreError):
        migrate(database.writer, [*migrations(), (newest + 1, script)])
    assert schema(database.writer) == before
    assert execute(database.writer, "PRAGMA user_version") == [(newest,)]
    assert execute(database.writer, "SELECT count(*) FROM note_tag") == [(0,)]
    database.close()


def test_a_migration_that_fails_half_way_keeps_the_steps_before_it(tmp_path):
    database = Database(tmp_path / "memory.db")
    newest = migrations()[-1][0]
    more = [
        (newest + 1, "CREATE TABLE first (x) STRICT;".replace("(x)", "(x TEXT)")),
        (newest + 2, "CREATE TABLE second (x TEXT) STRICT; oops;"),
    ]
    with pytest.raises(StoreError):
        migrate(database.writer, [*migrations(), *more])
    assert execute(database.writer, "PRAGMA user_version") == [(newest + 1,)]
    names = {name for name, _ in schema(database.writer)}
    assert "first" in names
    assert "second" not in names
    database.close()


def test_a_newer_schema_is_refused_and_left_as_it_is(tmp_path):
    path = filled(tmp_path / "memory.db")
    connection = apsw.Connection(str(path))
    execute(connection, "PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(StoreTooNew) as raised:
        Database(path)
    assert "999" in raised.value.message
    assert raised.value.hint
    connection = apsw.Connection(str(path))
    assert execute(connection, "PRAGMA user_version") == [(999,)]
    assert execute(connection, "SELECT count(*) FROM meta WHERE key LIKE 'key %'") == [(300,)]
    connection.close()


@pytest.mark.parametrize("version", [0, 1, 7])
def test_a_database_of_another_program_is_refused_and_left_as_it_is(version, tmp_path):
    path = tmp_path / "memory.db"
    connection = apsw.Connection(str(path))
    execute(connection, "CREATE TABLE bookmarks (url)")
    execute(connection, f"PRAGMA user_version = {version}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises((StoreDamaged, StoreTooNew)) as raised:
        Database(path)
    assert raised.value.hint
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"this is no database at all\n" * 100, b"\0" * 8192, os.urandom(8192)]
)
def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(content, tmp_path):
    path = tmp_path / "memory.db"
    path.write_bytes(content)
    with pytest.raises(StoreDamaged) as raised:
        Database(path)
    assert raised.value.hint
    assert path.read_bytes() == content


@pytest.mark.parametrize("share", [0.9, 0.5, 0.1])
def test_a_truncated_file_is_refused(share, tmp_path):
    path = filled(tmp_path / "memory.db")
    size = path.stat().st_size
    os.truncate(path, int(size * share) // 8192 * 8192)
    with pytest.raises(StoreDamaged) as raised:
        Database(path)
    assert raised.value.hint


def test_damage_is_found_after_a_crash(tmp_path):
    path = filled(tmp_path / "memory.db")
    connection = apsw.Connection(str(path))
    execute(connection, "UPDATE meta SET value = 'no' WHERE key = 'closed'")
    page = execute(connection, "SELECT rootpage FROM sqlite_schema WHERE name = 'note'")[0][0]
    connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * 8192)
        file.write(b"\xff" * 4096)
    with pytest.raises(StoreDamaged) as raised:
        Database(path)
    assert str(path) in str(raised.value.hint)


def test_a_folder_in_the_files_place_is_refused(tmp_path):
    (tmp_path / "memory.db").mkdir()
    with pytest.raises(StoreUnusable) as raised:
        Database(tmp_path / "memory.db")
    assert raised.value.hint


def test_a_file_in_the_folders_place_is_refused(tmp_path):
    (tmp_path / "data").write_text("mine")
    with pytest.raises(StoreUnusable) as raised:
        Database(tmp_path / "data" / "memory.db")
    assert raised.value.hint
    assert (tmp_path / "data").read_text() == "mine"


def outcome_as_plain_user(path: Path) -> str:
    """What opening gives in a process that is not root, to whom no file is read-only."""
    if os.geteuid() != 0:
        try:
            opened(path)
        except StoreError as error:
            return f"{type(error).__name__}: {error.hint}"
        return "opened"
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgid(65534)
            os.setuid(65534)
            Database(path)
            said = "opened"
        except StoreError as error:
            said = f"{type(error).__name__}: {error.hint}"
        except BaseException as error:
            said = repr(error)
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as said_by_child:
        said = said_by_child.read()
    os.waitpid(child, 0)
    return said


@pytest.fixture
def public_folder():
    """A folder that another user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="recalld-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.skipif(sys.platform == "darwin", reason="forks")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_may_not_be_written_is_refused_with_a_hint(what, public_folder):
    path = filled(public_folder / "memory.db")
    before = path.read_bytes()
    if os.geteuid() == 0 and what == "folder":
        os.chown(path, 65534, 65534)
    path.chmod(0o444 if what == "file" else 0o644)
    if what == "folder":
        public_folder.chmod(0o555)
    said = outcome_as_plain_user(path)
    if what == "file" and os.geteuid() != 0:
        # One's own file is made writable again, as it is recalld's alone.
        assert said == "opened"
    else:
        assert said.startswith("StoreUnusable: check the folder")
        assert path.read_bytes() == before


def test_a_sqlite_without_full_text_search_is_refused(tmp_path):
    """The authorizer hides FTS5 as a build without it would."""

    def refuse(operation, first, second, *_rest):
        hidden = operation == apsw.SQLITE_CREATE_VTABLE and second == "fts5"
        return apsw.SQLITE_DENY if hidden else apsw.SQLITE_OK

    def hide(connection):
        connection.authorizer = refuse

    apsw.connection_hooks.append(hide)
    try:
        with pytest.raises(StoreUnusable) as raised:
            Database(tmp_path / "memory.db")
    finally:
        apsw.connection_hooks.remove(hide)
    assert "full-text" in raised.value.message
    assert "pip install" in str(raised.value.hint)


def test_vectors_are_usable_here():
    connection = apsw.Connection(":memory:")
    assert load_vectors(connection) is None
    with pytest.raises(StoreError):
        # Loading is closed again: no SQL may bring other code in.
        execute(connection, "SELECT load_extension('/nowhere')")
    connection.close()


@pytest.mark.parametrize("content", [b"no library", b"\x7fELF" + b"\0" * 100, None])
def test_an_extension_that_cannot_be_loaded_is_told_and_the_rest_works(
    content, tmp_path, monkeypatch
):
    library = tmp_path / "vec0.so"
    if content is not None:
        library.write_bytes(content)
    monkeypatch.setattr(sqlite_vec, "loadable_path", lambda: str(library))
    database = Database(tmp_path / "memory.db")
    assert database.vectors_problem is not None
    assert "sqlite-vec can't be loaded" in database.vectors_problem
    assert "pip install" in database.vectors_problem
    with database.reader() as connection:
        assert execute(connection, "SELECT count(*) FROM note") == [(0,)]
    database.close()


def test_a_reader_sees_one_snapshot_and_cannot_write(tmp_path):
    database = Database(tmp_path / "memory.db")
    with database.reader() as connection:
        execute(connection, "SELECT count(*) FROM meta")
        execute(database.writer, "INSERT INTO meta VALUES ('later', '1')")
        assert execute(connection, "SELECT value FROM meta WHERE key = 'later'") == []
        with pytest.raises(StoreUnusable):
            execute(connection, "DELETE FROM meta")
    with database.reader() as connection:
        assert execute(connection, "SELECT value FROM meta WHERE key = 'later'") == [("1",)]
    database.close()


def test_a_reader_that_waits_lets_go_of_its_snapshot(tmp_path):
    database = Database(tmp_path / "memory.db")
    later = "SELECT value FROM meta WHERE key = 'later'"
    with database.reader() as connection:
        assert execute(connection, later) == []
        with let_go(connection):
            execute(database.writer, "INSERT INTO meta VALUES ('later', '1')")
            # Nobody reads an old state: the log can be folded into the file.
            assert execute(database.writer, "PRAGMA wal_checkpoint(TRUNCATE)")[0][0] == 0
        assert execute(connection, later) == [("1",)]
        execute(database.writer, "DELETE FROM meta WHERE key = 'later'")
        assert execute(connection, later) == [("1",)]
        with pytest.raises(KeyError), let_go(connection):
            raise KeyError
        assert execute(connection, later) == []
    database.close()


def test_a_reader_is_given_back_after_an_error(tmp_path):
    database = Database(tmp_path / "memory.db")
    with pytest.raises(KeyError), database.reader() as first:
        raise KeyError
    with database.reader() as second:
        assert second is first
    database.close()


def test_a_reader_in_use_at_closing_ends_with_its_block(tmp_path):
    database = Database(tmp_path / "memory.db")
    inside, closed = threading.Event(), threading.Event()
    kept = []

    def read():
        with database.reader() as connection:
            kept.append(connection)
            inside.set()
            closed.wait(DEADLINE_S)

    thread = threading.Thread(target=read)
    thread.start()
    inside.wait(DEADLINE_S)
    database.close()
    closed.set()
    thread.join(DEADLINE_S)
    with pytest.raises(apsw.ConnectionClosedError):
        kept[0].execute("SELECT 1")


def test_a_full_disk_is_told_and_the_file_stays_whole(tmp_path):
    database = Database(tmp_path / "memory.db")
    pages = execute(database.writer, "PRAGMA page_count")[0][0]
    execute(database.writer, f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreUnusable) as raised:
        execute(database.writer, "INSERT INTO meta VALUES ('big', ?)", ("x" * 1_000_000,))
    assert raised.value.message == "the disk is full"
    with database.reader() as connection:
        assert execute(connection, "SELECT count(*) FROM meta")[0][0] > 0
    database.close()
    database = Database(tmp_path / "memory.db")
    assert execute(database.writer, "PRAGMA integrity_check") == [("ok",)]
    database.close()


# ---------------------------------------------------------------- reading only


def test_read_only_database_sees_what_another_writes_and_leaves_no_mark(tmp_path):
    database = Database(tmp_path / "memory.db")
    reading = ReadOnlyDatabase(tmp_path / "memory.db")
    execute(database.writer, "INSERT INTO meta VALUES ('key', 'one')")
    with reading.reader() as connection:
        assert execute(connection, "SELECT value FROM meta WHERE key = 'key'") == [("one",)]
        execute(database.writer, "UPDATE meta SET value = 'two' WHERE key = 'key'")
        assert execute(connection, "SELECT value FROM meta WHERE key = 'key'") == [("one",)]
        with pytest.raises(StoreUnusable):
            execute(connection, "DELETE FROM meta")
    reading.close()
    # The daemon still runs: its file must not count as closed.
    assert execute(database.writer, "SELECT value FROM meta WHERE key = 'closed'") == [("no",)]
    database.close()


def test_read_only_database_reads_a_closed_file_and_changes_no_byte(tmp_path):
    path = filled(tmp_path / "memory.db")
    before = path.read_bytes()
    reading = ReadOnlyDatabase(path)
    with reading.reader() as connection:
        assert execute(connection, "SELECT count(*) FROM meta WHERE key LIKE 'key %'") == [(300,)]
    reading.close()
    assert path.read_bytes() == before


def test_read_only_database_is_not_made_or_migrated(tmp_path):
    with pytest.raises(StoreUnusable, match="no memory"):
        ReadOnlyDatabase(tmp_path / "none" / "memory.db")
    assert not (tmp_path / "none").exists()
    old = opened(tmp_path / "old.db").path
    connection = apsw.Connection(str(old))
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    with pytest.raises(StoreUnusable, match="older"):
        ReadOnlyDatabase(old)
    new = opened(tmp_path / "new.db").path
    connection = apsw.Connection(str(new))
    connection.execute("PRAGMA user_version = 9999")
    connection.close()
    with pytest.raises(StoreTooNew):
        ReadOnlyDatabase(new)
