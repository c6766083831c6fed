"""A model that is asked keeps what went wrong, and is given time before it is asked again."""

from __future__ import annotations

import pytest

from daemon.served import ServedModel
from recalld.errors import TransientModelError
from tests.fakes import WordEmbedder
from tests.ingest.keeping import Vault


def test_a_model_that_fails_is_waited_for_until_it_answers(tmp_path):
    with Vault(tmp_path) as vault:
        vault.write("a.md", "De pomp lekt olie.\n")
        vault.look()
        now, embedder = [0.0], WordEmbedder()
        served = ServedModel(
            embedder,
            database=vault.database,
            writes=vault.writes,
            batch=10,
            clock=lambda: now[0],
        )
        served.stage.adopt()
        embedder.failure = TransientModelError("no answer", hint="start it")
        with pytest.raises(TransientModelError):
            served.step()
        assert served.problem is embedder.failure
        assert served.wait_s() > 0
        now[0] += served.wait_s()
        assert served.wait_s() == 0
        embedder.failure = None
        assert served.step().stored == 1
        assert (served.problem, served.wait_s(), served.name) == (None, 0, "words")
