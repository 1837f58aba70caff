"""Markdown: whatever a name holds is shown as it is, and nothing breaks out of its place."""

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from egoequiv.markdown import code_block, code_span, escape_markdown, markdown_table, paragraph

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
names = st.text("|*_`<>\\\n[]()!#~&;:+-=. 1aé$", min_size=1).map(lambda text: f"x{text}x")
starts = st.text("|*_`<>\\\n[]()!#~&;:+-=. 1aé$", min_size=1).filter(lambda text: bool(text.strip()))


def shown(tokens: list[Token]) -> str:
    """What a reader sees of inline content; an error where it is more than text and code."""
    seen = []
    for token in tokens:
        assert token.type in ("text", "text_special", "code_inline"), token.type
        seen.append(token.content)
    return "".join(seen)


def plain(text: str) -> str:
    return " ".join(text.split())


def inlines(lines: list[str]) -> list[str]:
    return [shown(token.children or []) for token in READER.parse("\n".join(lines)) if token.type == "inline"]


def test_signs_by_hand() -> None:
    assert escape_markdown("rho_up | 5*") == r"rho\_up \| 5\*"
    assert escape_markdown("a\n\nb\\") == r"a b\\"
    assert escape_markdown("0.91 [0.88, 0.94]") == "0.91 [0.88, 0.94]"
    assert paragraph("- a") == r"\- a"
    assert paragraph("12. a, 3.5") == r"12\. a, 3.5"


@given(names)
def test_cells_are_shown_as_they_are(name: str) -> None:
    assert inlines(markdown_table((name, "b"), [(name, name), ("", name)])) == [
        plain(name),
        "b",
        plain(name),
        plain(name),
        "",
        plain(name),
    ]


@given(names)
def test_headings_are_shown_as_they_are(name: str) -> None:
    kinds = [token.type for token in READER.parse(f"## {escape_markdown(name)}")]
    assert kinds == ["heading_open", "inline", "heading_close"]
    assert inlines([f"## {escape_markdown(name)}"]) == [plain(name)]


@given(starts)
def test_a_paragraph_stays_one(text: str) -> None:
    written = paragraph(text)
    assert [token.type for token in READER.parse(written)] == ["paragraph_open", "inline", "paragraph_close"]
    assert plain(inlines([written])[0]) == plain(text)


def test_commands_in_a_text_are_code_and_other_backticks_are_not() -> None:
    text = "the motion `up* has none; to have it: `egoequiv report a_b*c`"
    assert inlines([paragraph(text)]) == ["the motion `up* has none; to have it: egoequiv report a_b*c"]
    assert paragraph(text).endswith("`egoequiv report a_b*c`")


@given(st.text("`ab |*<\\", min_size=1).filter(lambda text: bool(text.strip())))
def test_code_is_shown_as_it_is(text: str) -> None:
    (inline,) = (token for token in READER.parse(f"x{code_span(text)}x") if token.type == "inline")
    assert [token.type for token in inline.children or []] == ["text", "code_inline", "text"]
    assert plain((inline.children or [])[1].content) == plain(text)


def test_no_fence_ends_a_block() -> None:
    text = "egoequiv train\n```\n# not a heading\n````"
    (block,) = READER.parse("\n".join(code_block(text)))
    assert (block.type, block.content) == ("fence", text + "\n")
