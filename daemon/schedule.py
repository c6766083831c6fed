"""Work by the clock: scans, full hashing, maintenance, looking after the watches. The one place of APScheduler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from recalld.errors import RecalldError, Stopping

_log = structlog.get_logger("schedule")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Something to do every so often; missed runs count as one."""

    name: str
    every: timedelta
    work: Callable[[], None]


class Schedule:
    """Runs jobs on one thread, one after the other."""

    def __init__(self, jobs: tuple[Job, ...]) -> None:
        """Nothing runs before `start`."""
        self._scheduler = BackgroundScheduler(
            executors={"default": ThreadPoolExecutor(1)},
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
            daemon=False,
        )
        for job in jobs:
            self._scheduler.add_job(
                _guarded(job), "interval", seconds=job.every.total_seconds(), id=job.name
            )

    def start(self) -> None:
        """Starts the clock; the first run of each job comes after its interval."""
        self._scheduler.start()

    def use_intervals(self, jobs: tuple[Job, ...]) -> None:
        """Runs the jobs that are known by these names as often as these say, counted from now."""
        for job in jobs:
            self._scheduler.reschedule_job(
                job.name, trigger="interval", seconds=job.every.total_seconds()
            )

    def stop(self) -> None:
        """Lets the running job end and joins the threads."""
        if self._scheduler.running:
            # It closes its pool before its clock; without jobs the clock has nothing to hand over.
            self._scheduler.pause()
            self._scheduler.remove_all_jobs()
            self._scheduler.shutdown(wait=True)


def _guarded(job: Job) -> Callable[[], None]:
    def run() -> None:
        try:
            job.work()
        except Stopping:
            _log.debug("job.dropped", job=job.name)
        except RecalldError as error:
            _log.warning("job.failed", job=job.name, reason=error.message, hint=error.hint)
        except Exception:  # noqa: BLE001 - a scheduled job: a fault in one must not end the others
            _log.exception("job.failed", job=job.name)

    return run
