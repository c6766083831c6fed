"""A model server on loopback that answers as it is told, and refuses what a careless client sends.

It speaks Ollama's `/api/…`, OpenAI's `/v1/…` and Jina's `/rerank`. What each call gets is scripted in order; when the script is
at its end, every call is answered well. What it refuses is in `faults`, and each test ends by looking there.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

DIGEST = "a" * 64
FACTS = {"facts": [{"text": "The database listens on port 5432."}]}


@dataclass(frozen=True, kw_only=True)
class Step:
    """What one chat or embedding call gets."""

    text: str = json.dumps(FACTS)
    thinking: str = ""
    status: int = 200
    error: str = ""
    # "stop" or "length"
    reason: str = "stop"
    # None: as many as the prompt has words.
    counted: int | None = None
    how: Literal[
        "well", "hang", "hang_after_head", "trickle_head", "trickle", "drop", "eof", "error_line", "html",
        "redirect", "endless", "late",
    ] = "well"  # fmt: skip
    to: str = ""
    # Vectors in place of good ones, from the texts; None leaves them.
    vectors: Callable[[Sequence[str]], Any] | None = None
    # The answer to a rerank call in place of a good one, from the question and the documents.
    ranks: Callable[[str, Sequence[str]], Any] | None = None
    raw: bytes | None = None


def prose(value: object = FACTS) -> Step:
    """JSON with words round it."""
    return Step(
        text=f"Sure! Here are the facts:\n```json\n{json.dumps(value)}\n```\nAnything else?"
    )


def vector_of(text: str, dimension: int = 8) -> list[float]:
    """A vector that follows from the letters of a text; not of length one."""
    counts = [1.0] * dimension
    for letter in text:
        counts[ord(letter) % dimension] += 1
    return counts


def overlap(query: str, text: str) -> float:
    """How many letters of the question's words a text shares, as a logit: below zero where it is few."""
    wanted = {word.strip("?.,").casefold() for word in query.split()}
    return 3.0 * sum(word in text.casefold() for word in wanted) - 4.0


@dataclass(kw_only=True)
class Listed:
    """A model that the server has."""

    name: str = "gemma3:4b"
    digest: str = DIGEST
    capabilities: tuple[str, ...] = ("completion",)
    family: str = "gemma3"
    remote_host: str = ""
    context_length: int | None = None


