"""Counts in words."""

import pytest

from egoequiv.plurals import plural


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 queries are"), (1, "1 query is"), (2, "2 queries are"), (1_000, "1,000 queries are")]
)
def test_one_is_singular(count: int, words: str) -> None:
    assert plural(count, "query is", "queries are") == words
    assert plural(count, "frame") == f"{count:,} {'frame' if count == 1 else 'frames'}"
