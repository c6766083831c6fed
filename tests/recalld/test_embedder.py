from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from recalld.models.embedder import centred

rows = arrays.arrays(np.float32, (5, 8), elements=st.floats(-10, 10, width=32))


@given(rows, arrays.arrays(np.float32, 8, elements=st.floats(-1, 1, width=32)))
def test_centred_rows_have_length_one_or_are_not_numbers(vectors, mean):
    made = centred(vectors, mean)
    assert made.dtype == np.float32
    for row, before in zip(made, vectors, strict=True):
        if np.isnan(row).any():
            assert np.isnan(row).all()
            assert np.linalg.norm(before - mean) <= 1e-5
        else:
            assert np.isclose(np.linalg.norm(row), 1, atol=1e-4)
            assert row @ (before - mean) > 0


def test_row_that_is_the_mean_has_no_direction():
    mean = np.ones(4, np.float32)
    assert np.isnan(centred(mean[None], mean)).all()
