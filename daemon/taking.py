"""Other settings for a daemon that runs: what can be taken is, the rest is told to need a restart."""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from daemon.ingesting import IngestLoop
from daemon.jobs import scheduled_jobs
from daemon.logging import configure_logging
from daemon.loop import StageReport
from daemon.methods import Methods
from daemon.models import load_reranker
from daemon.recalling import recall_defaults, recall_options
from daemon.reloading import difference
from daemon.roots import Roots
from daemon.schedule import Schedule
from daemon.waking import Waking
from daemon.watching import Watches
from daemon.writer import WriterThread
from recalld.models.turns import SharedChat
from recalld.settings.tables import Settings
from retrieval.recall import Recall
from retrieval.reranking.service import Reranking

_log = structlog.get_logger("app")


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """The parts that other settings reach while the daemon runs."""

    writer: WriterThread
    recall: Recall
    reranking: Reranking
    chat: SharedChat
    methods: Methods
    roots: Roots
    ingest: IngestLoop
    watches: Watches
    schedule: Schedule
    maintenance: StageReport
    waking: Waking


def take(running: Running, old: Settings, new: Settings) -> Settings:
    """Takes roots, recall, rerank, schedule and log at once. Returns the settings that are in force from now on.

    Raises:
        RecalldError: a root can't be taken; the others are.
    """
    changed = difference(old, new)
    if changed.restart:
        _log.warning("settings.kept", keys=changed.restart, hint="restart recalld for these")
    kept = {key.partition(".")[0] for key in changed.restart}
    in_force = new.model_copy(update={name: getattr(old, name) for name in kept})
    if "log" in changed.taken:
        configure_logging(level=new.log.level, log_format=new.log.format)
    if "recall" in changed.taken:
        running.recall.use(recall_options(new.recall))
        running.methods.use_defaults(recall_defaults(new.recall))
    if "rerank" in changed.taken:
        running.reranking.use(load_reranker(in_force, running.chat), depth=new.rerank.depth)
    if "schedule" in changed.taken:
        jobs = scheduled_jobs(
            new.schedule, running.writer, running.ingest, running.watches, running.maintenance
        )
        running.schedule.use_intervals(jobs)
    if changed.gone or changed.come:
        try:
            running.roots.exchange(
                running.ingest,
                running.watches,
                gone=changed.gone,
                come=changed.come,
                all_now=in_force.roots,
            )
        finally:
            running.waking.notes()
    return in_force
