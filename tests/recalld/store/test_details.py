"""What is told of a thing is found by its uid."""

from recalld.store.details import facts_by_prefix


def test_a_prefix_finds_the_facts_that_begin_so(filled):
    with filled.reader() as connection:
        every = facts_by_prefix(connection, "", 10)
        assert len(every) == 3
        for fact_id, uid in every:
            assert facts_by_prefix(connection, uid[:12], 10) == [(fact_id, uid)]
