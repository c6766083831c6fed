"""What sentences say of the ones before them, in several languages, and what looks alike and says nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.markdown.blocks import parse_note
from ingest.rules.extractor import extract_note


def said(text: str) -> list[tuple[str, str, str, str]]:
    """(from, kind, to, reason) of a note's links."""
    return [
        (link.from_fact.text, link.kind, link.to_fact.text, link.reason)
        for block in extract_note(parse_note(text), note_date=None)
        for link in block.links
    ]


RESULTS = [
    ("The disk of alpha was full.", "For this reason the backup stopped at night."),
    ("The disk of alpha was full.", "Consequently, the backup stopped at night."),
    ("The disk of alpha was full.", "Because of this, the backup stopped at night."),
    ("De schijf van alpha was vol.", "Daardoor stopte de back-up in de nacht."),
    ("De schijf van alpha was vol.", "Hierdoor stopte de back-up in de nacht."),
    ("Die Platte von alpha war voll.", "Deshalb stoppte die Sicherung in der Nacht."),
    ("Die Platte von alpha war voll.", "Aus diesem Grund stoppte die Sicherung."),
    ("Le disque de alpha était plein.", "C'est pourquoi la sauvegarde a été arrêtée."),
    ("Le disque de alpha était plein.", "C’est pourquoi la sauvegarde a été arrêtée."),
    ("Le disque de alpha était plein.", "Par conséquent, la sauvegarde a été arrêtée."),
    ("服务器的磁盘已经写满了。", "因此备份任务在夜里停止了。"),
    ("服务器的磁盘已经写满了。", "结果导致备份任务在夜里停止了。"),
    ("サーバーのディスクが満杯になりました。", "そのため、夜間のバックアップが停止しました。"),
    ("서버의 디스크가 가득 찼습니다.", "그래서 야간 백업이 중단되었습니다."),
]
CAUSES = [
    ("The nightly backup of alpha failed.", "The reason is that the disk was full."),
    ("The nightly backup of alpha failed.", "The root cause was a full disk on alpha."),
    ("The nightly backup of alpha failed.", "Cause: the disk of alpha was full."),
    ("De back-up van alpha is mislukt.", "De oorzaak was een volle schijf op alpha."),
    ("De back-up van alpha is mislukt.", "Oorzaak: de schijf van alpha was vol."),
    ("De back-up van alpha is mislukt.", "Dat kwam doordat de schijf vol was."),
    ("Die Sicherung von alpha ist fehlgeschlagen.", "Der Grund dafür war eine volle Platte."),
    ("Die Sicherung von alpha ist fehlgeschlagen.", "Ursache: die Platte von alpha war voll."),
    ("La sauvegarde de alpha a échoué.", "La cause était un disque plein sur alpha."),
    ("备份任务昨天夜里失败了。", "原因是服务器的磁盘已经写满了。"),
    ("バックアップが失敗しました。", "原因はディスクが満杯になったことです。"),
    ("야간 백업이 실패했습니다.", "원인은 디스크가 가득 찬 것이었습니다."),
]
LATER = [
    ("We moved the database to beta.", "After that, we switched off alpha."),
    ("We moved the database to beta.", "Afterwards we switched off alpha."),
    ("We moved the database to beta.", "Then we switched off alpha."),
    ("We hebben de database naar beta verplaatst.", "Daarna hebben we alpha uitgezet."),
    ("We hebben de database naar beta verplaatst.", "Vervolgens hebben we alpha uitgezet."),
    ("Wir haben die Datenbank auf beta verschoben.", "Danach haben wir alpha abgeschaltet."),
    ("Nous avons déplacé la base sur beta.", "Ensuite, nous avons arrêté alpha."),
    ("我们把数据库搬到了新的服务器。", "然后我们关闭了旧的服务器。"),
    ("データベースを新しいサーバーに移しました。", "その後、古いサーバーを停止しました。"),
    ("데이터베이스를 새 서버로 옮겼습니다.", "그 후 오래된 서버를 껐습니다."),
]
EARLIER = [
    ("We switched off alpha in March.", "Before that, we moved the database to beta."),
    ("In maart hebben we alpha uitgezet.", "Daarvóór hebben we de database verplaatst."),
    ("Im März haben wir alpha abgeschaltet.", "Zuvor haben wir die Datenbank verschoben."),
    ("Nous avons arrêté alpha en mars.", "Auparavant, nous avons déplacé la base."),
    ("我们在三月关闭了旧的服务器。", "在此之前我们搬走了数据库。"),
]


