import itertools
import tomllib
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.agreement.relation import Claim, compare, which_is_newer
from recalld.records import DateInterval
from tests.growth import assert_costs_at_most

HALVES = tomllib.loads((Path(__file__).parent / "agreement_cases.toml").read_text("utf-8"))
PAIRS = [
    (half, kind, older, newer)
    for half, languages in HALVES.items()
    for kinds in languages.values()
    for kind, pairs in kinds.items()
    for older, newer in pairs
]
TEXTS = sorted({text for _, _, *pair in PAIRS for text in pair})
LEAST_RIGHT = 0.75


def kind_of(older, newer, **fields):
    return compare(Claim(text=older, **fields), Claim(text=newer, **fields)).kind


def is_right(kind, verdict):
    return verdict == kind or (kind == "paraphrase" and verdict in ("duplicate", "undecided"))


@pytest.mark.parametrize("half", HALVES)
def test_labelled_pairs(half, capsys):
    rows, right = Counter(), Counter()
    merged = []
    for where, kind, older, newer in PAIRS:
        if where == half:
            verdict = kind_of(older, newer)
            rows[kind] += 1
            right[kind] += is_right(kind, verdict)
            if verdict == "duplicate" and kind not in ("duplicate", "paraphrase"):
                merged.append((older, newer))
    with capsys.disabled():
        table = ", ".join(f"{kind} {right[kind]}/{rows[kind]}" for kind in rows)
        print(  # noqa: T201 - the figures are what this test is for
            f"\n{half}: {right.total()}/{rows.total()} right ({table}), {len(merged)} wrong merges"
        )
    assert merged == []
    assert right.total() >= LEAST_RIGHT * rows.total()


def test_labelled_set_is_large_and_in_three_languages():
    assert len(PAIRS) >= 140
    assert all(set(languages) == {"en", "nl", "zh"} for languages in HALVES.values())


def test_no_two_labelled_texts_merge_but_the_duplicates():
    """Every text against every other: look-alikes that nobody thought of."""
    allowed = {frozenset(pair) for _, kind, *pair in PAIRS if kind in ("duplicate", "paraphrase")}
    for at, one in enumerate(TEXTS):
        for other in TEXTS[at + 1 :]:
            if kind_of(one, other) == "duplicate":
                assert frozenset((one, other)) in allowed, (one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use rm -rf /.", "Use rm -rf ."),
        ("Python 3.1 is used.", "Python 3.10 is used."),
        ("It is open?", "It is open."),
        ("Ana likes Turkey.", "Ana likes turkey."),
        ("Call us.", "Call US."),
        ("The temperature is -5 °C.", "The temperature is 5 °C."),
        ("Ana paid 2.500 euro.", "Ana paid 2.5 euro."),
        ("C++ is used.", "C is used."),
        ("C++ is used.", "C# is used."),
        ("x > 5", "x < 5"),
        ("Delete *.py", "Delete .py"),
        ("Meet in 10 m.", "Meet in 10 min."),
        ("The meeting is at 3:00.", "The meeting is at 15:00."),
        ("Ana manages Bo.", "Bo manages Ana."),
        ("Ana may go.", "Ana will go."),
        ("Only Ana has the key.", "Ana has the key."),
        ("The link has 1 Gb/s.", "The link has 1 GB/s."),
        ("The drive has 1 TB.", "The drive has 1000 GB."),
        ("12/10/2026", "10/12/2026"),
        ("Jan de Wit lives in Gent.", "Jan de Boer lives in Gent."),
        ("", "."),
        ("Take vitamin A.", "Take vitamin."),
        ("Hepatitis A is mild.", "Hepatitis is mild."),
        ("Ana flew to LA in May.", "Ana flew to in May."),
        ("Few users log in.", "A few users log in."),
        ("I have little hope.", "I have a little hope."),
        ("Der Mann beißt den Hund.", "Den Mann beißt der Hund."),
        ("Die Leiter ist neu.", "Der Leiter ist neu."),
        ("De punt is scherp.", "Het punt is scherp."),
        ("Le livre est cher.", "La livre est cher."),
        ("Quit vim with :q!", "Quit vim with :q"),
        ("Call user.save!", "Call user.save"),
        ("The number of orders is 5!", "The number of orders is 5."),
        ("Check __name__ first.", "Check name first."),
        ("The code is blue-fish.", "The code is Blue-Fish."),
        ("The password is hunter2X.", "The password is hunter2x."),
        ("Run tar -x now.", "Run tar -X now."),
        ("The pump needs 5 mW.", "The pump needs 5 MW."),
        ("The drug is 5 mg per dose.", "The drug is 5 Mg per dose."),
        ("There are 5 m of cable.", "There are 5 M of cable."),
        ("The area is 10² m.", "The area is 102 m."),
        ("Maße sind wichtig hier.", "Masse sind wichtig hier."),
        ("Eats, shoots and leaves.", "Eats shoots and leaves."),
        ("他来。", "他不来。"),
    ],
)
def test_look_alikes_never_merge(one, other):
    assert kind_of(one, other) != "duplicate"


