from __future__ import annotations

from datetime import date

import pytest

from ingest.rules.facts import (
    NoteContext,
    content_words,
    find_facts,
    split_compound,
    states_something,
)
from ingest.rules.passages import split_block
from recalld.records import Block, BlockKind, Category, DateInterval, ExtractedFact, Lines

CONTEXT = NoteContext(note_date=date(2026, 3, 10), names=frozenset({"Postgres", "Nomad"}))


def facts(
    text: str, kind: BlockKind = BlockKind.PARAGRAPH, *, lead_in: str = ""
) -> list[ExtractedFact]:
    block = Block(kind=kind, lines=Lines(first=1, last=1), raw=text, text=text)
    return [
        fact
        for passage in split_block(block)
        for draft in passage.statements
        for fact in find_facts(draft, CONTEXT, lead_in=lead_in)
    ]


def texts(text: str, kind: BlockKind = BlockKind.PARAGRAPH) -> list[str]:
    return [fact.text for fact in facts(text, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "Which port does the server use?",
        "服务器用哪个端口？",
        "これは本ですか。",
        "How do I restart it",
        "TODO: write the section on backups.",
        "Πότε έφυγε ο Γιάννης από το γραφείο;",
        "\\begin{align*}\nE = mc^2 + a\n\\end{align*}",
        "Te doen: de backups beschrijven.",
        "やること：バックアップの節を書く。",
        "Set the following environment variables:",
        "请设置以下变量：",
        "Hi there, thanks!",
        "Sure!",
        "`Math.random()`",
        "https://example.org/a/b",
        "See the manual for more details.",
        "Here is what that looks like in practice.",
        "[Create An Index Without Locking](a.md)",
        "[[Some other note]]",
        "查看类型增强指南了解更多细节。",
        "更多细节参考：为自定义全局指令添加类型",
        "詳細はワーキンググループの投稿をお読みいただけます。",
        "자세한 내용은 설치 안내서에 있습니다.",
        '!!! example "Blurring as a service"',
        ":::tip 插件支持",
        "{{title}} {{date}}",
        "Lorem ipsum.",
    ],
)
def test_what_states_nothing_is_no_fact(text):
    assert texts(text + "\n") == []


def test_a_sentence_is_a_fact_as_written():
    assert texts("The backup of the laptop runs every **Sunday** night.\n") == [
        "The backup of the laptop runs every Sunday night."
    ]


def test_address_of_a_link_is_no_fact_whatever_its_title_says():
    assert texts('[ref]: https://x.org/y "The title of the story"\n', BlockKind.DEFINITION) == []


def test_open_tasks_are_no_facts_and_closed_ones_keep_their_mark():
    text = "- [x] pay rent\n- [ ] call Bo about the boat\n- [-] cancelled the gym\n- [/] paint the fence\n"
    assert texts(text, BlockKind.LIST_ITEM) == ["[x] pay rent", "[-] cancelled the gym"]


@pytest.mark.parametrize("mark", list('!i*"pcblISnfkwud1'))
def test_a_box_that_marks_a_remark_is_no_task(mark):
    text = f"- [{mark}] the gas valve leaks\n  - it is the old one of 1932\n"
    assert texts(text, BlockKind.LIST_ITEM) == [
        "the gas valve leaks",
        "the gas valve leaks › it is the old one of 1932",
    ]


@pytest.mark.parametrize("mark", list(" /><?~o"))
def test_a_box_that_marks_what_is_open_states_nothing(mark):
    assert texts(f"- [{mark}] the gas valve leaks\n", BlockKind.LIST_ITEM) == []


@pytest.mark.parametrize(
    "text",
    [
        "hi there is a new fact",
        "Hi there the pump is broken",
        "hello the server is down",
        "hallo de server is kapot",
        "Hallo die Pumpe ist kaputt",
        "bonjour la pompe est vieille",
    ],
)
def test_a_statement_behind_a_greeting_is_a_fact(text):
    assert texts(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "hi there",
        "Hi there, thanks for the help!",
        "Good morning all",
        "hello how are you",
        "Sure I can help you",
        "Thanks for the fix",
        "hi the",
        "Great, that is nice",
        "danke das ist nett",
        "hallo de Jan",
    ],
)
def test_a_greeting_states_nothing(text):
    assert texts(text) == []


