import pytest

from ingest.agreement.changing import change_between
from ingest.agreement.claims import take_apart


def between(one, other):
    return change_between(take_apart(one, ()), take_apart(other, ()))


@pytest.mark.parametrize(
    ("past", "present", "change"),
    [
        ("The CI runs on Jenkins.", "The CI moved to GitHub Actions.", "moved"),
        ("The team uses Slack.", "The team switched to Zulip.", "replaced"),
        ("We gebruiken Jenkins.", "Jenkins is vervangen door Woodpecker.", "replaced"),
        ("The CI runs on Drone.", "The CI moved from Jenkins to Drone.", "open"),
        ("The team uses Slack.", "The team switched to a week of four days.", "open"),
        ("The team uses Slack.", "The team likes Slack.", None),
        ("Bo may use Slack.", "Bo may have switched to Zulip.", None),
    ],
)
def test_what_is_told_to_have_changed(past, present, change):
    assert between(past, present) == change
    assert between(present, past) == change


def test_what_its_reader_is_asked_to_change_has_not_changed():
    assert between("`port` が 80 です。", "`port` を 90 に変更してください。") is None
