"""Names of files and folders that are not UTF-8: as text to read, and for libraries that open no other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow.parquet as pq


def readable(name: str) -> str:
    """A name of a file or folder as text for everybody: bytes that are not UTF-8 are escaped, such as caf\\xe9."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@contextmanager
def named_in_utf8(path: Path) -> Iterator[Path]:
    """A name of the same file that is UTF-8, for a library that opens no other: the file's own, or a link."""
    if readable(str(path)) == str(path):
        yield path
        return
    with TemporaryDirectory() as folder:
        link = Path(folder) / "link"
        if readable(path.name) == path.name:  # the folder is linked: a file beside may belong to it
            link.symlink_to(path.parent.absolute())
            yield link / path.name
        else:
            link.symlink_to(path.absolute())
            yield link


@contextmanager
def parquet_file(path: Path) -> Iterator[pq.ParquetFile]:
    """A Parquet file, opened by Arrow itself, whatever the name.

    Arrow reads in threads of its own, which let go of what they hold when they like. A file or buffer of Python must
    not be among it: let go of after the end of Python, it ends the process with SIGABRT.
    """
    import pyarrow.parquet as pq

    with named_in_utf8(path) as named, pq.ParquetFile(named) as opened:
        yield opened