def test_a_time_is_no_category():
    (fact,) = facts("- 12:30 meeting with Bo\n", BlockKind.LIST_ITEM)
    assert fact.text == "12:30 meeting with Bo"
    assert fact.happened is None


def test_a_question_beside_a_statement_is_left_out():
    assert texts("Which port? The server listens on port 5432.\n") == [
        "The server listens on port 5432."
    ]


def test_a_scrap_stays_with_its_statement():
    assert texts("Great! The server listens on port 5432.\n") == [
        "Great! The server listens on port 5432."
    ]


def test_table_cells_are_told_by_row_and_column():
    found = facts(
        "| host | port | note |\n|---|---|---|\n| db1 | 5432 | |\n| db2 | ? | x |\n",
        BlockKind.TABLE,
    )
    assert [fact.text for fact in found] == ["db1 – port: 5432", "db2 – note: x"]
    assert found[0].relations[0].predicate == "port"
    assert not found[0].stands_alone


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "The server Quorlax is a Dell and stands in Utrecht. It has these ports:",
            ["The server Quorlax is a Dell and stands in Utrecht."],
        ),
        ("De ketel staat op zolder. Hij heeft drie standen:", ["De ketel staat op zolder."]),
        ("服务器在北京的机房。它的端口如下：", ["服务器在北京的机房。"]),
        (
            "The lathe is painted green and weighs 300 kg. It was moved? Nobody knows.",
            [
                "The lathe is painted green and weighs 300 kg.",
                "It was moved? Nobody knows.",
            ],
        ),
        (
            "Where is the spare bicycle key? Under the blue flower pot by the door.",
            ["Where is the spare bicycle key? Under the blue flower pot by the door."],
        ),
        ("Is db1 still alive? No, it died in May.", ["Is db1 still alive? No, it died in May."]),
        ("Who has the key of the shed? Ann", ["Who has the key of the shed? Ann"]),
        ("Q: What is the port?\nA: 5432.", ["Q: What is the port? A: 5432."]),
        ("备用钥匙在哪里？在蓝色花盆下面。", ["备用钥匙在哪里？在蓝色花盆下面。"]),
        (
            "Can you help? My server runs on port 5432 since the last update of May.",
            ["My server runs on port 5432 since the last update of May."],
        ),
        ("Where is the key? Who has it?", []),
        (
            "Have you seen the new dock of Ana? It holds three disks and a card reader.",
            ["Have you seen the new dock of Ana? It holds three disks and a card reader."],
        ),
        (
            "The line ends with a colon: the next is here.\nThen:",
            ["The line ends with a colon: the next is here."],
        ),
    ],
)
def test_what_announces_or_asks_takes_no_statement_with_it(text, told):
    assert texts(text) == told


def test_a_semicolon_parts_only_whole_sentences():
    assert split_compound("The disk is full; the backup was stopped.") == (
        "The disk is full",
        "the backup was stopped.",
    )
    assert split_compound("We need bread; cheese; wine.") == ("We need bread; cheese; wine.",)
    assert split_compound("Run `a; b` first.") == ("Run `a; b` first.",)
    assert split_compound("服务器在地下室；备份每周运行一次。") == (
        "服务器在地下室",
        "备份每周运行一次。",
    )


@pytest.mark.parametrize(
    "text",
    [
        "Copper conducts electricity better than iron.",
        "Vim also supports relative line numbers.",
        "De maan is ongeveer even oud als de aarde.",
        "Kupfer leitet Strom besser als Eisen.",
        "地球绕着太阳转动一年一次。",
        "React はブラウザで JSX を表示します。",
    ],
)
def test_whole_sentences_stand_alone(text):
    (fact,) = facts(text + "\n")
    assert fact.stands_alone


