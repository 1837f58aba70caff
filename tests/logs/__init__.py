"""Small logs of every format, written by the tests themselves: `logs.NAME.prepare(folder)` for docs/formats/NAME.md."""
