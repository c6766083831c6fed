"""Secrets in the options of commands: `curl -u name:…`, `mysql -p…`, `--password …`.

An option's letter means a password with some commands only, so the command is looked for before it. Texts are in
plain spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.masking.values import is_stand_in, looks_random, looks_secret

Span = tuple[int, int]
# How far before an option its command may stand, over continued lines.
_REACH = 400
_VALUE = r"(?:\"(?P<a>[^\"\r\n]{1,200})\"|'(?P<b>[^'\r\n]{1,200})'|(?P<c>[^\s\"'|;<>][^\s\"'|;<>]{0,200}))"
_OPTION = re.compile(
    r"-(?<![\w-]-)-?(?P<name>(?:[A-Za-z]+-)*"
    r"(?:password|passwd|passphrase|pass|pwd|pw|token|secret|api-?key|secret-key|access-key))"
    rf"(?:=|[ \t]{{1,4}}){_VALUE}",
    re.IGNORECASE,
)
_NETRC = re.compile(r"\blogin[ \t]+[^\s]{1,80}[ \t]+password[ \t]+(?P<c>[^\s]{1,200})")
_PIPED = re.compile(r"\becho[ \t]+[\"']?(?P<c>[^\s\"'|]{1,200})[\"']?[ \t]*\|[ \t]*sudo -S\b")
_GOES_ON = re.compile(r"[ \t]*(?:[\r\n]|\Z|-|\\|[|&;>`)])")
_BY_COMMAND = tuple(
    (
        re.compile(rf"(?<![\w-])(?:{commands})(?![\w-])"),
        tuple(part.strip() for part in hints),
        re.compile(rf"(?<=\s){option}"),
    )
    for commands, hints, option in (
        (
            "curl|wget|https?|xh|ab|siege|hey",
            ("curl", "wget", "http", "xh ", "ab ", "siege", "hey "),
            r"(?:-u|--user|-U|--proxy-user|-a|--auth|-A)[ =]?[\"']?[^\s:\"'/]{1,100}:(?P<c>[^\s\"']{1,200})",
        ),
        (
            "mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump|7za?|7zr|rar|unrar",
            ("mysql", "mariadb", "7z", "rar"),
            rf"-p(?![\s-]){_VALUE}",
        ),
        (
            "sshpass|(?:docker|podman|helm registry|az|oc) login|mongo(?:sh|dump|restore)?|(?:un)?zip|xfreerdp",
            ("sshpass", " login", "mongo", "zip", "rdp"),
            rf"(?:-[pP][ \t]?|/p:){_VALUE}",
        ),
        ("redis-cli", ("redis-cli",), rf"-a[ \t]{_VALUE}"),
        ("ldapsearch|ldapmodify|ldapadd|ldapwhoami", ("ldap",), rf"-w[ \t]{_VALUE}"),
        (
            "smbclient|rpcclient|smbmap|mount\\.cifs",
            ("smb", "rpcclient"),
            r"-U[ \t]?[\"']?[^\s%\"']{1,60}%(?P<c>[^\s\"']{1,200})",
        ),
        ("openssl", ("openssl",), r"-pass(?:in|out)?[ \t]+[\"']?pass:(?P<c>[^\s\"']{1,200})"),
    )
)


def find_options(text: str) -> Iterator[Span]:
    """The spans of values that options of commands give as passwords or keys."""
    if "login" in text:
        yield from (match.span("c") for match in _NETRC.finditer(text) if not _is_stand_in(match))
    if "sudo -S" in text:
        yield from (match.span("c") for match in _PIPED.finditer(text) if not _is_stand_in(match))
    if "-" not in text:
        return
    for match in _OPTION.finditer(text):
        if _is_given(match, text):
            yield _span(match)
    for command, hints, option in _BY_COMMAND:
        if any(hint in text for hint in hints):
            for match in option.finditer(text):
                before = text[max(match.start() - _REACH, 0) : match.start()]
                if command.search(_last_command(before)) and not _is_stand_in(match):
                    yield _span(match)


def _is_given(match: re.Match[str], text: str) -> bool:
    value = text[slice(*_span(match))]
    if _is_stand_in(match) or value.startswith("-"):
        return False
    if match["name"].lower().endswith(("token", "secret", "key")):
        return looks_random(value)
    # In prose on an option a plain word follows, and then another.
    return looks_secret(value) or _GOES_ON.match(text, match.end()) is not None


def _is_stand_in(match: re.Match[str]) -> bool:
    return is_stand_in(match.string[slice(*_span(match))])


def _span(match: re.Match[str]) -> Span:
    name = next(
        name for name in ("a", "b", "c") if name in match.re.groupindex and match[name] is not None
    )
    return match.span(name)


def _last_command(before: str) -> str:
    """What belongs to the same command: its line, and those before that end with a backslash."""
    lines = re.split(r"\r\n|\r|\n", before)
    first = len(lines) - 1
    while first > 0 and lines[first - 1].rstrip().endswith("\\"):
        first -= 1
    return "\n".join(lines[first:])
