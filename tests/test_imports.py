"""The direction of imports: data walks down one line, and no module looks further down than its own station."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "egoequiv"
WORLDS = SOURCE.with_name("egoequiv_worlds")
SCENES = {"toys", "street", "place"}

# A module may import from its own station and from those before it.
STATIONS = [
    {"errors"},
    {"blocks", "cache", "compiled", "file_names", "files", "machine", "plurals", "processes", "progress"}
    | {"remarks", "user_code"},
    {"markdown", "names", "signatures"},
    {"engines"},
    {"pose"},
    {"sources"},
    {"catalog"},
    {"odometry"},
    {"store"},
    {"doctor"},
    {"pairs"},
    {"models"},
    {"losses"},
    {"methods"},
    {"method_names"},
    {"training"},
    {"planning"},
    {"evaluation"},
    {"auditing"},
    {"exporting"},
    {"experiments"},
    {"report"},
    {"serving"},
    {"cli"},
]
STATION_OF = {name: number for number, names in enumerate(STATIONS) for name in names}
ENTRANCES = ("__init__.py", "__main__.py")
MODULES = sorted(p for p in SOURCE.rglob("*.py") if p.relative_to(SOURCE).parts[0] not in ENTRANCES)


def imported(path: Path, package: str = "egoequiv") -> set[str]:
    """The stations of a package that a module imports, wherever in the file it does so."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == package and len(parts) > 1 and parts[1] != "__version__":
                found.add(parts[1])
    return found


def test_imports_point_up_the_line() -> None:
    for path in MODULES:
        own = STATION_OF[path.relative_to(SOURCE).parts[0].removesuffix(".py")]
        for name in imported(path):
            assert STATION_OF[name] <= own, f"{path.relative_to(SOURCE)} must not import egoequiv.{name}"


def test_worlds_are_found_by_name_alone() -> None:
    for path in [*MODULES, *(SOURCE / name for name in ENTRANCES)]:
        assert not imported(path, "egoequiv_worlds"), path


@pytest.mark.parametrize("path", sorted(WORLDS.rglob("*.py")), ids=lambda path: str(path.relative_to(WORLDS)))
def test_worlds_know_sources_and_their_renderer_knows_no_world(path: Path) -> None:
    assert all(STATION_OF[name] <= STATION_OF["sources"] for name in imported(path))
    own, others = path.relative_to(WORLDS).parts[0], imported(path, "egoequiv_worlds")
    if own == "render":
        assert others <= {"render"}
    elif own == "things":
        assert others <= {"render", "things"}
    elif own in SCENES:
        assert others <= {own, "render", "things"}


def test_every_package_has_a_station() -> None:
    assert {p.relative_to(SOURCE).parts[0].removesuffix(".py") for p in MODULES} == set(STATION_OF)


@pytest.mark.parametrize("statement", ["import egoequiv", "import egoequiv.cli.main"])
def test_help_does_not_import_torch(statement: str) -> None:
    check = (
        f"{statement}; import sys; assert not {{'torch', 'sklearn', 'numba', 'pyarrow', 'fastapi'}} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", check], check=True)