@pytest.mark.parametrize(
    "text",
    [
        "The port is 5432.",
        "This allows two users at once.",
        "You can do it with the restart command below.",
        "To avoid that, we restart the server.",
        "We want to break it up into parts.",
        "Het werkt alleen met de nieuwe sleutel.",
        "这个函数返回一个新的列表。",
        "Clone A Repo Locally From Disk",
        "ram of 64 GB",
    ],
)
def test_what_needs_its_note_does_not_stand_alone(text):
    assert [fact.stands_alone for fact in facts(text + "\n")] == [False]


def test_a_list_item_under_a_lead_in_does_not_stand_alone():
    item = "- Copper conducts electricity better than iron.\n"
    assert facts(item, BlockKind.LIST_ITEM)[0].stands_alone
    assert not facts(item, BlockKind.LIST_ITEM, lead_in="Of metals:")[0].stands_alone


@pytest.mark.parametrize(
    ("lead_in", "item"),
    [
        ("Do not do any of these:", "delete the main database"),
        ("Never share the token with:", "interns"),
        ("If the disk is full:", "Delete the old logs."),
        ("We used to run:", "Redis on host alpha"),
        ("Doe dit nooit:", "de ketel zelf openen"),
        ("不要这样做：", "直接安装最新版本。"),
        ("Diese Dienste laufen nicht mehr:", "Postgres auf Host alpha"),
    ],
)
def test_what_a_lead_in_turns_is_never_told_without_it(lead_in, item):
    (fact,) = facts(f"- {item}\n", BlockKind.LIST_ITEM, lead_in=lead_in)
    assert fact.text == f"{lead_in} {item}"
    assert not fact.relations
    assert not fact.stands_alone


def test_a_table_below_a_denying_lead_in_says_so_in_each_cell():
    found = facts(
        "| host | port |\n|---|---|\n| db1 | 5432 |\n",
        BlockKind.TABLE,
        lead_in="These are not open:",
    )
    assert [fact.text for fact in found] == ["These are not open: db1 – port: 5432"]


def test_a_plain_lead_in_stays_beside_its_facts():
    (fact,) = facts("- old bread in a bag\n", BlockKind.LIST_ITEM, lead_in="We keep:")
    assert fact.text == "old bread in a bag"


def test_a_long_parent_is_cut_visibly_and_keeps_what_it_denies():
    long = "The following steps of the yearly migration of our servers to the new rack in Utrecht"
    cut, whole = (
        facts(f"- {long}{end}\n  - disk is copied\n", BlockKind.LIST_ITEM)[-1].text
        for end in (" are listed here for all", " are no good, and must never be done")
    )
    assert cut.endswith("… › disk is copied")
    assert len(cut) < len(long) + 20
    assert "must never be done › disk is copied" in whole


def test_an_item_with_parents_stands_alone():
    found = facts("- Servers\n  - alpha\n    - ram 64 GB\n", BlockKind.LIST_ITEM)
    assert found[-1].text == "Servers › alpha › ram 64 GB"
    assert found[-1].stands_alone


def test_a_fact_knows_what_its_sentence_says():
    (fact,) = facts("On 2 March the import into Postgres failed.\n")
    assert fact.category is Category.ERROR
    assert fact.confidence == 0.8
    assert fact.happened is not None
    assert fact.happened.first == date(2026, 3, 2)
    assert [entity.name for entity in fact.entities] == ["Postgres"]
    (plain,) = facts("Copper conducts electricity better than iron.\n")
    assert plain.confidence == 0.5
    assert plain.category is None


def test_a_link_at_the_edge_of_a_sentence_is_its_own():
    first, second = facts(
        "The old house stood on the hill. [[Bo Lee|Bo]] bought the house on the corner.\n"
    )
    assert first.entities == ()
    assert [entity.name for entity in second.entities] == ["Bo Lee"]


