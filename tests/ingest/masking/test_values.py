import pytest

from ingest.masking.values import is_stand_in, looks_random, looks_secret, looks_very_secret


@pytest.mark.parametrize("value", ["tulip9", "p@ss9", "sun#flower", "Zomer2024!", "корова77"])
def test_mixed_word_looks_secret(value):
    assert looks_secret(value)


@pytest.mark.parametrize(
    "value",
    [
        "tulip",
        "sha256",
        "argon2id",
        "v2.3.1",
        "12chars",
        "2026-03-02",
        "2fa",
        "k8s",
        "bo@x.org",
        "https://x.org/a1",
        "setup2.md",
        "abc",
        "case-sensitive",
        "90",
        "strict!",
        "1Password",
    ],
)
def test_word_number_name_or_address_does_not(value):
    assert not looks_secret(value)


@pytest.mark.parametrize("value", ["tu1ip9x", "Winter2026!", "hunter2x"])
def test_some_values_can_hardly_be_anything_else(value):
    assert looks_very_secret(value)


@pytest.mark.parametrize("value", ["tulip9", "server2", "DB2PROD1", "x86_64"])
def test_a_number_behind_a_word_may_be_a_name(value):
    assert not looks_very_secret(value)


@pytest.mark.parametrize(
    "value",
    ["3f9a8b7c6d5e4f3a2b1c", "wJalrXUtnFEMI/K7MDENG", "123e4567-e89b-12d3-a456-426614174000"],
)
def test_key_looks_random(value):
    assert looks_random(value)


@pytest.mark.parametrize(
    "value",
    [
        "user_2024_id",
        "build-2024-linux",
        "getAccessTokenFromSession",
        "tls-cert-2024-prod",
        "https://x.org/3f9a8b7c6d5e",
        "aaaaaaaaaaaaaaa1",
        "short1",
    ],
)
def test_name_address_or_repetition_does_not(value):
    assert not looks_random(value)


@pytest.mark.parametrize(
    "value",
    [
        "$PASSWORD",
        "${{ secrets.X }}",
        "{{vault}}",
        "<your password>",
        "********",
        "%PW%",
        "[redacted]",
        "os.environ['X']",
        "input()",
        "hashedPassword",
        "YOUR_API_KEY",
        "required",
        "verplicht",
        "siehe",
        "/run/secrets/pw",
        "op://vault/db/password",
        "data.password",
        ":string",
        "!vault",
    ],
)
def test_variable_placeholder_or_pointer_stands_in(value):
    assert is_stand_in(value)


@pytest.mark.parametrize("value", ["sunflower", "mypassword", "monkey", "$ecret1", "tulip9.md"])
def test_weak_password_does_not(value):
    assert not is_stand_in(value)
