"""Which address a model server may have: one, written by the user, on this machine unless they say otherwise.

It only reads what was written and judges addresses; it opens nothing and looks no name up.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from recalld.errors import PermanentModelError

OLLAMA_PORT = 11434
OPENAI_PORT = 8080


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """A model server's address, complete: scheme, host, port and path, without a slash at the end."""

    url: str
    # Whether connections may lead to this machine only; checked again on each.
    loopback: bool


def read_address(text: str, *, port: int, allow_remote: bool, setting: str) -> ServerAddress:
    """The address that `text` means: `host`, `host:port`, `[v6]:port`, `:port`, `http://…`; empty = this machine.

    Forms and default ports are those of OLLAMA_HOST: `port`, or 80 and 443 where a scheme is written.
    An address to listen on (0.0.0.0, ::) means this machine. `setting` names the key in messages.

    Raises:
        PermanentModelError: Not an address, with a user or password in it, or elsewhere without leave.
    """
    scheme, separator, rest = text.strip().partition("://")
    if not separator:
        scheme, rest = "http", text.strip()
    elif scheme in ("http", "https"):
        port = 443 if scheme == "https" else 80
    hint = f"write {setting} as http://127.0.0.1:{port}"
    try:
        parts = urlsplit(f"{scheme}://{rest}")
        host, port = parts.hostname or "127.0.0.1", parts.port or port
    except ValueError as error:
        raise PermanentModelError(
            f"{setting} = {text!r} is no address: {error}", hint=hint
        ) from None
    if scheme not in ("http", "https") or any(c.isspace() or c < " " for c in rest):
        raise PermanentModelError(f"{setting} = {text!r} is no address of a server", hint=hint)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise PermanentModelError(f"{setting} may only have a host, a port and a path", hint=hint)
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - replaced, not bound
    loopback = host == "localhost" or is_loopback(host)
    if not loopback and not allow_remote:
        raise PermanentModelError(
            f"{setting} names {host}, which is not this machine",
            hint="notes would be sent there; if you want that, set llm.allow_remote = true",
        )
    bracketed = f"[{host}]" if ":" in host else host
    url = f"{scheme}://{bracketed}:{port}{parts.path.rstrip('/')}"
    return ServerAddress(url=url, loopback=loopback)


def is_loopback(address: str) -> bool:
    """Whether a numeric address is this machine; False for a name, whatever it may resolve to."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback
