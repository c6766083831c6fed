"""Who is told when something was written: the threads that may have work from it, and whoever counts writes."""

from __future__ import annotations

import threading
from typing import Protocol


class Sleeper(Protocol):
    """A thread that works off a queue."""

    def wake(self) -> None:
        """There may be something to do."""
        ...


class Waking:
    """Counts writes and wakes threads. May be called from any thread; before `know` nobody is woken."""

    def __init__(self) -> None:
        self._count = 0
        self._lock = threading.Lock()
        self._embed: Sleeper | None = None
        self._extract: Sleeper | None = None
        self._agree: Sleeper | None = None
        self._measure: Sleeper | None = None

    def know(
        self,
        *,
        embed: Sleeper | None,
        extract: Sleeper | None,
        agree: Sleeper,
        measure: Sleeper | None = None,
    ) -> None:
        """Tells who is there to be woken."""
        self._embed, self._extract, self._agree = embed, extract, agree
        self._measure = measure

    def generation(self) -> int:
        """How often something was written."""
        with self._lock:
            return self._count

    def count(self) -> None:
        """Something was written that nobody works on."""
        with self._lock:
            self._count += 1

    def notes(self) -> None:
        """Notes were written: their statements want vectors, their blocks a model, their facts to be compared."""
        self.count()
        self._wake(self._embed, self._extract, self._agree, self._measure)

    def deep_facts(self) -> None:
        """A model's facts were written: their wordings want vectors, and they are to be compared."""
        self.count()
        self._wake(self._embed, self._agree, self._measure)

    def marks(self) -> None:
        """Vectors or categories were written, or a user spoke of a fact: it is compared again.

        A model may be asked about facts that waited for their vectors.
        """
        self.count()
        self._wake(self._extract, self._agree, self._measure)

    def links(self) -> None:
        """Facts were compared: a model may be asked where rules can't tell."""
        self.count()
        self._wake(self._extract)

    def vectors(self) -> None:
        """There are statements that want vectors."""
        self.count()
        self._wake(self._embed, self._measure)

    def _wake(self, *sleepers: Sleeper | None) -> None:
        for one in sleepers:
            if one is not None:
                one.wake()
