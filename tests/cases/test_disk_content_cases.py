"""The cases of what a file is rather than says: its name, its size, its encoding."""

from __future__ import annotations

import base64
import json
import os
import random
import resource
import threading
import unicodedata
from pathlib import Path

import pytest

from tests.cases.test_disk_cases import embedded, first, indexed, names, proven, root_of
from tests.fakes import WordEmbedder
from tests.running import RunningDaemon
from tests.waiting import DEADLINE_S

pytestmark = pytest.mark.slow

_COMPOSED = unicodedata.normalize("NFC", "Café")
_DECOMPOSED = unicodedata.normalize("NFD", "Café")
_ODD = (
    "two\nlines.md",
    'it\'s "quoted".md',
    "# hash.md",
    "[bracket].md",
    "100%25.md",
    "-rf.md",
    "back\\slash.md",
    " space .md",
    "?query&x=1.md",
    "日本語のメモ.md",
    "ملاحظة.md",
    "😀" * 63 + ".md",
)


def test_every_file_name_is_indexed_or_listed_as_skipped(tmp_path: Path) -> None:
    """Case 17."""
    embedder = WordEmbedder()
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        for number, name in enumerate(_ODD):
            assert len(name.encode()) <= 255
            daemon.write(name, f"Parcel {number} came from Reykjavik number{number}.")
        undecodable = os.fsencode(daemon.vault) + b"/\xff.md"
        Path(os.fsdecode(undecodable)).write_text("The unreadable name hides a walrus.")
        folder = os.fsdecode(os.fsencode(daemon.vault) + b"/\xe9t\xe9")
        Path(folder).mkdir()
        (Path(folder) / "in.md").write_text("The folder hides a seal.")
        status = proven(daemon, notes=set(_ODD))
        json.dumps(status, ensure_ascii=False).encode("utf-8")
        assert names(root_of(status)["skipped"]) == {
            "\\xff.md": "undecodable_name",
            "\\xe9t\\xe9": "undecodable_name",
        }
        for number, name in enumerate(_ODD):
            hit = daemon.recall(f"number{number}")[0]
            assert hit["source"]["path"] == name
            opened = daemon.call("get", anchor=hit["anchor"])
            assert name in json.dumps(opened, ensure_ascii=False).encode("utf-8").decode() or (
                json.dumps(name, ensure_ascii=False)[1:-1] in json.dumps(opened, ensure_ascii=False)
            )
        assert daemon.texts("walrus") == []
        # The watch lives on: each odd name is heard of, and so is a plain one.
        Path(os.fsdecode(undecodable)).write_text("The unreadable name hides two walruses.")
        before = embedded(embedder)
        for number, name in enumerate(_ODD):
            daemon.write(name, f"Parcel {number} went to Montevideo gate{number}.")
        daemon.write("plain.md", "The penguin waddles.")
        daemon.wait_until(lambda: first(daemon, "penguin waddles") == "The penguin waddles.")
        for number, name in enumerate(_ODD):
            daemon.wait_until(
                lambda number=number: (first(daemon, f"gate{number}") or "").endswith(
                    f"gate{number}."
                )
            )
            assert daemon.recall(f"gate{number}")[0]["source"]["path"] == name
        proven(daemon, notes={*_ODD, "plain.md"})
        # A folder of such a name with everything in it, moved: known words, no model.
        before = embedded(embedder)
        (daemon.vault / "# [x] %2F 'y'").mkdir()
        for name in _ODD:
            (daemon.vault / name).rename(daemon.vault / "# [x] %2F 'y'" / name)
        proven(daemon, notes={*(f"# [x] %2F 'y'/{name}" for name in _ODD), "plain.md"})
        assert embedded(embedder) == before


@pytest.mark.parametrize("written", [_COMPOSED, _DECOMPOSED], ids=["composed", "decomposed"])
def test_link_finds_an_accented_note_in_either_form(tmp_path: Path, written: str) -> None:
    """Case 17."""
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write(f"{written}.md", "The espresso machine is from Trieste.")
        daemon.write("links.md", f"See [[{_COMPOSED}]].\n\nSee [[{_DECOMPOSED}]].\n")
        proven(daemon)
        found = daemon.rows("SELECT path FROM note_link JOIN note ON note.id = to_note")
        assert found == [(f"{written}.md",)] * 2


def test_two_forms_of_one_name_are_two_files_and_an_ambiguous_link(tmp_path: Path) -> None:
    """Case 17: both exist on the disk, so neither may swallow the other."""
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write(f"{_COMPOSED}.md", "The espresso machine is from Trieste.")
        daemon.write(f"{_DECOMPOSED}.md", "The grinder is from Bergamo.")
        daemon.write("links.md", f"See [[{_COMPOSED}]].")
        proven(daemon, notes={f"{_COMPOSED}.md", f"{_DECOMPOSED}.md", "links.md"})
        assert first(daemon, "grinder Bergamo") == "The grinder is from Bergamo."
        assert first(daemon, "espresso machine") == "The espresso machine is from Trieste."
        ((path, ambiguous),) = daemon.rows(
            "SELECT path, ambiguous FROM note_link JOIN note ON note.id = to_note"
        )
        assert path in (f"{_COMPOSED}.md", f"{_DECOMPOSED}.md")
        assert ambiguous == 1


