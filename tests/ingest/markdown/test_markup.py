from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.markdown.markup import (
    split_lines,
    squeeze,
    strip_beside_words,
    strip_markup,
    without_struck,
)
from tests.growth import assert_grows_with_size


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("**Bold**, *it* and _x_ in snake_case", "Bold, it and x in snake_case"),
        ("***both*** and **b**old", "both and bold"),
        ("keep `co*d*e` as it is", "keep `co*d*e` as it is"),
        ("[a label](http://x_y_z) and [**b**](u)", "a label and b"),
        ('[a](u "title") [r][1] [no link] [x]', "a r [no link] [x]"),
        (
            "[[Target]] [[T|alias]] [[B#^block]] [[#Head]] ![[img.png]]",
            "Target alias B Head img.png",
        ),
        ("![alt text](x.png)", "alt text"),
        ("<https://x.y> a<br>b <b>c</b>", "https://x.y a b c"),
        ("fish &amp; chips", "fish & chips"),
        (r"\*no\* 2 * 3", "*no* 2 * 3"),
        ("a < b and c > d", "a < b and c > d"),
        ("end[^1] ^abc1", "end"),
        ("==new==, a == b", "new, a == b"),
        ("H~2~O is ~~dry *and* `cold`~~ wet", "H~2~O is wet"),
        (
            "<del>a</del> <s>b</s> <strike class='x'>c\nd</strike> <span>kept</span> <s>open",
            "kept open",
        ),
        (r"`~~code~~` \~~ words~~ ~~~~ ~~ spaced ~~", "`~~code~~` ~~ words~~ ~~ spaced ~~"),
        (
            "/srv/*.zip, a.*b, *.md and *.txt, 4* and 5*",
            "/srv/*.zip, a.*b, *.md and *.txt, 4* and 5*",
        ),
        ("/srv/*.zip and /tmp/*.log", "/srv/*.zip and /tmp/*.log"),
        ("*组件*一词、新しい*配列*を 2*3 and 2*3*4", "组件一词、新しい配列を 2*3 and 2*3*4"),
        ("b_c_ and _x, ~~/y, a ==b", "b_c_ and _x, ~~/y, a ==b"),
        ("***a** b* and **c *d***, *Note.* (*so*)", "a b and c d, Note. (so)"),
        ("## Head ##", "Head"),
        ("Head {#anchor}", "Head"),
        ("> quoted\n> twice", "quoted twice"),
        ("这是**重点**内容\n下一行", "这是重点内容下一行"),
    ],
)
def test_markup_goes_and_words_stay(source, plain):
    assert squeeze(strip_markup(source).text) == plain


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("![[image.png]] The pump.", "The pump."),
        ("![[x.png|100]] ![[x.png|100x80]] ![[x.png|right]] ![](y.png) The pump.", "The pump."),
        ("![[x.png|A pump]] ![a hose](y.png) The valve.", "A pump a hose The valve."),
        ("It runs Arch. ![[note#Part]] ![[note|alias]]", "It runs Arch."),
        ("The pump [[^blk]] [[#^blk]] [[#^blk|here]] [[note#^blk]]", "The pump here note"),
        ("图![[a.png]]示", "图示"),
        ("`![[x.png]]` embeds.", "`![[x.png]]` embeds."),
        ("![[image.png]]", "image.png"),
        ("[[^blk]]", "^blk"),
    ],
)
def test_embeds_are_no_words_beside_others(source, plain):
    assert squeeze(strip_beside_words(source).text) == plain


def test_what_is_struck_out_goes_with_its_links():
    source = "~~[[Bob]]~~ [[Carol|she]] owns `~~this~~` and <del>[that](u)</del>."
    assert without_struck(source) == " [[Carol|she]] owns `~~this~~` and ."
    assert without_struck("a ~ b </s>") == "a ~ b </s>"


def test_every_kept_character_knows_its_source():
    source = "A **b** [[x|alias]] [l](u) `c` end"
    plain = strip_markup(source, offset=10)
    assert all(source[plain.source(n) - 10] == letter for n, letter in enumerate(plain.text))


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["![[a|1 ", "![[a.png|10|10|x]] ", "[[^", "![[x.png" + "|1" * 50])
def test_embeds_cost_no_more_than_their_number(piece):
    assert_grows_with_size(strip_beside_words, lambda n: piece * n, small=100)


def test_marks_of_emphasis_cost_no_more_than_their_number():
    assert_grows_with_size(strip_markup, lambda n: "*a **b _c " * n, small=500)


@given(st.text(max_size=80) | st.text(alphabet="*_`[]()<>&;#|\\ab \n!~=^{}", max_size=80))
def test_any_text_is_survived(text):
    plain = strip_markup(text)
    places = [plain.source(n) for n in range(len(plain.text))]
    assert places == sorted(places) or "&" in text or "[[" in text
    assert all(0 <= place <= len(text) for place in places)


@given(st.text(alphabet="a\r\n\u2028\x0b", max_size=30))
def test_lines_rebuild_the_text(text):
    assert "".join(split_lines(text)) == text