@pytest.mark.parametrize(
    "text", ["[[Plan]]\n", "![[Map.base#Part]] ![[Places.base]]\n", "*[a](b.md)*, [[c|d]].\n"]
)
def test_links_that_are_all_there_is_state_nothing(text):
    assert facts(text) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("![[image.png]] The image shows the pump.", "The image shows the pump."),
        ("The second one runs Arch. ![[note#Part]]", "The second one runs Arch."),
        ("![[image.png]]\nThe image shows the pump.", "The image shows the pump."),
        ("The pump is green and old. [[^blk]]", "The pump is green and old."),
        ("![[图.png|300]]水泵在地下室。", "水泵在地下室。"),
    ],
)
def test_an_embed_is_no_part_of_a_sentence(text, told):
    (fact,) = facts(text)
    assert fact.text == told
    assert "wikilink" not in {entity.kind for entity in fact.entities}


def test_code_and_headings_state_nothing():
    assert facts("```\nThe server listens on port 5432.\n```\n", BlockKind.FENCE) == []
    assert facts("# The server listens on port 5432.\n", BlockKind.HEADING) == []


def test_a_period_of_the_front_matter_is_one_fact_of_all_its_days():
    (fact,) = facts("---\nstart: 2023-09-12\nend: 2023-09-30\n---\n", BlockKind.FRONT_MATTER)
    assert fact.text == "start: 2023-09-12; end: 2023-09-30"
    assert fact.happened == DateInterval(first=date(2023, 9, 12), last=date(2023, 9, 30))
    assert fact.lines == Lines(first=2, last=3)


def test_fields_of_the_front_matter_are_facts():
    assert texts(
        "---\nrating: 8\nauthor: '[[Bo Lee]]'\nmade: '{{date}}'\n---\n", BlockKind.FRONT_MATTER
    ) == [
        "rating: 8",
        "author: Bo Lee",
    ]


def test_dataview_fields_are_a_fact_each():
    text = "rating:: 5\nauthor:: [[Tolkien]]\nThe book [published:: 1954] is long.\nIt is good."
    assert texts(text) == [
        "rating:: 5",
        "author:: Tolkien",
        "The book [published:: 1954] is long. It is good.",
    ]


def test_content_is_counted_in_every_script():
    assert content_words("the of and") == 0
    assert content_words("今天很好") == 2
    assert content_words("port 5432") == 2
    assert not states_something("是的。")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "The cat is black\nThe dog is white\nThe bird is blue",
            [("The cat is black", 1), ("The dog is white", 2), ("The bird is blue", 3)],
        ),
        ("> 猫是黑色的\n> 狗是白色的", [("猫是黑色的", 1), ("狗是白色的", 2)]),
        (
            "The door sticks, and the key is gone<br>\nthe window is clean",
            [("The door sticks, and the key is gone", 1), ("the window is clean", 2)],
        ),
        (
            "- The pump is broken\n  It leaks oil\n  The hose is new",
            [("The pump is broken It leaks oil", 1), ("The hose is new", 3)],
        ),
    ],
)
def test_a_line_that_its_writer_ended_is_a_fact(text, told):
    assert [(fact.text, fact.lines.first) for fact in facts(text, BlockKind.LIST_ITEM)] == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "<details><summary>Inline</summary>The motor has 3 kW.</details>",
            ["The motor has 3 kW."],
        ),
        (
            "<p>The hall is of <b>1932</b>.<br>The pump is of <i>May</i> <code>1933</code>.</p>",
            ["The hall is of 1932.", "The pump is of May 1933."],
        ),
        (
            "<ul><li>The cat is black</li><li>The dog is white</li></ul>",
            ["The cat is black", "The dog is white"],
        ),
        (
            "<table>\n<tr><th>Host</th><th>Port</th><th>OS</th></tr>\n<tr><td>db1</td><td>5<b>4</b>32</td></tr>\n</table>",
            ["db1 – Port: 5432"],
        ),
        ("<table><tr><th>Port</th><td>5432</td></tr></table>", ["Port: 5432"]),
        (
            "<table><tr><td>The cat is black</td><td>The dog is white</td></tr></table>",
            ["The cat is black", "The dog is white"],
        ),
        ("<p>Run <b>&lt;name&gt;</b> &lt; two &amp; more.</p>", ["Run <name> < two & more."]),
        ("<div>\n<h2>Cats</h2>\nThe cat is\nblack\n</div>", ["The cat is black"]),
    ],
)
def test_what_html_parts_is_no_sentence(text, told):
    assert texts(text, BlockKind.HTML) == told


