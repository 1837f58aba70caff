"""Running a command in this process, without pytest's fixtures, so that `make` can do it too."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from unittest import mock

from egoequiv.cli.main import main


def run(*arguments: object) -> str:
    """What `egoequiv ARGUMENTS` prints on standard output, 80 columns wide; an error if it does not exit with 0."""
    out, err = io.StringIO(), io.StringIO()
    words = ["egoequiv", *map(str, arguments)]
    wide = mock.patch.dict(os.environ, {"COLUMNS": "80"})
    with wide, mock.patch.object(sys, "argv", words), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            if stop.code:
                raise AssertionError(f"{' '.join(words)} ended with {stop.code}: {err.getvalue()}") from stop
    return out.getvalue()