@pytest.mark.parametrize(("before", "after"), RESULTS)
def test_a_result_is_caused_by_what_stands_before_it(before, after):
    assert said(f"{before}\n\n{after}\n") == [(after, "caused_by", before, "says_result")]


@pytest.mark.parametrize(("before", "after"), CAUSES)
def test_what_stands_before_a_cause_is_caused_by_it(before, after):
    assert said(f"{before}\n\n{after}\n") == [(before, "caused_by", after, "says_cause")]


@pytest.mark.parametrize(("before", "after"), LATER)
def test_what_comes_later_points_to_what_was_before(before, after):
    assert said(f"{before}\n\n{after}\n") == [(after, "temporal", before, "says_later")]


@pytest.mark.parametrize(("before", "after"), EARLIER)
def test_what_stands_before_is_later_than_what_was_earlier(before, after):
    assert said(f"{before}\n\n{after}\n") == [(before, "temporal", after, "says_earlier")]


def test_sentences_of_one_paragraph_and_items_of_one_list_are_linked():
    one = "The disk of alpha was full for a week."
    other = "Consequently, the backup of the office stopped."
    expected = [(other, "caused_by", one, "says_result")]
    assert said(f"The office is in Ghent. {one} {other}\n") == expected
    assert said(f"- {one}\n- {other}\n") == expected
    assert said(f"> {one}\n>\n> {other}\n") == expected


def test_what_the_fact_before_took_in_is_no_second_fact():
    assert said("The disk of alpha was full. Therefore the backup stopped.\n") == []


@pytest.mark.parametrize(
    "text",
    [
        # Nothing, a question or a heading stands before it.
        "Consequently, the backup of alpha stopped.\n",
        "Why did the backup of alpha stop?\n\nConsequently, the backup stopped at night.\n",
        "The disk of alpha was full.\n\n## Backup\n\nConsequently, the backup stopped at night.\n",
        # What stands between could be what it means.
        "The disk was full.\n\n```sh\ndf -h\n```\n\nConsequently, the backup stopped at night.\n",
        "The disk was full. Nobody looked at it all week.\n\nConsequently, the backup stopped at night.\n",
        "- The disk of alpha was full.\n  - It has 20 GB of space.\n- Consequently, the backup stopped.\n",
        # Two facts in one sentence.
        "The disk of alpha was full; the memory of beta was full.\n\nConsequently, the backup stopped.\n",
        # It asks, or is to be done.
        "The disk of alpha was full.\n\nBecause of this, did the backup stop?\n",
        "- The disk of alpha was full.\n- [ ] Afterwards, stop the backup of alpha.\n",
        # The cause is not told, or is that of something else.
        "The backup of alpha failed.\n\nThe cause is not known to anyone.\n",
        "The backup of alpha failed.\n\nThe cause is still unclear to us.\n",
        "De back-up van alpha is mislukt.\n\nDe oorzaak is nog onbekend bij ons.\n",
        "备份任务昨天夜里失败了。\n\n原因是未知的，还需要调查。\n",
        "バックアップが失敗しました。\n\n原因は不明で、まだ調査しています。\n",
        "The backup of alpha failed.\n\nThe reason for the new disk is its size.\n",
        "- Status: the ticket was closed.\n- Cause: the disk of alpha was full.\n",
        # Not of time or cause.
        "We use alpha at work.\n\nThen again, beta has more memory.\n",
        "Alpha has two disks.\n\nThen there is the tape drive of beta.\n",
        "Suppose the disk of alpha is full.\n\nThen the backup stops at night.\n",
        "We use React at work.\n\nNext.js renders the pages of the shop.\n",
        "We use alpha at work.\n\nLater versions of alpha have two disks.\n",
        "Alpha heeft twee schijven.\n\nDaarnaast heeft beta een tapedrive.\n",
        "Alpha hat zwei Platten.\n\nDanebenher läuft beta mit einem Bandlaufwerk.\n",
        "我们在公司使用旧的服务器。\n\n因为磁盘很小，所以我们又买了一块。\n",
        "依存関係を固定してください。\n\nその後のアップグレードは手動で行います。\n",
        # What stands below is not so by itself.
        "Never do these:\n\n- Delete the database of alpha.\n- Afterwards, delete the backups of beta.\n",
    ],
)
def test_what_only_looks_alike_makes_no_link(text):
    assert said(text) == []


