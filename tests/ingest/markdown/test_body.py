from ingest.markdown.body import Body, Leaf


def test_offsets_of_a_leaf_lead_back_to_the_lines_behind_quote_marks():
    body = Body(["> one <!-- a", "> b --> two"], 0)
    leaf = Leaf("one <!-- a\nb --> two", (0, 11), (2, 15))
    assert body.add_leaf(leaf, first=0) == ()
    assert body.shown_lines() == ["> one ", ">  two"]


def test_private_part_that_stays_open_is_given_to_the_caller():
    body = Body(["a <!-- b", "", "c [[D]] --> [[E]]"], 0)
    assert body.add_leaf(Leaf("a <!-- b", (0,), (0,)), first=0) == (2,)
    body.add_leaf(body.line_leaf(2), first=2)
    assert body.hide_open(2) == len("a <!-- b\n\nc [[D]] -->")
    assert body.shown_lines() == ["a ", "", " [[E]]"]
    assert [link.target for link in body.read_prose()[0]] == ["E"]


def test_unclosed_comment_is_reported_at_the_notes_own_line():
    body = Body(["<!-- a", "b", "", "c"], 10)
    body.hide_open(0)
    assert body.shown_lines() == ["", "", "", "c"]
    assert [(p.line, p.kind) for p in body.problems] == [(11, "comment.unclosed")]


def test_lines_no_rule_has_read_are_read_in_the_end():
    body = Body(["#a %% b %% [[C]]", "[1]: x <!-- y -->"], 0)
    body.read_rest({1})
    assert body.shown_lines() == ["#a  [[C]]", "[1]: x "]
    links, tags = body.read_prose()
    assert ([link.target for link in links], tags) == (["C"], [(1, "a")])