def test_difference_in_what_is_talked_about_is_no_contradiction():
    for one, other in [
        ("alpha has 64 GB", "beta has 32 GB"),
        ("Jan de Wit lives in Gent.", "Jan de Boer lives in Gent."),
        ("Ana's sister lives in Gent.", "Ana's brother lives in Gent."),
        ("Ana likes tea.", "Ana moved to Lisbon."),
        ("Northwind was founded in 1990.", "Northwind was replaced by Fabrikam."),
    ]:
        assert kind_of(one, other) != "contradicts", (one, other)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The team uses Slack.", "The team switched to Zulip."),
        ("The port is 5432.", "The port changed to 5433."),
        ("We host on Hetzner.", "We migrated to AWS."),
        ("Backups run daily.", "Backups run weekly."),
        ("Het team gebruikt Slack.", "Het team is overgestapt op Zulip."),
        ("Das Team nutzt Slack.", "Das Team ist zu Zulip gewechselt."),
        ("团队使用Slack。", "团队改用Zulip。"),
        ("数据库在db1上运行。", "数据库在db2上运行。"),
        ("备份每天运行。", "备份每周运行。"),
        ("L'équipe utilise Slack.", "L'équipe n'utilise plus Slack."),
        ("Le bureau est à Paris.", "Le bureau a déménagé à Lyon."),
        ("Офис в Москве.", "Офис переехал в Казань."),
        ("المكتب في القاهرة.", "انتقل المكتب إلى دبي."),
        ("チームはSlackを使う。", "チームはもうSlackを使わない。"),
    ],
)
def test_updates_need_not_name_the_former_value(older, newer):
    assert kind_of(older, newer) == "contradicts"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("If there are duplicates, they will be replaced.", "If there is one, it will be replaced by the new."),
        ("The CI runs on Drone.", "The CI moved from Jenkins to Drone."),
        ("I'm here to help.", "Don't worry, I'm here to help."),
        ("The trip takes 1 month.", "The trip takes 30 days."),
        ("The belt moves at 36 km/h.", "The belt moves at 10 m/s."),
        ("The exam is on 3 April 2026.", "The exam is on 03/04/2026."),
    ],
)  # fmt: skip
def test_what_only_looks_like_an_update_is_none(one, other):
    assert kind_of(one, other) != "contradicts"


def test_entities_tell_where_a_lower_case_subject_ends():
    older = Claim(text="billing service listens on 80", entities=("billing service",))
    newer = Claim(text="billing api listens on 80", entities=("billing api",))
    assert compare(older, newer).kind == "independent"


def test_same_words_that_lean_on_other_headings_are_not_merged():
    older = Claim(text="Port is 5432.", heading_path=("alpha",))
    newer = Claim(text="Port is 5432.", heading_path=("beta",))
    assert compare(older, newer).kind == "undecided"
    older = Claim(text="It runs on db1.", heading_path=("alpha",))
    newer = Claim(text="It runs on db2.", heading_path=("beta",))
    assert compare(older, newer).kind == "independent"


def test_same_words_that_stand_alone_are_one_fact_under_any_heading():
    older = Claim(text="The Wi-Fi code is blue-fish.", heading_path=("Home",))
    newer = Claim(text="The Wi-Fi code is blue-fish.", heading_path=("Diary",))
    assert compare(older, newer).kind == "duplicate"


