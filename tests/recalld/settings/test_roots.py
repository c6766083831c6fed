"""Which folders are roots, and what a path stands for."""

from pathlib import Path

from recalld.settings.loading import Loaded
from tests.recalld.settings.reading import load, mistakes


def roots_of(loaded: Loaded) -> list[tuple[str, str]]:
    return [(root.name, str(root.path)) for root in loaded.settings.roots]


def test_roots_are_paths_or_tables_with_home_and_variables_replaced(tmp_path):
    text = 'roots = ["~/notes", { name = "werk", path = "$WORK/笔记" }, "/srv/a/../b/"]'
    loaded = load(text, tmp_path=tmp_path, env={"WORK": "/srv/werk"})
    assert roots_of(loaded) == [
        ("notes", "/home/ana/notes"),
        ("werk", "/srv/werk/笔记"),
        ("b", "/srv/b"),
    ]


def test_relative_path_counts_from_the_file_that_holds_it(tmp_path):
    loaded = load('roots = ["notes"]\ndata_dir = "../data"', tmp_path=tmp_path)
    assert loaded.settings.roots[0].path == tmp_path / "notes"
    assert loaded.settings.data_dir == tmp_path.parent / "data"


def test_root_that_is_not_there_yet_is_no_mistake(tmp_path):
    assert roots_of(load(f'roots = ["{tmp_path}/not-mounted"]', tmp_path=tmp_path))


def test_folders_on_the_command_line_add_to_those_in_the_file(tmp_path):
    loaded = load('roots = ["/srv/a"]', tmp_path=tmp_path, flags={"roots": (Path("/srv/b"),)})
    assert roots_of(loaded) == [("a", "/srv/a"), ("b", "/srv/b")]
    assert loaded.origins["roots"] == "file + flag"
    assert load(flags={"roots": ["/srv/b"]}).origins["roots"] == "flag"
    assert load(flags={"roots": ()}).origins["roots"] == "default"


def test_folder_on_the_command_line_that_is_set_already_is_one_root(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    flags = {"roots": [f"{tmp_path}/link"]}
    loaded = load(f'roots = ["{tmp_path}/a"]', tmp_path=tmp_path, flags=flags)
    assert roots_of(loaded) == [("a", f"{tmp_path}/a")]


def test_roots_in_the_environment_replace_those_of_the_file(tmp_path):
    env = {"RECALLD_ROOTS": "/srv/b:~/c"}
    loaded = load('roots = ["/srv/a"]', tmp_path=tmp_path, env=env)
    assert roots_of(loaded) == [("b", "/srv/b"), ("c", "/home/ana/c")]


def test_dollar_in_a_path_from_the_shell_is_kept():
    for written in (Path("/srv/$a"), "/srv/$a"):
        assert load(flags={"roots": [written]}).settings.roots[0].path == Path("/srv/$a")


def test_equal_names_are_refused_with_the_way_out(tmp_path):
    told = mistakes('roots = ["/a/notes", "/b/notes"]', tmp_path=tmp_path)
    assert len(told) == 1
    assert 'both named "notes"' in told[0]
    assert '{ name = "…", path = "/b/notes" }' in told[0]


def test_nested_roots_are_refused_in_either_order(tmp_path):
    for text in ('roots = ["/a", "/a/b"]', 'roots = ["/a/b", "/a"]'):
        told = mistakes(text, tmp_path=tmp_path)
        assert len(told) == 1
        assert told[0].startswith("roots: /a/b lies inside /a ")


def test_neighbours_with_a_common_beginning_are_not_nested(tmp_path):
    assert len(load('roots = ["/a/note", "/a/notes"]', tmp_path=tmp_path).settings.roots) == 2


def test_roots_that_overlap_through_a_symlink_are_refused(tmp_path):
    (tmp_path / "vault" / "work").mkdir(parents=True)
    (tmp_path / "elsewhere").symlink_to(tmp_path / "vault" / "work")
    (tmp_path / "same").symlink_to(tmp_path / "vault")
    told = mistakes(f'roots = ["{tmp_path}/vault", "{tmp_path}/elsewhere"]', tmp_path=tmp_path)
    assert f"{tmp_path}/elsewhere lies inside {tmp_path}/vault" in told[0]
    told = mistakes(f'roots = ["{tmp_path}/vault", "{tmp_path}/same"]', tmp_path=tmp_path)
    assert "are the same folder" in told[0]


def test_root_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "note.md").write_text("hello")
    told = mistakes(f'roots = ["{tmp_path}/note.md"]', tmp_path=tmp_path)
    assert "is a file; a root must be a folder" in told[0]