def test_huge_file_is_left_out_aloud_and_delays_no_other(tmp_path: Path) -> None:
    """Case 18: 60 MB is over the limit; its size alone is looked at."""
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        proven(daemon)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        huge = daemon.vault / "huge.md"
        with huge.open("w") as file:
            for _ in range(60):
                file.write("The llama chews on hay. " * 43_690)
        daemon.write("small.md", "The alpaca spits.")
        status = proven(daemon, notes={"small.md"})
        told = names(root_of(status)["unreadable"])
        assert list(told) == ["huge.md"]
        assert str(huge.stat().st_size) in told["huge.md"]
        assert "10000000" in told["huge.md"]
        assert first(daemon, "alpaca spits") == "The alpaca spits."
        assert daemon.texts("llama hay") == []
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 30_000
        # Cut down to a sensible size, it is read.
        huge.write_text("The llama chews on hay.")
        status = proven(daemon)
        assert root_of(status)["unreadable"] == []
        assert first(daemon, "llama hay") == "The llama chews on hay."


def test_note_that_grows_too_large_keeps_its_facts(tmp_path: Path) -> None:
    """Case 18: over a restart too, and until it is gone."""
    settings = {"ingest.max_note_bytes": 20_000}
    daemon = RunningDaemon(tmp_path, embedder=WordEmbedder(), settings=settings)
    with daemon:
        daemon.write("a.md", "The llama chews on hay.")
        proven(daemon)
        daemon.write("a.md", "The llama chews on straw.\n" * 1000)
        for _ in range(2):
            status = proven(daemon)
            assert list(names(root_of(status)["unreadable"])) == ["a.md"]
            assert first(daemon, "llama chews") == "The llama chews on hay."
    with daemon:
        status = proven(daemon)
        assert list(names(root_of(status)["unreadable"])) == ["a.md"]
        (daemon.vault / "a.md").unlink()
        status = proven(daemon, notes=set())
        assert root_of(status)["unreadable"] == []
        assert daemon.texts("llama chews") == []


def test_last_line_of_a_long_note_is_found(tmp_path: Path) -> None:
    """Case 18: 200 KB."""
    words = random.Random(18)
    lines = [
        f"Entry number {number}: the {words.choice(['red', 'green', 'blue', 'grey'])} lamp hums, and {words.randbytes(25).hex()} is its mark."
        for number in range(2_000)
    ]
    text = "\n\n".join([*lines, "The vault code name is Zephyr."])
    assert len(text) > 190_000
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write("long.md", text + "\n")
        # Not until its facts are compared with one another too, which takes longest.
        daemon.wait_for(lambda status: status["counts"]["notes"] == 1)
        daemon.wait_for(lambda status: not status["queue"]["embed"])
        hit = daemon.recall("vault code name Zephyr")[0]
        assert hit["text"] == "The vault code name is Zephyr."
        assert hit["source"]["lines"] == [4_001, 4_001]


def test_one_line_of_three_megabytes_is_taken_in_whole_and_last(tmp_path: Path) -> None:
    """Case 18: and what is small is found long before it."""
    middle = "The gorilla juggles pineapples."
    half = " ".join(f"lorem{number % 997} ipsum" for number in range(100_000)) + ". "
    daemon = RunningDaemon(tmp_path, embedder=None)
    daemon.write("big.md", f"{half}{middle} {half}The final word is quicksilver.")
    for number in range(20):
        daemon.write(f"{number}.md", f"Parcel {number} weighs {number} grams.")
    with daemon:
        daemon.wait_until(lambda: "19.md" in indexed(daemon))
        assert "big.md" not in indexed(daemon)
        daemon.wait_until(lambda: "big.md" in indexed(daemon), 5 * DEADLINE_S)
        assert middle in (first(daemon, "gorilla juggles pineapples") or "")
        assert "quicksilver" in (first(daemon, "final word quicksilver") or "")


