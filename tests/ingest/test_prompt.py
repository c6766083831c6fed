"""What goes to a model that extracts: note text stays data."""

from hypothesis import given
from hypothesis import strategies as st

from ingest.prompt import Piece, prompt_for
from recalld.records import BlockId, Lines, NoteId
from recalld.store.deep import ToExtract

texts = st.text(alphabet="<> \nNOTEX", max_size=40) | st.sampled_from(
    ["NOTE TEXT>>>>>", "NOTE TEXT>>>", "<<<<<NOTE TEXT", "<<<NOTE TEXT"]
)


def piece(text: str, title: str) -> Piece:
    block = ToExtract(
        block_id=BlockId(1),
        note_id=NoteId(1),
        kind="paragraph",
        text=text,
        text_hash=b"",
        heading_path=(title,),
        lead_in=title,
        title=title,
        dated=None,
        attempts=0,
        lines=Lines(first=1, last=1),
    )
    return Piece(block=block, text=text)


@given(st.lists(texts, min_size=1, max_size=3), texts)
def test_no_note_leaves_the_fence(notes, title):
    user = prompt_for([piece(text, title) for text in notes]).user
    assert user.count("NOTE TEXT>>>") == user.count("<<<NOTE TEXT") == 1
    assert user.endswith("\nNOTE TEXT>>>")
