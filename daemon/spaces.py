"""The vector spaces of a running daemon: the one that recall goes by, and the change to another model's.

New vectors are made beside those in use while the old model can still be asked; recall goes on with it, and changes
over at once when the new ones are whole. Where the old model is gone, the new space is taken into use as it is, and
keywords stand in for what it lacks.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from daemon.served import ServedModel, close_model
from daemon.status import Change, EmbeddingModel
from ingest.embedding import Embedded
from ingest.refining import Refined
from recalld.errors import ModelError, ModelUnavailable
from recalld.models.embedder import Embedder
from recalld.models.server_embedder import ServerEmbedder
from recalld.store.connection import Database
from recalld.store.embedding import count_to_embed
from recalld.store.spaces import (
    Space,
    count_statements,
    has_left_vectors,
    progress_of_coming,
    spaces,
)
from recalld.store.writers import Writes

_log = structlog.get_logger("embed")

# Vectors that go into the cache at once: a transaction of some milliseconds.
_CLEARED = 2000
_NOTHING = Embedded(asked=0, stored=0, refused=0)
# In the identity of a model whose server does not tell one set of weights from another.
_UNKNOWN_WEIGHTS = "@unknown/"


class VectorSpaces:
    """Owns the embedding models. `step` and `refine` run on one thread; the rest may be called from any."""

    def __init__(
        self,
        *,
        database: Database,
        writes: Writes,
        batch: int,
        load: Callable[[], tuple[Embedder | None, EmbeddingModel]],
        reopen: Callable[[str], Embedder | None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Opens the model of the settings, and the one of the vectors in use where that is another.

        Args:
            batch: Statements that go to a model at once.
            load: Opens the model of the settings, or says why there is none.
            reopen: Opens the model of a space's identity; None where it can't be had any more.
        """
        self._database = database
        self._writes = writes
        self._batch = batch
        self._load = load
        self._reopen = reopen
        self._on_change: Callable[[Embedder], None] = lambda _: None
        self._clock = clock
        self._lock = threading.Lock()
        self._in_use: ServedModel | None = None
        self._coming: ServedModel | None = None
        # Whether each statement had its turn in the space in use.
        self._whole = True
        self.refining = _Refining(self.refine)
        embedder, self.model = load()
        if embedder is not None:
            self._adopt(embedder)
        elif self.model.state != "off":
            self._do_without()

    def tell_changes(self, on_change: Callable[[Embedder], None]) -> None:
        """Has each model whose space comes into use told from now on."""
        self._on_change = on_change

    @property
    def embedder(self) -> Embedder | None:
        """The model of the space in use."""
        return self._in_use.embedder if self._in_use else None

    @property
    def is_changing(self) -> bool:
        """Whether vectors of another model are made beside those in use."""
        return self._coming is not None

    def answers(self) -> bool:
        """Whether recall has its vectors, and a model that it can ask in them."""
        with self._lock:
            in_use = self._in_use
            return in_use is not None and in_use.problem is None and self._whole

    def step(self) -> Embedded:
        """Embeds the next batch: for the space in use first, then for the coming one; then tidies up.

        Raises:
            TransientModelError, PermanentModelError: a model did not answer; nothing is changed.
        """
        with self._lock:
            in_use, coming = self._in_use, self._coming
        failure: ModelError | None = None
        if in_use is not None and (coming is None or in_use.wait_s() == 0):
            try:
                done = in_use.step()
            except ModelError as error:
                failure = error
            else:
                if done.asked:
                    return done
                self._call_whole(in_use)
        if coming is not None:
            done = coming.step()
            if done.asked:
                return done
            if self._change_over(coming):
                return Embedded(asked=0, stored=0, refused=0, tidied=1)
        if failure is not None:
            raise failure
        return self._clear()

    def refine(self) -> Refined:
        """Settles the next categories, by the space in use."""
        with self._lock:
            in_use = self._in_use
        return in_use.refining.step() if in_use else Refined(settled=0)

    def change(self) -> Change | None:
        """How far the change to another model is; None when there is none."""
        with self._lock:
            in_use, coming = self._in_use, self._coming
        if coming is None and self._whole:
            return None
        with self._database.reader() as connection:
            stored = spaces(connection)
            if coming is not None and stored.coming is not None:
                progress = progress_of_coming(connection)
                answers = in_use is not None and in_use.problem is None
                return Change(
                    model=stored.coming.name,
                    recall_uses=in_use.name if in_use is not None and answers else None,
                    done=progress.statements - progress.waiting,
                    total=progress.statements,
                )
            if in_use is None or stored.in_use is None or stored.in_use.whole:
                return None
            total = count_statements(connection)
            return Change(
                model=stored.in_use.name,
                recall_uses=None,
                done=total - count_to_embed(connection)[0],
                total=total,
            )

    def reembed(self) -> Change | None:
        """Has all vectors made again by the model of the settings, as it is now.

        A change to it that is under way goes on.

        Raises:
            ModelUnavailable: the model can't be had.
        """
        embedder, model = self._load()
        if embedder is None:
            raise ModelUnavailable("the embedding model can't be had", hint=model.hint)
        stored = self._stored()
        identity = embedder.space.identity
        is_under_way = self._coming is not None and stored.coming_identity == identity
        if is_under_way:
            close_model(embedder)
            return self.change()
        self.model = model
        self._adopt(embedder, anew=stored.in_use_identity == identity)
        return self.change()

    def close(self) -> None:
        """Cuts the calls of models at servers, and refuses later ones."""
        with self._lock:
            served = (self._in_use, self._coming)
        for one in served:
            if one is not None:
                one.close()

    def _stored(self) -> _Identities:
        with self._database.reader() as connection:
            found = spaces(connection)
        return _Identities(
            in_use_identity=_identity(found.in_use), coming_identity=_identity(found.coming)
        )

    def _adopt(self, embedder: Embedder, *, anew: bool = False) -> None:
        """Makes the model's space the one in use: now, or once it is whole where the old one can be asked."""
        stored = self._stored()
        identity = embedder.space.identity
        served = self._serve(embedder)
        settled = stored.in_use_identity in (None, identity) and not anew
        if settled and stored.coming_identity != identity:
            served.stage.adopt()
            self._exchange(served, None)
            return
        former = self._former(stored.in_use_identity, embedder, anew=anew)
        if former is None:
            _log.warning(
                "space.left", model=embedder.space.name, hint="keywords stand in meanwhile"
            )
            served.stage.adopt(anew=anew)
            self._exchange(served, None)
            return
        _log.info("space.begun", model=embedder.space.name, meanwhile=former.embedder.space.name)
        former.stage.adopt()
        served.stage.begin(anew=anew)
        self._exchange(former, served)

    def _former(self, identity: str | None, new: Embedder, *, anew: bool) -> ServedModel | None:
        """The model of the space in use, if it still gives the vectors that it gave."""
        if identity is None or (anew and _UNKNOWN_WEIGHTS in identity):
            return None
        if identity == new.space.identity:
            return self._serve(new)
        in_use = self._in_use
        # Weights at a server may have been replaced since.
        if in_use is not None and not isinstance(in_use.embedder, ServerEmbedder):
            return in_use if in_use.embedder.space.identity == identity else None
        embedder = self._reopen(identity)
        return self._serve(embedder) if embedder is not None else None

    def _do_without(self) -> None:
        """The model of the settings can't be had: recall goes on with the vectors that there are, if it can."""
        identity = self._stored().in_use_identity
        embedder = self._reopen(identity) if identity is not None else None
        if embedder is not None:
            served = self._serve(embedder)
            served.stage.adopt()
            self._exchange(served, None)

    def _serve(self, embedder: Embedder) -> ServedModel:
        return ServedModel(
            embedder,
            database=self._database,
            writes=self._writes,
            batch=self._batch,
            clock=self._clock,
        )

    def _exchange(self, in_use: ServedModel, coming: ServedModel | None) -> None:
        """Goes on with these; models that are no longer asked are closed."""
        with self._lock:
            before = (self._in_use, self._coming)
            self._in_use, self._coming = in_use, coming
            self._whole = self._is_whole()
        kept = [one.embedder for one in (in_use, coming) if one is not None]
        if before[0] is None or before[0].embedder is not in_use.embedder:
            self._on_change(in_use.embedder)
        for one in before:
            if one is not None and not any(one.embedder is other for other in kept):
                one.close()

    def _call_whole(self, served: ServedModel) -> None:
        with self._lock:
            if self._whole or self._in_use is not served:
                return
            self._whole = True
        self._writes.call(lambda writers: writers.spaces.call_whole(served.stage.space))

    def _is_whole(self) -> bool:
        with self._database.reader() as connection:
            in_use = spaces(connection).in_use
        return in_use is None or in_use.whole

    def _change_over(self, coming: ServedModel) -> bool:
        if not self._writes.call(lambda writers: writers.spaces.finish(coming.stage.space)):
            return False
        _log.info("space.changed", model=coming.embedder.space.name)
        self._exchange(coming, None)
        return True

    def _clear(self) -> Embedded:
        with self._database.reader() as connection:
            if not has_left_vectors(connection):
                return _NOTHING
        now_ms = int(time.time() * 1000)
        cleared = self._writes.call(lambda writers: writers.spaces.clear_left(_CLEARED, now_ms))
        return Embedded(asked=0, stored=0, refused=0, tidied=cleared)


@dataclass(frozen=True, slots=True)
class _Refining:
    """The refining side, for the thread that works both off."""

    step: Callable[[], Refined]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Identities:
    """Of the stored spaces."""

    in_use_identity: str | None
    coming_identity: str | None


def _identity(space: Space | None) -> str | None:
    return space.identity if space else None
