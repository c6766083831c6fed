"""What is done by the clock, and how often: scans, hashing, maintenance, the graph's check."""

from __future__ import annotations

import time
from datetime import timedelta

import structlog

from daemon.ingesting import IngestLoop
from daemon.loop import StageReport
from daemon.schedule import Job
from daemon.watching import Watches
from daemon.writer import WriterThread
from ingest.masking.redaction import redact
from ingest.regraph import rebuild_graph
from ingest.rules.extractor import RULES_VERSION
from recalld.settings.tables import ScheduleSettings
from recalld.store.results import drop_results
from recalld.store.writers import Writers

_log = structlog.get_logger("app")

_CACHE_KEPT_MS = 90 * 24 * 3600 * 1000
_CACHED_VECTORS = 200_000
_CACHED_RESULTS = 50_000
_GRAPH_EVERY = timedelta(days=1)


def scheduled_jobs(
    every: ScheduleSettings,
    writer: WriterThread,
    ingest: IngestLoop,
    watches: Watches,
    maintenance: StageReport,
) -> tuple[Job, ...]:
    """The jobs with their intervals from the settings; `maintenance` is told how that stage goes."""
    return (
        Job(
            name="watch",
            every=timedelta(seconds=every.watch_check_every_s),
            work=watches.check,
        ),
        Job(name="scan", every=timedelta(minutes=every.scan_every_min), work=ingest.ask_scan),
        Job(
            name="hash",
            every=timedelta(hours=every.full_hash_every_h),
            work=lambda: ingest.ask_scan(full=True),
        ),
        Job(
            name="maintenance",
            every=timedelta(hours=every.maintenance_every_h),
            work=lambda: _maintain(writer, maintenance),
        ),
        Job(name="graph", every=_GRAPH_EVERY, work=lambda: _check_graph(writer)),
    )


def _maintain(writer: WriterThread, report: StageReport) -> None:
    old = int(time.time() * 1000) - _CACHE_KEPT_MS
    try:
        writer.call(lambda writers: writers.vectors.prune_cache(old, _CACHED_VECTORS))
        writer.call(lambda writers: writers.deep.prune_cache(old, _CACHED_RESULTS))
        writer.call(lambda writers: writers.verdicts.prune(old))
        writer.call(_drop_unmasked)
        writer.call(Writers.maintain)
    except Exception as error:
        report.count_failure(str(error))
        raise
    report.last_ok = time.time()


def _drop_unmasked(writers: Writers) -> None:
    """What a model gave before secrets were masked as they are now may still hold some."""
    drop_results(writers.connection, lambda result: redact(result)[1] > 0, version=RULES_VERSION)


def _check_graph(writer: WriterThread) -> None:
    found = rebuild_graph(writer)
    if found.changed:
        _log.warning("graph.mended", count=found.changed)
