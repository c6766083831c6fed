"""Whether a model is of any use: how many of its answers in a row were of none, and what it makes of a plain sentence.

A useless answer may be the text's fault or the model's. Where several came in a row, or one would have a text given
up, the model is asked about a sentence of ours: if it can't read that either, no text is to blame, nothing is used up,
and the model is left alone for a while. It must not know what was asked, only what came of it.
"""

from __future__ import annotations

from ingest.deep.prompt import SCHEMA, Piece, prompt_for
from ingest.deep.replied import facts_of, judge
from recalld.errors import TransientModelError
from recalld.models.chat import ChatModel, ChatReply, ChatRequest
from recalld.models.replies import Rejected, read_json
from recalld.records import BlockId, BlockKind, Lines, NoteId
from recalld.store.deep import ToExtract

# So many in a row are no chance.
_MOST_IN_A_ROW = 5

# What it is tried out with.
SENTENCE = "The red lamp stands on the shelf in the hall."
_PIECE = Piece(
    text=SENTENCE,
    block=ToExtract(
        block_id=BlockId(0),
        note_id=NoteId(0),
        kind=BlockKind.PARAGRAPH,
        text=SENTENCE,
        text_hash=b"",
        heading_path=(),
        lead_in="",
        title="House",
        dated=None,
        attempts=0,
        lines=Lines(first=1, last=1),
    ),
)
_PROMPT = prompt_for([_PIECE], plain=True)
_QUESTION = ChatRequest(
    system=_PROMPT.system,
    user=_PROMPT.user,
    schema=SCHEMA,
    max_tokens=_PROMPT.max_tokens,
    is_private=False,
)


class Trial:
    """Counts useless answers of one model, and tries it out where they are too many."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._in_a_row = 0
        self._reason = ""

    @property
    def is_in_doubt(self) -> bool:
        """Whether so many answers in a row were of no use that the model may be to blame."""
        return self._in_a_row >= _MOST_IN_A_ROW

    def useful(self) -> None:
        """An answer was of use."""
        self._in_a_row = 0

    def useless(self, reason: str) -> None:
        """One more was of none. `reason` is shown to the user; no text of notes is in it.

        Raises:
            TransientModelError: It is one too many, and the model can't read a plain sentence either.
        """
        self._in_a_row, self._reason = self._in_a_row + 1, reason
        if self.is_in_doubt:
            self.hold()

    def before_giving_up(self, failures: int) -> None:
        """To be called before a text is given up that failed so often: no other answer may have been of use since.

        Raises:
            TransientModelError: The model can't read a plain sentence either.
        """
        if self._in_a_row >= failures:
            self.hold()

    def hold(self) -> None:
        """Asks about a plain sentence.

        Raises:
            TransientModelError: The answer is of no use, or there is none.
            PermanentModelError: There is none.
        """
        reply = self._model.complete(_QUESTION)
        if not _is_of_use(reply):
            told = f"it answers, but its last answers were of no use: {self._reason}"
            raise TransientModelError(
                told,
                hint=f"{told}; take another model (llm.model), or `recalld reextract` to try at once",
                state="down",
            )
        self._in_a_row = 0


def _is_of_use(reply: ChatReply) -> bool:
    """Whether the answer has a fact that the sentence says."""
    read = read_json(reply.text)
    if reply.finished == "length" or isinstance(read, Rejected):
        return False
    facts = facts_of(read.value)
    return facts is not None and bool(judge(facts, [_PIECE])[_PIECE.block.block_id].found)
