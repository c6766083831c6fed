"""A value stays with the label, the noun and the line that it stands with, a preposition with what follows it."""

from __future__ import annotations

import pytest

from retrieval.grounding.clauses import analyse
from retrieval.grounding.pairing import find_mispaired
from retrieval.grounding.verdict import Grounded, ground

MIX = "Mix 200 g flour with 100 g sugar."
PORTS = "Port 80 is HTTP, port 443 is HTTPS."
HOURS = "Open Mon 9-17, Tue 10-18."
FRUIT = "2 red apples and 3 green pears"
MOVE = "We moved from GitLab to GitHub in March 2024."
UP = "The server is up before 9:00 and the job starts after 18:00."
CLOUD = "数据库从阿里云迁移到了腾讯云。"


def is_borne_out(statement, source):
    return isinstance(ground(statement, source=source), Grounded)


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("Mix 100 g flour with 200 g sugar.", MIX),
        ("Mix 70 ml of acid into water.", "Mix 30 ml of acid into 70 ml of water."),
        ("Meng 100 g bloem.", "Meng 200 g bloem met 100 g suiker."),
        ("Port 443 is HTTP.", PORTS),
        ("Open Tue 9-17.", HOURS),
        ("3 apples", FRUIT),
        ("3 red apples", FRUIT),
        ("面粉100克，糖200克。", "面粉200克，糖100克。"),
        ("小麦粉100g、砂糖200g。", "小麦粉200g、砂糖100g。"),
        ("Backup 1 takes 8 minutes.", "Backup 1 takes 5 minutes, backup 2 takes 8 minutes."),
        ("Switch A has 48 ports.", "Switch A has 24 ports and switch B has 48 ports."),
        ("Marco arrives on 3 June.", "Marco leaves on 3 June and arrives on 4 June."),
        ("Server beta uses port 80.", "Server alpha uses port 80 and server beta port 90."),
        ("La pompe tourne à 2 bar.", "Elle tourne à 2 bar, la pompe à 3 bar."),
        ("Three disks failed.", "Two of the three disks failed."),
        ("Drie schijven zijn stuk.", "Twee van de drie schijven zijn stuk."),
        ("Drei Platten sind kaputt.", "Zwei der drei Platten sind kaputt."),
    ],
)
def test_number_stays_with_its_noun(statement, source):
    assert not is_borne_out(statement, source)
    assert is_borne_out(source, source)


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("Anna: coffee", "Anna: tea\nBob: coffee"),
        ("Anna = coffee", "Anna = tea\nBob = coffee"),
        ("Anna - coffee", "Anna - tea\nBob - coffee"),
        ("anna: coffee", "anna: tea\nbob: coffee"),
        ("Anna: coffee", "- Anna: tea\n- Bob: coffee"),
        ("Bohrer 5 mm: unten", "Bohrer 5 mm: oben\nBohrer 8 mm: unten"),
        ("Anna: Kaffee", "Anna: Tee, Bernd: Kaffee"),
        ("host1: 10.0.0.2", "host1: 10.0.0.1\nhost2: 10.0.0.2"),
        ("安娜：咖啡", "安娜：茶\n波波：咖啡"),
        ("Ana (Rome)", "Ana (Paris), Bo (Rome)"),
        ("Ana (Rome), Bo (Paris)", "Ana (Paris), Bo (Rome)"),
    ],
)
def test_value_stays_with_its_label(statement, source):
    assert not is_borne_out(statement, source)
    assert is_borne_out(source, source)


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("We moved to GitLab in March 2024.", MOVE),
        ("Wij zijn naar GitLab verhuisd.", "Wij zijn van GitLab naar GitHub verhuisd."),
        ("Wir sind zu GitLab gewechselt.", "Wir sind von GitLab zu GitHub gewechselt."),
        ("Die Pumpe kam nach Halle 2.", "Die Pumpe kam von Halle 2 nach Halle 4."),
        ("数据库迁移到了阿里云。", CLOUD),
        ("Latency rose from 80 ms to 20 ms.", "Latency rose from 20 ms to 80 ms."),
        ("The server is up after 9:00.", UP),
        ("De server is na 9:00 aan.", "De server is voor 9:00 aan en de taak start na 18:00."),
        ("Savings grew by 5,400 euro.", "Savings grew by 200 euro to 5,400 euro."),
        ("Rent rose 900 euro.", "Rent rose 5 % to 900 euro."),
    ],
)
def test_preposition_stays_with_what_follows_it(statement, source):
    assert not is_borne_out(statement, source)


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("Mix 100 g sugar with 200 g flour.", MIX),
        ("Port 443 is HTTPS.", PORTS),
        ("Open Tue 10-18.", HOURS),
        ("2 apples", FRUIT),
        ("The server has 2 disks.", "Server 3 has 2 disks."),
        ("Latency rose to 80 ms from 20 ms.", "Latency rose from 20 ms to 80 ms."),
        ("Bob: coffee", "Anna: tea\nBob: coffee"),
        ("Bo (Rome)", "Ana (Paris), Bo (Rome)"),
        ("In March 2024 we moved to GitHub from GitLab.", MOVE),
        ("数据库迁移到了腾讯云。", CLOUD),
        ("The job starts after 18:00.", UP),
        ("Two disks failed.", "Two of the three disks failed."),
        ("Kyoto: 4 nights", "Osaka: 3 nights, Kyoto: 4 nights."),
        ("Coffee costs 3 euro.", "Tea costs 2 euro and coffee 3 euro."),
        ("The pump doses 8 ml of water.", "The pump doses 5 ml of oil and 8 ml of water."),
        ("Raum A fasst 6 Personen.", "Raum A fasst 6, Raum B 12 Personen."),
        ("会議室Aは6人まで入れます。", "会議室Aは6人、会議室Bは12人まで入れます。"),
        ("Die Pumpe kam nach Halle 4.", "Die Pumpe kam von Halle 2 nach Halle 4."),
        ("The rent is 950 euro from May on.", "Rent: 900 euro, 950 euro from May on."),
        (
            "The car was sold in 2021 for 3000 euro.",
            "The car was bought in 2019 for 5000 euro, and sold in 2021 for 3000 euro.",
        ),
    ],
)
def test_what_keeps_its_neighbours_may_be_told_apart(statement, source):
    assert is_borne_out(statement, source)


def test_what_was_exchanged_is_named():
    said, source = analyse("Mix 100 g flour.", "en"), analyse(MIX)
    refused = find_mispaired(said.clauses[0], source.clauses, said, source)
    assert refused is not None
    assert (refused.reason, refused.detail) == ("number", "flour")