def test_same_words_of_other_days_are_two_events():
    claims = [
        Claim(text="Ana ran a marathon.", happened=DateInterval(first=day, last=day))
        for day in (date(2025, 5, 1), date(2026, 5, 1))
    ]
    assert compare(*claims).kind == "independent"


def test_the_longer_claim_says_more():
    short, long = Claim(text="Ana lives in Ghent."), Claim(text="Ana lives in Ghent with two cats.")
    assert compare(short, long).reason == "newer_says_more"
    assert compare(long, short).reason == "older_says_more"


CLAIMS = st.builds(
    Claim,
    text=st.sampled_from(TEXTS) | st.text(max_size=40),
    heading_path=st.sampled_from([(), ("alpha",), ("beta",)]),
    happened=st.none() | st.dates().map(lambda day: DateInterval(first=day, last=day)),
)


@given(CLAIMS, CLAIMS)
def test_kind_is_the_same_either_way_round(one, other):
    there, back = compare(one, other), compare(other, one)
    assert there.kind == back.kind
    assert 0 <= there.confidence <= 1


@given(st.sampled_from(TEXTS))
def test_text_is_a_duplicate_of_itself(text):
    assert kind_of(text, text) == "duplicate"


@given(st.sampled_from([text for text in TEXTS if any(map(str.isdigit, text))]), st.data())
def test_changed_digit_is_never_a_duplicate(text, data):
    at = data.draw(st.sampled_from([n for n, char in enumerate(text) if char.isdigit()]))
    other = data.draw(st.sampled_from([d for d in "0123456789" if d != text[at]]))
    assert kind_of(text, text[:at] + other + text[at + 1 :]) != "duplicate"


@given(st.sampled_from(TEXTS), st.sampled_from(["not", "niet", "不"]), st.data())
def test_added_denial_is_never_a_duplicate(text, denial, data):
    places = [n for n, char in enumerate(text) if char == " " or not char.isascii()]
    at = data.draw(st.sampled_from([*places, len(text) - 1]))
    assert kind_of(text, f"{text[:at]} {denial} {text[at:]}") != "duplicate"


def on(day):
    return DateInterval(first=day, last=day)


DAY = date(2026, 5, 1)
NEXT = DAY + timedelta(days=1)


@pytest.mark.parametrize(
    ("older", "newer", "sign"),
    [
        ({}, {}, None),
        ({"stated": DAY}, {}, None),
        ({"happened": on(DAY)}, {"stated": NEXT}, None),
        ({"stated": DAY}, {"stated": NEXT}, 1),
        ({"stated": NEXT}, {"stated": DAY}, -1),
        ({"stated": DAY}, {"stated": DAY}, 0),
        ({"stated": NEXT, "happened": on(DAY)}, {"stated": DAY, "happened": on(NEXT)}, 1),
        ({"stated": DAY, "happened": on(DAY)}, {"stated": NEXT, "happened": on(DAY)}, 1),
    ],
)
def test_what_happened_decides_before_what_was_stated(older, newer, sign):
    assert which_is_newer(Claim(text="a", **older), Claim(text="b", **newer)) == sign


def test_day_that_is_disputed_tells_not_which_is_newer():
    older = Claim(text="a", stated=DAY, happened=on(NEXT))
    newer = Claim(text="b", stated=NEXT, happened=on(DAY))
    assert which_is_newer(older, newer) == -1
    assert which_is_newer(older, newer, is_date_at_odds=True) == 1


@pytest.mark.slow
def test_a_claim_is_taken_apart_once_for_all_its_candidates():
    texts = [f"The server in rack {n} runs on db{n} in the big data centre." for n in range(60)]
    runs = itertools.count()

    def compared(*, anew: bool) -> None:
        run = next(runs)
        for one in texts[:12]:
            for at, other in enumerate(texts[12:]):
                mark = f"{run} {at}" if anew else run
                compare(Claim(text=f"{one} {mark}"), Claim(text=f"{other} {run}"))

    assert_costs_at_most(0.7, lambda: compared(anew=False), than=lambda: compared(anew=True))
