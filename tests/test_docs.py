"""The commands and snippets of the README and the docs run as written there, on less data and with fewer iterations."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest

import egoequiv
import egoequiv_worlds
from egoequiv.cli.main import load_command
from egoequiv.experiments import driving, norb
from egoequiv.sources.formats import FORMATS
from helpers import draw_small_drives, draw_small_toys, draw_small_worlds, matrix_bytes, walk_less
from running import Cli, Finished, make_cli

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)

# Options added to a command so that a test does not take minutes; nothing is removed. Worlds are drawn small.
SETTINGS = {
    "turntable": {"toys_per_category": 1, "lightings": 2, "size": 32},
    "drive": {"seconds": 4, "width": 124, "height": 38},
    "places": {"images_per_class": 14, "width": 124, "height": 38},
}
WORLDS = {
    name: [part for key, value in own.items() for part in ("--set", f"{key}={value}")] for name, own in SETTINGS.items()
}
FEW = ["--iterations", "3", "--set", "batch_size=8"]  # of the default method, whose batches are large
TABLE = ["--methods", "clsnet,equiv", "--repeats", "1", "--no-select", "--workers", "1"]
SEARCH = ["--iterations", "50", "--rates", "0.01", "--seeds", "1", "--workers", "1"]
SHORTER = {
    **{f"ingest {name}": [*settings, "--workers", "1"] for name, settings in WORLDS.items()},
    **{f"render {name}": settings for name, settings in WORLDS.items()},
    "search toys": [*SEARCH, "--rate-seeds", "1", "--weights", "1"],
    "audit resnet-run": ["--limit", "60"],
    "train drives": ["--iterations", "20"],
    "train drives-32": ["--iterations", "20"],
    "train video": ["--iterations", "3"],
    "train toys-32": ["--iterations", "2", "--set", "batch_size=8"],
    "train": ["--iterations", "50"],
    "report": ["--task", "slowness", "--workers", "1"],
    "search": [*SEARCH, "--weights", "1"],
    "reproduce tasks": [],
    "reproduce norb": ["--iterations", "20", "--size", "16", *TABLE],
    "reproduce": ["--iterations", "2", *TABLE],
}


# The same for the snippets of the README, which run as a file of their own.
LESS = {"lightings=2)": "lightings=2, size=32)", "iterations=50)": "iterations=3, batch_size=8)"}

# A block of Python that begins with `# name.py` is a file beside the user; the pages below docs/extend have them.
FILE = re.compile(r"# ([\w/]+\.py)\n")
EXTEND = [page for page in PAGES if page.parent.name == "extend"]


def blocks(page: Path, language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(page.read_text()) if found == language]


def commands(page: Path) -> list[list[str]]:
    """The words of each command of a page that is run."""
    lines = "".join(blocks(page, "console")).splitlines()
    return [words for words in (shlex.split(line, comments=True) for line in lines) if words]


# Commands that take long: if the README has one and a page below docs has it too, perhaps with more options, it is run
# there.
LONG = (["reproduce"], ["export"], ["evaluate", "run", "--task", "plan"])


# Commands that a test of their own runs, and checks what they write.
TESTED = {"reproduce beyond --quick": "cli/test_beyond.py"}


def is_run_elsewhere(words: list[str], page: Path) -> bool:
    """Whether a test of its own runs a command, or a page below docs the same long command as the README."""
    if " ".join(words[1:4]) in TESTED:
        return True
    if page != README or not any(words[1 : 1 + len(start)] == start for start in LONG):
        return False
    return any(words == other[: len(words)] for one in PAGES if one != README for other in commands(one))


def shortened(arguments: list[str], page: Path | None = None) -> list[str]:
    if page is not None and page.parent.name == "formats" and arguments[0] == "train":
        return [*arguments, *FEW, *([] if "--size" in arguments else ["--size", "32"])]
    if arguments[:4] == ["train", "toys", "--method", "recording+motion"]:  # the default method by its name
        return [*arguments, *FEW]
    if arguments[0] == "train" and not {"--method", "--resume"} & set(arguments):
        return [*arguments, *FEW, *(["--size", "32"] if arguments[1] == "my-log" else [])]
    for start, more in SHORTER.items():
        if arguments[: len(start.split())] == start.split() and "--resume" not in arguments:
            return arguments + more
    return arguments


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the worlds that the pages draw, one for all workers of the tests."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "drawn"
    folder.mkdir(exist_ok=True)
    return folder


def drawing(arguments: list[str]) -> str | None:
    """What a command draws, wherever it goes and in whatever order it is said; None if it draws no world."""
    if arguments[0] not in ("ingest", "render") or arguments[1] not in WORLDS:
        return None
    out = arguments.index("-o")
    words = arguments[:out] + arguments[out + 2 :]
    settings = dict(word.split("=") for before, word in pairwise(words) if before == "--set")
    others = [word for before, word in pairwise(["", *words]) if "--set" not in (before, word)]
    return json.dumps([others, sorted(settings.items())])


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], drawn: Path) -> Cli:
    """Runs commands; a world that another page has drawn in the same way is copied."""
    run = make_cli(monkeypatch, capsys)

    def run_or_copy(*arguments: object, code: int = 0) -> Finished:
        words = [str(word) for word in arguments]
        world = drawing(words)
        if world is None:
            return run(*words, code=code)
        kept, out = drawn / sha256(world.encode()).hexdigest(), words[words.index("-o") + 1]
        if kept.exists():
            shutil.copytree(kept, out)
            return Finished("", "")
        done = run(*words, code=code)
        copy = Path(shutil.copytree(out, drawn / f"{kept.name}.{os.getpid()}"))
        with suppress(OSError):  # another worker has drawn it too
            copy.rename(kept)
        return done

    return run_or_copy


def write_toys(folder: Path) -> None:
    """Small NORB files of 25 toys on the full grid under one lighting, 8 x 8 pixels."""
    folder.mkdir()
    grid = np.array([(c, i, e, 2 * a, 0) for c in range(5) for i in range(5) for e in range(9) for a in range(18)])
    category, instance, elevation, azimuth, _ = grid.T
    y, x = np.mgrid[0:8, 0:8] / 4 - 1
    toy = (5 * category + instance)[:, None, None]
    angle = np.deg2rad(10 * azimuth)[:, None, None]
    pixels = 120 + 60 * np.sin(toy + 2 * x + angle) + 40 * np.cos(toy * y + elevation[:, None, None] / 4)
    images = np.repeat(pixels.astype(np.uint8)[:, None], 2, axis=1)
    for kind, values in (("dat", images), ("cat", category.astype(np.int32)), ("info", grid[:, 1:].astype(np.int32))):
        (folder / f"smallnorb-5x01235x9x18x6x2x96x96-testing-{kind}.mat").write_bytes(matrix_bytes(values))


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.slow
@pytest.mark.parametrize("page", EXTEND, ids=lambda page: page.stem)
def test_the_files_commands_and_snippets_of_extensions_run_in_their_order(
    page: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for language, text in BLOCK.findall(page.read_text()):
        file = FILE.match(text)
        if language == "python" and file:
            (tmp_path / file[1]).write_text(text)
        elif language == "python":
            exec(compile(text, f"{page.name}, a snippet", "exec"), {"__name__": "__main__"})
        elif language == "console":
            for line in text.splitlines():
                words = shlex.split(line, comments=True)
                assert words[0] == "egoequiv", line
                cli(*shortened(words[1:]))
        else:
            assert language == "toml", f"{page.name}: who runs {language}?"


def with_marks(page: Path) -> Any:
    """A page, marked if one of its commands needs a Ray cluster."""
    return pytest.param(page, marks=[pytest.mark.ray] if any("ray" in words for words in commands(page)) else [])


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [with_marks(p) for p in PAGES if blocks(p, "console") and p not in EXTEND],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_commands_run(
    page: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if request.node.get_closest_marker("ray"):
        assert request.getfixturevalue("ray_engine").workers == 2  # connected: commands take the cluster that is there
    monkeypatch.chdir(tmp_path)
    drawn = replace(driving.QUICK, drives_per_area=2, seconds=4.0, images_per_class=14)
    monkeypatch.setattr(driving, "QUICK", drawn)
    monkeypatch.setattr(norb, "QUICK", replace(norb.QUICK, lightings=1))
    draw_small_toys(monkeypatch)
    draw_small_drives(monkeypatch)
    draw_small_worlds(monkeypatch)
    walk_less(monkeypatch)
    if page.parent.name == "formats":
        import_module(f"logs.{page.stem.replace('-', '_')}").prepare(tmp_path)
    else:
        write_toys(tmp_path / "smallnorb")
    if page.name == "scenes.md":
        cli("render", "drive", "-o", "kitti", "--set", "drives_per_area=2", *WORLDS["drive"])
    for words in commands(page):
        line = shlex.join(words)
        if words[0] in ("git", "cd") or is_run_elsewhere(words, page):
            continue
        if words[0] == "make":
            assert set(words[1:]) <= make_targets(), line
            continue
        if words[0] == "torchrun":
            start = words.index("egoequiv") + 1
            launch = [sys.executable, "-m", "torch.distributed.run", *words[1:start], *shortened(words[start:])]
            subprocess.run(launch, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True)
            continue
        assert words[0] == "egoequiv", f"{page.name}: {line} is neither make nor egoequiv"
        cli(*shortened(words[1:], page))


def test_commands_with_a_test_of_their_own_have_one() -> None:
    for command, file in TESTED.items():
        assert ", ".join(f'"{word}"' for word in command.split()) in (ROOT / "tests" / file).read_text()


def test_every_format_has_a_page_with_the_two_commands() -> None:
    """The page of each source that reads a log: `inspect LOG` and `train LOG -o run`, and a link from docs/logs.md."""
    others = {"norb": "guide", "kitti": "kitti", "kitti-odometry": "kitti"}
    linked = (ROOT / "docs" / "logs.md").read_text()
    for source in {one.source for one in FORMATS}:
        assert f"{others.get(source, source)}.md)" in linked, source
        if source not in others:
            first = blocks(ROOT / "docs" / "formats" / f"{source}.md", "console")[0]
            log = re.search(r"^egoequiv inspect (\S+)", first, re.MULTILINE)
            assert log, source
            assert f"egoequiv train {log[1]} -o run" in first


def test_options_of_long_commands_exist() -> None:
    """Commands in `sh` blocks need real data or hours: they are parsed, not run."""
    parsed = 0
    for page in PAGES:
        for line in "".join(blocks(page, "sh")).replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["egoequiv"]:
                parse(load_command(words[1]), words[2:])
                parsed += 1
    assert parsed >= 10


def parse(command: Any, words: list[str]) -> None:
    """Fail if a word is not a command, an option or an argument that is expected there."""
    while hasattr(command, "commands"):  # a group
        assert words[0] in command.commands, words
        command, words = command.commands[words[0]], words[1:]
    command.make_context(command.name, list(words))


@pytest.mark.parametrize("words", ["reproduce nrb", "reproduce norb -o a --iteration 3", "audit a --stor b"])
def test_words_that_no_command_knows_are_found(words: str) -> None:
    name, *others = words.split()
    with pytest.raises(Exception, match=r"nrb|No such option"):
        parse(load_command(name), others)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [p for p in PAGES if blocks(p, "python") and p not in EXTEND], ids=lambda page: str(page.relative_to(ROOT))
)
def test_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "\n".join(blocks(page, "python"))
    if page.name != "README.md":  # one page in a process of its own, the others without its seconds of imports
        monkeypatch.chdir(tmp_path)
        exec(compile(script, f"the snippets of {page.name}", "exec"), {"__name__": "__main__"})
        return
    for long, short in LESS.items():
        assert long in script, f"the snippets of {page.name} have no {long} to be replaced by {short}"
        script = script.replace(long, short)
    # Worker processes import the main module: a snippet run as a file must not start itself again in them.
    guarded = "if __name__ == '__main__':\n" + "\n".join(f"    {line}" for line in script.splitlines())
    snippet = tmp_path / "snippet.py"
    snippet.write_text(guarded)
    subprocess.run([sys.executable, str(snippet)], cwd=tmp_path, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(example.parent)
    monkeypatch.setattr(sys, "argv", [str(example)])
    open_source, train, drive = egoequiv.open_source, egoequiv.train, egoequiv_worlds.drive
    small = {"turntable": {"size": 32}}
    monkeypatch.setattr(egoequiv, "open_source", lambda name, **own: open_source(name, **own, **small.get(name, {})))
    monkeypatch.setattr(egoequiv, "train", lambda **own: train(**own | {"iterations": 20}))
    monkeypatch.setattr(
        egoequiv_worlds, "drive", lambda **own: drive(**own | {"seconds": min(16.0, own.get("seconds", 16.0))})
    )
    run_path(str(example), run_name="__main__")


def test_links_lead_somewhere() -> None:
    pages = [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_links_to_sections_lead_to_one() -> None:
    for page in PAGES:
        for target, section in re.findall(r"\]\(([^)#]*)#([^)]+)\)", page.read_text()):
            if not target.startswith("http"):
                heads = re.findall(r"^#+ (.+)$", (page.parent / (target or page.name)).read_text(), re.MULTILINE)
                anchors = [re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads]
                assert section in anchors, f"{page.name} links to {target}#{section}"


def test_architecture_names_every_module() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    words = set(re.findall(r"[a-z_0-9]+", text))
    for module in sorted((ROOT / "src").rglob("*.py")):
        alone = module.parent.name in ("cli", "report", "evaluation", "losses")  # described as a whole
        if not module.name.startswith("_") and not alone and not module.name.startswith("toy_"):
            assert module.stem in words, f"ARCHITECTURE.md does not mention {module.relative_to(ROOT)}"