STEPS = [
    ("## Steps", "Stop the old server.", "Copy the data over."),
    ("Follow these steps:", "Stop the old server.", "Copy the data over."),
    ("## How to move", "Stop the old server.", "Copy the data over."),
    ("Volg deze stappen:", "Zet de oude server uit.", "Kopieer alle data."),
    ("## Werkwijze", "Zet de oude server uit.", "Kopieer alle data."),
    ("Folgende Schritte sind nötig:", "Den alten Server stoppen.", "Alle Daten kopieren."),
    ("## Étapes", "Arrêter le vieux serveur.", "Copier toutes les données."),
    ("## 步骤", "停止旧的服务器。", "复制全部的数据。"),
    ("以下の手順が必要です。", "古いサーバーを停止します。", "すべてのデータをコピーします。"),
    ("## 절차", "오래된 서버를 중지합니다.", "모든 데이터를 복사합니다."),
]


@pytest.mark.parametrize(("above", "one", "other"), STEPS)
@pytest.mark.parametrize("marks", [("1.", "2."), ("1)", "2)"), ("1.", "1.")])
def test_each_step_comes_after_the_one_before_it(above, one, other, marks):
    found = said(f"{above}\n\n{marks[0]} {one}\n{marks[1]} {other}\n")
    assert [(kind, reason) for _, kind, _, reason in found] == [("temporal", "next_step")]
    assert other in found[0][0]
    assert one in found[0][2]


def test_steps_below_a_step_follow_each_other_and_leave_the_outer_list_whole():
    found = said(
        "## Steps\n\n1. Stop the old server:\n   1. Log in as root.\n   2. Run the stop script.\n"
        "2. Copy the data over.\n3. Start the new server.\n"
    )
    assert [(one.rpartition(" › ")[2], other) for one, _, other, _ in found] == [
        ("Stop the old server: Run the stop script.", "Stop the old server: Log in as root."),
        ("Start the new server.", "Copy the data over."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "## Benefits\n\n1. Headers always match.\n2. Columns can be moved.\n",
        "## Steps\n\n- Stop the old server.\n- Copy the data over.\n",
        "## Steps\n\n1. Stop the old server.\n3. Copy the data over.\n",
        "## Steps\n\n1. Stop the old server.\n\nAll is quiet now.\n\n2. Copy the data over.\n",
        "## Steps\n\nThere are two reasons for it:\n\n1. The server is old.\n2. The data is large.\n",
        "Do one of these steps:\n\n1. Stop the old server.\n2. Copy the data over.\n",
        "## Step 2: the parts\n\n1. `SearchBar` takes the input.\n2. `Table` shows the list.\n",
        "## ステップ 2：部品\n\n1. `SearchBar` は入力を受け取る。\n2. `Table` は一覧を表示する。\n",
        "## Steps\n\n1. [ ] Stop the old server.\n2. [ ] Copy the data over.\n",
        "Never take these steps:\n\n1. Stop the old server.\n2. Delete the data.\n",
    ],
)
def test_a_list_that_is_no_course_of_steps_has_no_order_in_time(text):
    assert said(text) == []


@given(
    st.lists(st.sampled_from([x for pair in RESULTS + CAUSES + LATER for x in pair]), max_size=8)
)
def test_a_link_joins_two_facts_of_the_note_that_stand_next_to_each_other(sentences):
    blocks = extract_note(parse_note("\n\n".join(sentences)), note_date=None)
    facts = [
        fact
        for block in blocks
        for passage in block.passages
        for statement in passage.statements
        for fact in statement.facts
    ]
    neighbours = {frozenset((one.text, other.text)) for one, other in pairwise(facts)}
    for link in (link for block in blocks for link in block.links):
        assert frozenset((link.from_fact.text, link.to_fact.text)) in neighbours
