"""The rebuild's driver: every step is asked for once, in order, and its numbers are added up."""

from __future__ import annotations

from ingest.regraph import Regraphed, rebuild_graph
from tests.ingest.keeping import Vault


def test_an_empty_store_has_nothing_to_rebuild(tmp_path):
    with Vault(tmp_path) as vault:
        assert rebuild_graph(vault.writes) == Regraphed(facts=0, notes=0, links=0, changed=0)


def test_numbers_are_those_of_the_store(tmp_path):
    with Vault(tmp_path) as vault:
        for n in range(130):
            vault.write(f"{n}.md", f"The [[thing]] number {n} runs on [[{n + 1}]].\n")
        vault.look()
        done = rebuild_graph(vault.writes)
        assert done == Regraphed(facts=130, notes=130, links=260, changed=0)
