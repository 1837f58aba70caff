"""What commands say of a folder of the program that is not the one they take."""

from pathlib import Path

import pytest

from running import Cli

MARKS = {
    "store": ("store.json",),
    "run": ("config.json", "model.json"),
    "export": ("config.json", "model.safetensors", "checksums.txt"),
    "search": ("selection.json",),
}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("evaluate", "store"), "store is a store, not a run (made by `egoequiv train`)"),
        (("evaluate", "search"), "search is the folder of a search, not a run"),
        (("evaluate", "gone"), "gone does not exist: expected a run"),
        (("embed", "store", "store"), "store is a store, not a run (made by `egoequiv train`) or a saved model"),
        (("serve", "search"), "search is the folder of a search, not a run"),
        (("export", "store", "-o", "out"), "store is a store, not a run"),
        (("info", "run"), "run is a run, not a frame store (made by `egoequiv ingest`)"),
        (("patterns", "export"), "export is an export, not a frame store"),
        (("inspect", "store"), "store is a store, not a log: `egoequiv info` shows it"),
        (("view", "export"), "export is an export, not a log: give the log or the store with the frames"),
        (("train", "search", "-o", "new"), "search is the folder of a search, not a log"),
        (("doctor", "gone"), "gone does not exist: give the path of a log"),
        (("report", "gone"), "gone does not exist: expected a folder of `egoequiv reproduce`"),
        (("report", "store"), "store is a store: give a folder of `egoequiv reproduce`"),
        (("compare", "store", "file"), "found 0; left out: store (a store), file (a file)"),
        (("audit", "store", "--store", "store"), "store is a store: expected a run (model.json)"),
    ],
)
def test_one_line_says_what_was_found(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    for folder, names in MARKS.items():
        Path(folder).mkdir()
        for name in names:
            Path(folder, name).write_text("{}")
    (line,) = cli(*words, code=2).err.splitlines()
    assert said in line
