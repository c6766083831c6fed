"""How models at Ollama are named, and how its library is brought in."""

import os
import subprocess
import sys

import pytest

from recalld.models.ollama_server import full_name, runs_elsewhere


def test_a_tag_is_added_after_the_last_slash_only():
    assert full_name("localhost:5000/a/b") == "localhost:5000/a/b:latest"
    assert full_name(" gemma3 ") == "gemma3:latest"


def test_local_names_are_no_cloud():
    assert not any(map(runs_elsewhere, ["gemma3:4b", "cloudy:7b", "user/cloud-notes", "gemma3"]))


@pytest.mark.slow
def test_unsound_environment_does_not_end_the_import():
    code = "from recalld.models.ollama_server import _library; _library()"
    unsound = {
        "ALL_PROXY": "socks5://127.0.0.1:1",
        "https_proxy": "::nonsense",
        "SSL_CERT_FILE": "/nowhere/cert.pem",
        "OLLAMA_HOST": "http://[bad",
    }
    env = {**os.environ, **unsound}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
