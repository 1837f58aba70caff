"""Documents, docstrings, comments and messages use plain English: words to avoid, and what to write instead."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# A pattern for each word or phrase, matched without regard to case, and what to write instead.
INSTEAD = {
    r"foretell\w*|foretold": "predict",
    r"anew|afresh": "again",
    r"beforehand": "before",
    r"thereof|therein|thereby|whereby|wherein|whence|hitherto|henceforth": "of it, in it, by it",
    r"lest|albeit|whilst|amidst|betwixt|forthwith": "a common word",
    r"upon": "on",
    r"wherever|whichever|whoever|whomever": "any, every, where, which, who",
    r"flatter(s|ed|y|ing)": "is too high, raises",
    r"mishaps?": "error",
    r"cook(s|ed|ing)?": "run, make",
    r"scout(ed|ing)?": "try, develop",
    r"rubs? out|rubbed out|rubs the \w+ out": "removes",
    r"at the (most|least)": "at most, at least",
    r"without (further|more) words|without a word": "by default, silently",
    r"unless (you say|told) otherwise": "by default",
    r"(tell|tells|told|telling) of": "report, say",
    r"in the manner of|as it were|so to speak": "like",
    r"(is|are|was|were) asked for": "is needed, is requested",
    r"com(e|es|ing) out (otherwise|above|below|lower|stronger|weaker)": "is, differs",
    r"(is|are|was|were) no (number|rotation|candidate|candidates|merit)": "is not a",
    r"mend(s|ed)?": "correct, repair",
    r"fellows?|its like": "the others, the same one",
    r"alike": "in the same way, equal",
    r"nobody|somebody's|nobody's": "no one, nothing, no process",
    r"as it stands|as they stand": "as written",
    r"(?<=[,;]) for (it|its|they|their|there|nobody|nothing|none|we|he|she|these|those)": "because",
    r"all but name|next to nothing|pull in different directions": "in effect, almost nothing, are in conflict",
}
PATTERNS = {re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE): words for pattern, words in INSTEAD.items()}


def texts() -> list[str]:
    """Every document, every module, and every example and benchmark, as paths from the root."""
    found = [
        *ROOT.glob("*.md"),
        *(path for folder in ("docs", "src", "examples", "benchmarks") for path in (ROOT / folder).rglob("*.md")),
        *(path for folder in ("src", "examples", "benchmarks") for path in (ROOT / folder).rglob("*.py")),
    ]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def unusual(text: str) -> list[str]:
    """Each word to avoid with its line and what to write instead; line breaks count as spaces."""
    flat = text.replace("\n", " ")
    return [
        f"line {text.count(chr(10), 0, match.start()) + 1}: {match.group()!r}: write {words}"
        for pattern, words in PATTERNS.items()
        for match in pattern.finditer(flat)
    ]


@pytest.mark.parametrize("path", texts())
def test_plain_words(path: str) -> None:
    assert not unusual((ROOT / path).read_text())


def test_unusual_words_are_found() -> None:
    text = "A map foretells\nit at the\nmost once, for it is ours.\nPredict it at most once, for a while."
    assert unusual(text) == [
        "line 1: 'foretells': write predict",
        "line 2: 'at the most': write at most, at least",
        "line 3: ' for it': write because",
    ]


def test_some_files_are_checked() -> None:
    assert {"README.md", "docs/guide.md", "docs/results/norb.md", "src/egoequiv/pairs/mining.py"} <= set(texts())