def test_base64_image_is_not_indexed_and_the_text_beside_it_is(tmp_path: Path) -> None:
    """Case 18: a data address of 1 MB."""
    image = base64.b64encode(random.Random(1).randbytes(750_000)).decode()
    embedder = WordEmbedder()
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        daemon.write(
            "image.md",
            f"The sketch shows a lighthouse.\n\n![sketch](data:image/png;base64,{image})\n\n"
            f"Inline ![x](data:image/png;base64,{image[:50_000]}) stands the windmill.\n\n"
            f"[ref]: data:image/png;base64,{image[:50_000]}\n",
        )
        proven(daemon)
        assert first(daemon, "sketch lighthouse") == "The sketch shows a lighthouse."
        assert "windmill" in (first(daemon, "windmill") or "")
        for start in (0, 40_000, 500_000):
            piece = image[start : start + 24]
            for table in ("block", "passage", "statement", "fact"):
                found = daemon.rows(f"SELECT id FROM {table} WHERE instr(text, ?)", piece)
                assert found == [], table
            assert not any(piece in text for text in embedder.statements)
        ((total,),) = daemon.rows("SELECT sum(length(text)) FROM passage")
        assert total < 1_000


def test_notes_in_other_encodings_are_read_or_flagged_and_stop_nobody(tmp_path: Path) -> None:
    """Case 19."""
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write("latin1.md", b"The caf\xe9 opens at nine.")
        daemon.write("utf16.md", "The tram depot closes at midnight: Straßenbahn.".encode("utf-16"))
        daemon.write("utf16be.md", b"\xfe\xff" + "Das Depot schläft.".encode("utf-16-be"))
        daemon.write("bom.md", "\ufeffThe ferry leaves at seven.".encode())
        daemon.write(
            "mixed.md", "Das Gebäude öffnet früh. Kaf".encode() + b"\xe9 kostet zwei Euro."
        )
        daemon.write("sjis.md", "東京の会議は月曜日にあります。".encode("cp932"))
        daemon.write(
            "cyrillic.md", "Совещание по бюджету состоится в понедельник.".encode("cp1251")
        )
        daemon.write("ok.md", "The kettle whistles at noon.")
        status = proven(daemon)
        assert first(daemon, "kettle whistles") == "The kettle whistles at noon."
        assert first(daemon, "café opens") == "The café opens at nine."
        assert "Straßenbahn" in (first(daemon, "tram depot midnight") or "")
        assert first(daemon, "Depot schläft") == "Das Depot schläft."
        assert first(daemon, "ferry seven") == "The ferry leaves at seven."
        assert "Gebäude öffnet früh" in (first(daemon, "Gebäude öffnet") or "")
        assert "会議" in (first(daemon, "東京 会議") or "")
        assert "бюджету" in (first(daemon, "совещание бюджету") or "")
        kinds = {one["path"]: one["kind"] for one in root_of(status)["problems"]}
        assert kinds == {
            "latin1.md": "encoding.guessed",
            "sjis.md": "encoding.guessed",
            "cyrillic.md": "encoding.guessed",
            "mixed.md": "encoding.replaced",
        }
        assert root_of(status)["unreadable"] == []
        ((mixed,),) = daemon.rows(
            "SELECT group_concat(passage.text) FROM passage JOIN note ON note.id = note_id"
            " WHERE path = 'mixed.md'"
        )
        assert mixed.count("\ufffd") == 1


def test_facts_stay_when_a_note_becomes_undecodable(tmp_path: Path) -> None:
    """Case 19: it is named as unreadable, over a restart, until it is text again."""
    embedder = WordEmbedder()
    daemon = RunningDaemon(tmp_path, embedder=embedder)
    broken = (b"\0" * 4096, bytes(range(256)) * 16)
    with daemon:
        for number in range(len(broken)):
            daemon.write(f"{number}.md", f"The walrus number{number} naps on the ice.")
        daemon.write("ok.md", "The kettle whistles at noon.")
        proven(daemon)
        before = embedded(embedder)
        for number, data in enumerate(broken):
            daemon.write(f"{number}.md", data)
        status = proven(daemon)
        assert list(names(root_of(status)["unreadable"])) == ["0.md", "1.md"]
        daemon.write("ok.md", "The kettle whistles at one.")
        daemon.wait_until(lambda: first(daemon, "kettle whistles") == "The kettle whistles at one.")
    with daemon:
        status = proven(daemon)
        assert list(names(root_of(status)["unreadable"])) == ["0.md", "1.md"]
        for number in range(len(broken)):
            assert f"number{number}" in (first(daemon, f"walrus number{number}") or "")
            daemon.write(f"{number}.md", f"The walrus number{number} naps on the ice.")
        status = proven(daemon)
        assert root_of(status)["unreadable"] == []
        assert embedded(embedder) == [*before, "The kettle whistles at one."]


def test_pipe_with_a_note_s_name_blocks_nobody(tmp_path: Path) -> None:
    """Case 17: what is no file is listed; opening it would wait for ever."""
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        os.mkfifo(daemon.vault / "pipe.md")
        daemon.write("ok.md", "The kettle whistles at noon.")
        status = proven(daemon, notes={"ok.md"})
        assert names(root_of(status)["skipped"]) == {"pipe.md": "not_regular"}
        assert threading.active_count() < 40
