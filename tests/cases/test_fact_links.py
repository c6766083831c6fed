"""Links that notes say, as a client of the daemon sees them: there with the note, gone with it, in any language."""

from __future__ import annotations

import pytest

from tests.fakes import WordEmbedder
from tests.running import RunningDaemon


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The disk of `alpha` was full.", "Because of this, the backup stopped in March."),
        ("De schijf van `alpha` was vol.", "Daardoor stopte de back-up in maart."),
        ("Die Platte von `alpha` war voll.", "Deshalb stoppte die Sicherung im März."),
        ("旧服务器的磁盘已经写满了。", "因此备份任务在三月停止了。"),
        ("古いサーバーのディスクが満杯でした。", "そのため、三月にバックアップが停止しました。"),
    ],
)
def test_cause_is_shown_with_either_fact_and_goes_with_its_note(tmp_path, before, after):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write("stays.md", f"{before}\n")
        nothing = daemon.settle()["counts"]["links"]
        daemon.write("a.md", f"{before}\n\n{after}\n")
        assert daemon.settle()["counts"]["links"] == nothing + 1
        uids = dict(daemon.rows("SELECT text, uid FROM fact"))
        for text, other in ((before, after), (after, before)):
            (link,) = daemon.call("get", anchor=f"fact:{uids[text][:8]}")["fact_links"]
            assert link == {
                "type": "caused_by",
                "from": f"fact:{uids[after][:8]}",
                "to": f"fact:{uids[before][:8]}",
                "reason": "says_result",
                "origin": "rule",
                "text": other,
            }
            drawn = daemon.call("related", anchor=f"fact:{uids[text][:8]}")["links"]
            assert [link["because"] for link in drawn if link["type"] == "caused_by"] == [
                "says_result"
            ]
        (daemon.vault / "a.md").unlink()
        assert daemon.settle()["counts"]["links"] == nothing
        assert daemon.call("get", anchor=f"fact:{uids[before][:8]}")["fact_links"] == []
