import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.masking.redaction import redact
from tests.growth import assert_grows_with_size
from tests.ingest.masking.labelled import LOOK_ALIKES
from tests.ingest.masking.labelled import SECRETS as LABELLED

SECRETS = [
    ("password: hunter2", "password: [redacted]"),
    ("Passwort: geheim123", "Passwort: [redacted]"),
    ("wachtwoord = zonnebloem", "wachtwoord = [redacted]"),
    ("mot de passe : tournesol9", "mot de passe : [redacted]"),
    ("密码：abc123，请保密", "密码：[redacted]，请保密"),
    ("パスワード: himitsu", "パスワード: [redacted]"),
    ("비밀번호: bimil99", "비밀번호: [redacted]"),
    ("รหัสผ่าน: lap123", "รหัสผ่าน: [redacted]"),
    ("**Password:** hunter2", "**Password:** [redacted]"),
    ("| `password`: `hunter2` |", "| `password`: `[redacted]` |"),
    (
        '{"password": "correct horse battery", "user": "bo"}',
        '{"password": "[redacted]", "user": "bo"}',
    ),
    ("password: 'tulip9 closed", "password: '[redacted]"),
    ("password: $ecret1", "password: [redacted]"),
    ("mysql --password hunter22 -u bo", "mysql --password [redacted] -u bo"),
    ("The password is hunter2, ask Bo.", "The password is [redacted], ask Bo."),
    (
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "AWS_SECRET_ACCESS_KEY=[redacted]",
    ),
    ("key AKIAIOSFODNN7EXAMPLE here", "key [redacted] here"),
    ("use ghp_0123456789abcdefghij0123456789abcdef now", "use [redacted] now"),
    ("github_pat_11ABCDEFG0123456789_abcdefghijkl", "[redacted]"),
    ("sk-proj-abcdefghij1234567890", "[redacted]"),
    ("xoxb-123456789012-abcdefghijkl", "[redacted]"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123 expired", "[redacted] expired"),
    ("api_key = 3f9a8b7c6d5e4f3a2b1c", "api_key = [redacted]"),
    ("card 4111 1111 1111 1111.", "card [redacted]."),
    ("5500-0000-0000-0004", "[redacted]"),
    ("378282246310005", "[redacted]"),
    ("postgres://bo:p4ss@db.local/x", "postgres://bo:[redacted]@db.local/x"),
]

HARMLESS = [
    "the password policy is strict",
    "Das Passwort ist geheim und wird nie notiert.",
    "The password is required.",
    "Password: ask the owner of the vault",
    "password: {{vault_password}}",
    "password=$DB_PASSWORD",
    "password = os.environ['DB_PASSWORD']",
    "if password == stored:",
    "user.password = params[:password]",
    "The token is refreshed every hour; key: value",
    "commit d670460b4b4aece5915caf5c68d12f560a9fe3e4",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "on 2026-03-02 at 12:30:15",
    "call +31 20 123 4567 or 020-1234567",
    "4111 1111 1111 1112",
    "+4111111111111111",
    "https://example.org:8080/a@b",
    "task-force-and-risk-based-approach",
    "sk-learn-is-a-library-for-python",
    "ISBN 9783161484100, stamp 1764499322000",
]


@pytest.mark.parametrize(("text", "masked"), SECRETS)
def test_secret_value_is_masked_and_the_words_round_it_stay(text, masked):
    assert redact(text) == (masked, 1)


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_is_left_alone(text):
    assert redact(text) == (text, 0)


def test_private_key_is_masked_whole_and_keeps_its_lines():
    text = "before\n-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEabc\r\nxyz=\n-----END RSA PRIVATE KEY-----\nafter"
    masked, count = redact(text)
    assert count == 1
    assert masked == "before\n[redacted]\n\n\n\r\n\n\nafter"


def test_private_key_without_an_end_is_masked_as_far_as_it_looks_like_one():
    text = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEA==\n\nThe server is alpha."
    masked, count = redact(text)
    assert count == 1
    assert masked == "[redacted]\n\n\n\nThe server is alpha."


def test_few_labelled_secrets_are_left():
    left = [text for text, secret in LABELLED if secret in redact(text)[0]]
    assert len(left) <= len(LABELLED) // 50, left


def test_few_labelled_lines_without_a_secret_are_masked():
    masked = [text for text in LOOK_ALIKES if redact(text)[1]]
    assert len(masked) <= len(LOOK_ALIKES) // 50, masked


def test_labelled_lines_are_as_many_on_both_sides():
    assert len(LABELLED) >= 60
    assert len(LOOK_ALIKES) >= 60


@pytest.mark.parametrize("before", ["", "Notes of today.\n\n", "> ", "- "])
def test_secrets_are_masked_wherever_their_line_stands(before):
    lines = [(t, s) for t, s in LABELLED if "\n" not in t]
    left = [t for t, s in lines if s in redact(f"{before}{t}\n\nMore.\n")[0]]
    assert len(left) <= len(lines) // 50, left


# Pieces that show one another for what they are: a mask, a label, a mark, a key.
PIECES = [
    *(text for text, _ in LABELLED),
    *LOOK_ALIKES,
    *(
        "password",
        "wachtwoord",
        "密码",
        "PIN",
        "token",
        "login",
        ":",
        "=",
        " is ",
        " - ",
        " → ",
        ", ",
        " and ",
    ),
    *(
        "tulip9",
        "hunter2x",
        "4921",
        "[redacted]",
        "[redacted",
        "redacted]",
        "sunflower",
        "| ",
        " |",
        "|---|---|",
    ),
    *(
        "\n",
        "\r\n",
        "\r",
        "\n\n",
        "- ",
        "  - ",
        "> ",
        "# ",
        "```",
        "`",
        "**",
        "(",
        ")",
        '"',
        "'",
        "<b>",
    ),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "ghp_0123456789abcdefghij",
        "\u200b",
        "é",
    ),
]


@given(st.lists(st.sampled_from(PIECES), max_size=14), st.sampled_from(["", " ", "\n"]))
def test_masking_keeps_lines_and_is_done_once(parts, between):
    text = between.join(parts)
    masked, _ = redact(text)
    assert re.findall(r"\r\n|\r|\n", masked) == re.findall(r"\r\n|\r|\n", text)
    assert redact(masked) == (masked, 0)


@given(st.text())
def test_any_text_keeps_its_line_ends(text):
    masked, count = redact(text)
    assert masked.count("\n") == text.count("\n")
    assert (count > 0) == (masked != text)


@pytest.mark.parametrize(
    "piece",
    [
        "password: hunter2x and ",
        "password ",
        "password: a\n",
        "- password\n",
        "|password",
        "| password | x |\n|---|---|\n",
        "curl -u ",
        "://a:b",
        "wachtwoord van de ",
        "<input type=password ",
        "pass\u200bword is ",
        "-----BEGIN PRIVATE KEY-----\n",
        "login a/",
        "密码",
        "x" * 20 + " ",
        "<!-- %% password (",
    ],
)
@pytest.mark.slow
def test_time_grows_with_the_text(piece):
    assert_grows_with_size(redact, lambda size: piece * size, small=2_000 // len(piece) + 20)