def test_no_word_of_html_on_one_long_line_is_lost():
    sentences = [
        f"The pump of {year} is green and stands in hall {year}." for year in range(1900, 1960)
    ]
    text = "<ul>" + "".join(f"<li>{told}</li>" for told in sentences) + "</ul>"
    assert texts(text, BlockKind.HTML) == sentences


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("The server is ~~alpha~~ beta now.", BlockKind.PARAGRAPH, ["The server is beta now."]),
        ("~~We use Redis for the queue.~~", BlockKind.PARAGRAPH, []),
        ("~~We use Redis for the queue.  \nAnd a mail server too.~~", BlockKind.PARAGRAPH, []),
        ("~~It runs on Nomad.~~ It runs on `k8s`.", BlockKind.PARAGRAPH, ["It runs on `k8s`."]),
        (
            "- <del>[[Bob]]</del> [[Carol]] owns the mail",
            BlockKind.LIST_ITEM,
            ["Carol owns the mail"],
        ),
        ("- ~~alpha~~\n  - uses port 5432", BlockKind.LIST_ITEM, ["~~alpha~~ › uses port 5432"]),
        (
            "| Host | ~~Port~~ | Disk |\n|-|-|-|\n| ~~db1~~ | 1 | 2 TB |\n| db2 | 3 | ~~4 TB~~ 5 TB |",
            BlockKind.TABLE,
            ["db2 – Disk: 5 TB"],
        ),
        ("<p>Ana left. <del>Ana stays with us.</del></p>", BlockKind.HTML, ["Ana left."]),
    ],
)
def test_what_is_struck_out_is_not_said_any_more(text, kind, told):
    found = facts(text, kind)
    assert [fact.text for fact in found] == told
    assert not {"Bob", "Redis"} & {entity.name for fact in found for entity in fact.entities}


def test_what_is_struck_out_is_still_searched():
    text = "~~We use Redis for the queue.~~ We use Postgres."
    block = Block(kind=BlockKind.PARAGRAPH, lines=Lines(first=1, last=1), raw=text, text=text)
    assert [passage.text for passage in split_block(block)] == [text]


def test_the_backslash_of_a_line_break_is_no_word():
    assert texts("The pump makes noise. \\\nThe valve leaks badly.\\\nThe hose is new.") == [
        "The pump makes noise.",
        "The valve leaks badly.",
        "The hose is new.",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "- [ ] buy disks\n  - db1 is full by now\n",
            ["[ ] buy disks › db1 is full by now"],
        ),
        (
            "- [x] buy disks\n  - db1 was full by then\n",
            ["[x] buy disks", "[x] buy disks › db1 was full by then"],
        ),
        (
            "1. Reboot\n\n   > Only at noon on Sundays.\n\n   - check the pump\n",
            ["Only at noon on Sundays.", "Reboot › check the pump"],
        ),
        (
            "- alpha\n  > - uses port 1\n  >   - uses port 2\n",
            ["alpha › uses port 1", "alpha › uses port 1 › uses port 2"],
        ),
        ("> - alpha\n>   - uses port 1\n", ["alpha › uses port 1"]),
    ],
)
def test_what_stands_in_a_list_item_is_said_of_it_as_it_is(text, told):
    assert texts(text, BlockKind.LIST_ITEM) == told


def test_a_comment_of_front_matter_is_no_part_of_its_field():
    text = "---\nport: 5432 # or 5433\nname: 'a # b c'\nissue: see #12 today\ntopic: #ops\nhost: # db1\n---\n"
    assert texts(text, BlockKind.FRONT_MATTER) == [
        "port: 5432",
        "name: a # b c",
        "issue: see #12 today",
        "topic: #ops",
    ]