@dataclass(kw_only=True)
class Asked:
    """A request as it came."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


class FakeOllama:
    """The server; use it in a `with`. `script` holds steps for chat and embedding calls, first come first served."""

    def __init__(
        self,
        *,
        models: Sequence[Listed] = (Listed(),),
        too_long_over: int = 10**9,
        port: int = 0,
    ) -> None:
        self.models = list(models)
        self.script: deque[Step] = deque()
        self.asked: list[Asked] = []
        self.faults: list[str] = []
        # Characters over which an embedding input is 400.
        self.too_long_over = too_long_over
        # Set when a call hangs; tests wait for it. Set `let_go` to end what hangs.
        self.hanging = threading.Event()
        self.let_go = threading.Event()
        # Set when a client went away while it was being answered.
        self.left = threading.Event()
        self.busy_listing: Step | None = None
        # What a chat call gets that finds the script at its end; None: the facts of a good step.
        self.answer: Callable[[dict[str, Any]], Step] | None = None
        # Where it reranks and lists its models: llama.cpp and vLLM have all of these, Infinity those at the root.
        self.paths = {"/v1/rerank", "/rerank", "/v1/models", "/models"}
        self.loaded: set[str] = set()
        self._windows: dict[str, int] = {}
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.fake = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), name="fake-ollama"
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.let_go.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        if kind is None:
            assert self.faults == []

    def calls(self, path: str) -> list[dict[str, Any]]:
        """The bodies of the requests to a path."""
        return [each.body for each in self.asked if each.path == path]

    def fault_in(self, asked: Asked) -> str | None:
        """What is wrong with a request, or None."""
        headers = set(asked.headers)
        if "authorization" in headers:
            return "a credential came along"
        if (
            headers & {"proxy-connection", "via", "forwarded", "x-forwarded-for"}
            or "://" in asked.path
        ):
            return "it came through a proxy"
        if asked.path == "/api/chat":
            return self._options_fault(asked, ("num_ctx", "num_predict"))
        if asked.path == "/api/embed":
            return self._options_fault(asked, ("num_ctx",))
        if asked.path == "/v1/chat/completions" and "max_tokens" not in asked.body:
            return "max_tokens is missing"
        if asked.path.endswith("/rerank"):
            return self._rerank_fault(asked.body)
        return None

    def _rerank_fault(self, body: dict[str, Any]) -> str | None:
        if set(body) != {"model", "query", "documents", "top_n"}:
            return f"keys of a rerank call: {sorted(body)}"
        documents = body["documents"]
        if not all(isinstance(each, str) and each.strip() for each in [*documents, body["query"]]):
            return "a document is no text"
        return None if body["top_n"] == len(documents) >= 2 else "top_n leaves some out"

    def _options_fault(self, asked: Asked, wanted: Sequence[str]) -> str | None:
        options = asked.body.get("options") or {}
        missing = [name for name in wanted if name not in options]
        if missing or "keep_alive" not in asked.body:
            return f"missing: {[*missing, 'keep_alive']}"
        model, window = asked.body["model"], options["num_ctx"]
        if self._windows.setdefault(model, window) != window:
            return "num_ctx changed between calls: the model is loaded anew"
        if asked.body.get("messages") == []:
            return "empty messages load the model, or generate without an end elsewhere"
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 64
    fake: FakeOllama

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exc_info()[1]
        if isinstance(error, OSError):
            self.fake.left.set()
        else:
            self.fake.faults.append(f"the fake itself: {error!r}")


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        pass

    def do_GET(self) -> None:
        fake = self.server.fake
        fake.asked.append(
            Asked(
                path=self.path,
                body={},
                headers={name.lower(): value for name, value in self.headers.items()},
            )
        )
        if self._refused(fake.asked[-1]):
            return
        if fake.busy_listing is not None and self._oddly(fake.busy_listing):
            return
        match self.path:
            case "/api/tags":
                self._json({"models": [self._tag(each) for each in fake.models]})
            case "/api/ps":
                running = [
                    {**self._tag(each), "context_length": each.context_length}
                    for each in fake.models
                    if each.name in fake.loaded
                ]
                self._json({"models": running})
            case "/v1/models" | "/models" if self.path in fake.paths:
                self._json({"object": "list", "data": [{"id": each.name} for each in fake.models]})
            case _:
                self._json({"error": "404 page not found"}, 404)

    def do_POST(self) -> None:
        fake = self.server.fake
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = Asked(
            path=self.path,
            body=body,
            headers={name.lower(): value for name, value in self.headers.items()},
        )
        fake.asked.append(asked)
        if self._refused(asked):
            return
        if self.path == "/api/show":
            self._show(body)
            return
        if self.path.endswith("/rerank") and self.path not in fake.paths:
            self._json({"detail": "Not Found"}, 404)
            return
        step = self._next_step(body)
        if self._oddly(step):
            return
        listed = self._listed(body.get("model", ""))
        if listed is None:
            self._json({"error": f"model '{body.get('model')}' not found"}, 404)
            return
        fake.loaded.add(listed.name)
        match self.path:
            case "/api/chat":
                self._chat(step, body)
            case "/api/embed":
                self._embed(step, body)
            case "/v1/chat/completions":
                self._completions(step, body)
            case "/v1/embeddings":
                self._embeddings(step, body)
            case "/v1/rerank" | "/rerank":
                self._rerank(step, body)

    def _next_step(self, body: dict[str, Any]) -> Step:
        fake = self.server.fake
        try:
            return fake.script.popleft()
        except IndexError:
            is_chat = "messages" in body
            return fake.answer(body) if fake.answer is not None and is_chat else Step()

    def _listed(self, name: str) -> Listed | None:
        wanted = name if ":" in name else f"{name}:latest"
        for each in self.server.fake.models:
            if name == each.name or wanted == each.name:
                return each
        return None

    def _tag(self, listed: Listed) -> dict[str, Any]:
        tag = {
            "name": listed.name,
            "model": listed.name,
            "digest": listed.digest,
            "size": 1,
            "modified_at": "2026-08-21T10:00:00Z",
            "details": {"family": listed.family},
            "a_field_of_tomorrow": [1],
        }
        return {**tag, "remote_host": listed.remote_host} if listed.remote_host else tag

    def _show(self, body: dict[str, Any]) -> None:
        listed = self._listed(body["model"])
        if listed is None:
            self._json({"error": f"model '{body['model']}' not found"}, 404)
            return
        shown = {"capabilities": list(listed.capabilities), "details": {"family": listed.family}}
        self._json({**shown, "remote_host": listed.remote_host} if listed.remote_host else shown)

    def _refused(self, asked: Asked) -> bool:
        fault = self.server.fake.fault_in(asked)
        if fault is not None:
            self.server.fake.faults.append(f"{asked.path}: {fault}")
            self._json({"error": fault}, 500)
        return fault is not None

    def _oddly(self, step: Step) -> bool:
        """Whether the step is carried out already."""
        fake = self.server.fake
        match step.how:
            case "hang":
                self._wait()
            case "hang_after_head":
                self._head("application/x-ndjson")
                self._wait()
            case "trickle_head":
                self._trickle(b"HTTP/1.1 200 OK\r\nX-Slow: " + b"a" * 10_000)
            case "trickle":
                self._head("application/x-ndjson")
                self._trickle(b" " * 10_000)
            case "drop":
                self._head("application/x-ndjson", length=100_000)
                self._send(
                    b'{"model":"m","message":{"role":"assistant","content":"{\\"fa"},"done":false}\n'
                )
                self.connection.shutdown(socket.SHUT_RDWR)
            case "eof":
                self._head("application/x-ndjson")
                self._send(
                    b'{"model":"m","message":{"role":"assistant","content":"{}"},"done":false}\n'
                )
            case "error_line":
                self._head("application/x-ndjson")
                self._send(b'{"error":"llama runner process has terminated"}\n')
            case "html":
                self._head("text/html")
                self._send(b"<html><body>router login</body></html>")
            case "redirect":
                self.send_response(302)
                self.send_header("Location", step.to)
                self.send_header("Content-Length", "0")
                self.end_headers()
            case "endless":
                self._endless()
            case "late":
                self._wait()
                return False
            case _:
                if step.raw is not None:
                    self._head("application/json", length=len(step.raw))
                    self._send(step.raw)
                    return True
                if step.status != 200:
                    self._json({"error": step.error}, step.status)
                    return True
                return False
        self.close_connection = True
        _ = fake
        return True

    def _wait(self) -> None:
        """Until the test lets go, or the client leaves."""
        fake = self.server.fake
        fake.hanging.set()
        self.connection.settimeout(0.02)
        while not fake.let_go.is_set():
            try:
                if self.connection.recv(1, socket.MSG_PEEK) == b"":
                    fake.left.set()
                    break
            except TimeoutError:
                continue
            except OSError:
                fake.left.set()
                break
        self.connection.settimeout(None)

    def _trickle(self, data: bytes) -> None:
        """A byte every 20 ms: never silent, never done. (One a second would take a test too long.)"""
        fake = self.server.fake
        fake.hanging.set()
        try:
            for byte in data:
                if fake.let_go.wait(0.02):
                    return
                self._send(bytes([byte]))
        except OSError:
            fake.left.set()

    def _endless(self) -> None:
        self._head("application/x-ndjson")
        line = json.dumps(
            {"model": "m", "message": {"role": "assistant", "content": " " * 100}, "done": False}
        )
        try:
            while not self.server.fake.let_go.is_set():
                self._send(line.encode() + b"\n")
        except OSError:
            self.server.fake.left.set()

    def _chat(self, step: Step, body: dict[str, Any]) -> None:
        parts = [step.text[at : at + 40] for at in range(0, len(step.text), 40)]
        lines = [
            {
                "model": body["model"],
                "message": {"role": "assistant", "content": part},
                "done": False,
            }
            for part in parts
        ]
        if step.thinking:
            thought = {"role": "assistant", "content": "", "thinking": step.thinking}
            lines.insert(0, {"model": body["model"], "message": thought, "done": False})
        lines.append(
            {
                "model": body["model"],
                "message": {"role": "assistant", "content": ""},
                "done": True,
                "done_reason": step.reason,
                "prompt_eval_count": self._counted(step, body),
                "eval_count": len(parts),
            }
        )
        self._head("application/x-ndjson")
        self._send(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        self.close_connection = True

    def _completions(self, step: Step, body: dict[str, Any]) -> None:
        chunks: list[dict[str, Any]] = [
            {
                "choices": [
                    {
                        "index": 0,
                        "delta": {"content": step.text[at : at + 40]},
                        "finish_reason": None,
                    }
                ]
            }
            for at in range(0, len(step.text), 40)
        ]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": step.reason}]})
        chunks.append({"choices": [], "usage": {"prompt_tokens": self._counted(step, body)}})
        lines = [
            ": ping\n\n",
            *(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks),
            "data: [DONE]\n\n",
        ]
        self._head("text/event-stream")
        self._send("".join(lines).encode())
        self.close_connection = True

    def _counted(self, step: Step, body: dict[str, Any]) -> int:
        if step.counted is not None:
            return step.counted
        # About what a tokenizer makes of it, in any script.
        return sum(len(each["content"].encode()) for each in body["messages"]) // 3

    def _embed(self, step: Step, body: dict[str, Any]) -> None:
        texts = body["input"]
        if any(len(text) > self.server.fake.too_long_over for text in texts):
            self._json({"error": "the input length exceeds the context length"}, 400)
            return
        made = step.vectors(texts) if step.vectors else [vector_of(text) for text in texts]
        # NaN goes out as a bare NaN, which Python's json reads.
        self._json({"model": body["model"], "embeddings": made})

    def _embeddings(self, step: Step, body: dict[str, Any]) -> None:
        texts = body["input"]
        if any(len(text) > self.server.fake.too_long_over for text in texts):
            self._json({"error": {"message": "input is too large to process", "code": 500}}, 500)
            return
        if step.vectors:
            self._json({"data": step.vectors(texts)})
            return
        rows = [{"index": n, "embedding": vector_of(text)} for n, text in enumerate(texts)]
        self._json({"data": rows[::-1]})

    def _rerank(self, step: Step, body: dict[str, Any]) -> None:
        query, documents = body["query"], body["documents"]
        if step.ranks:
            self._json(step.ranks(query, documents))
            return
        # As llama.cpp does: logits, in the order of the documents.
        rows = [
            {"index": place, "relevance_score": overlap(query, text)}
            for place, text in enumerate(documents)
        ]
        self._json({"model": body["model"], "object": "list", "results": rows})

    def _json(self, value: object, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self._head("application/json", length=len(data), status=status)
        self._send(data)

    def _head(self, kind: str, *, length: int | None = None, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if length is None:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.flush()

    def _send(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()


def fails(status: int, error: str = "") -> Step:
    """A refusal."""
    return Step(status=status, error=error)


def with_vector(place: int, vector: Any) -> Step:
    """Good vectors, but for one."""

    def made(texts: Sequence[str]) -> list[Any]:
        rows: list[Any] = [vector_of(text) for text in texts]
        if place < len(rows):
            rows[place] = vector
        return rows

    return Step(vectors=made)


def again(step: Step, times: int) -> list[Step]:
    """The same step so many times."""
    return [replace(step) for _ in range(times)]
