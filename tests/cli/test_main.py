"""The list of commands, which is shown without importing them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from egoequiv.cli.main import COMMANDS, load_command
from egoequiv.experiments import TABLES
from egoequiv.store import FrameStore
from running import Cli

CLI = Path(__file__).parents[2] / "src" / "egoequiv" / "cli"
SHARED = {"__init__", "main", "console", "settings"}  # modules that hold no command


@pytest.mark.parametrize("name", COMMANDS)
def test_a_listed_line_is_the_first_of_the_help_of_its_command(name: str) -> None:
    first = load_command(name).help.split("\n\n")[0]
    assert " ".join(first.split()) == COMMANDS[name]


def test_every_command_module_is_listed() -> None:
    modules = {path.stem for path in CLI.glob("*.py")} - SHARED
    for name in modules - set(COMMANDS):
        assert f"def {name}(" not in (CLI / f"{name}.py").read_text(), f"{name} is missing from COMMANDS"


def test_help_lists_all_commands(cli: Cli) -> None:
    shown = cli("--help").out
    assert [name for name in COMMANDS if f" {name} " not in shown] == []


@pytest.mark.parametrize("arguments", [["train", "-h"], ["reproduce", "norb", "--help"]])
def test_the_help_of_a_command_is_its_own(cli: Cli, arguments: list[str]) -> None:
    assert "--iterations" in cli(*arguments).out


def test_a_misspelt_command_is_suggested(cli: Cli) -> None:
    assert "'train'" in cli("trian", code=2).err


def test_no_help_imports_what_takes_long() -> None:
    script = (
        "import sys\n"
        "from egoequiv.cli.main import COMMANDS, load_command\n"
        "assert 'egoequiv.cli.train' not in sys.modules\n"
        "for name in COMMANDS: load_command(name)\n"
        "assert not {'torch', 'sklearn', 'numba', 'pyarrow', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def stopping(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_is_told_once_with_the_way_to_go_on(
    cli: Cli, small_store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("egoequiv.training.run_training", stopping)
    out = tmp_path / "a run"
    train = ["train", small_store.path, "-o", out, "--method", "equiv"]
    assert cli(*train, code=130).err == "stopped; nothing was trained yet; to start again, repeat the command\n"

    def stopped_after(*files: str) -> str:
        def begin(*_: object, **__: object) -> None:
            out.mkdir()
            for file in files:
                (out / file).touch()
            raise KeyboardInterrupt

        monkeypatch.setattr("egoequiv.training.run_training", begin)
        said = cli(*train, code=130).err
        shutil.rmtree(out)
        return said

    said = stopped_after("config.json")
    assert said.startswith(
        "stopped; go on from the beginning, because no checkpoint is saved yet, with: egoequiv train -o "
    )
    said = stopped_after("config.json", "last.safetensors")
    assert said == f"stopped; go on from the last checkpoint with: egoequiv train -o '{out}' --resume\n"
    monkeypatch.setitem(TABLES, "norb", stopping)
    said = cli("reproduce", "norb", "--quick", "-o", tmp_path / "table", code=130).err
    assert said == "stopped; finished work is kept; to continue, repeat the command\n"
    monkeypatch.setattr("egoequiv.auditing.audit", stopping)
    said = cli("audit", "pixels", "--store", small_store.path, code=130).err
    assert said == "stopped; nothing was saved; to start again, repeat the command\n"
