"""No part of a torch.export file gets to run code."""

from __future__ import annotations

import io
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import torch

from auditing.toys import TinyNet, posed_store
from egoequiv.auditing import load_audited
from egoequiv.models.foreign.archive import FORBIDDEN, FORCED, tensors_only
from helpers import data_error

STORE = posed_store(2)
Change = Callable[[str, bytes], dict[str, bytes]]


class Marking:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.path}",)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program for any number of images of many sizes."""
    sides = {0: torch.export.Dim("n"), 2: torch.export.Dim("h", min=8, max=64)}
    program = torch.export.export(TinyNet().eval(), (torch.zeros(2, 1, 12, 12),), dynamic_shapes=(sides,))
    path = tmp_path_factory.mktemp("export") / "good.pt2"
    torch.export.save(program, path)
    return path


def crafted(good: Path, path: Path, change: Change) -> Path:
    """A copy of an archive, with other parts in it."""
    with ZipFile(good) as archive, ZipFile(path, "w") as copy:
        for name in archive.namelist():
            for new_name, value in change(name, archive.read(name)).items():
                copy.writestr(new_name, value)
    return path


def saved(value: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


def sample_inputs(evil: Marking) -> Change:
    return lambda name, value: {name: saved(evil) if "sample_inputs" in name else value}


def plain_pickle(evil: Marking) -> Change:
    return lambda name, value: {name: pickle.dumps(evil) if "sample_inputs" in name else value}


def weights(evil: Marking) -> Change:
    def change(name: str, value: bytes) -> dict[str, bytes]:
        if "/weights/weight" in name:
            return {name: saved(evil)}
        return {name: value.replace(b'"use_pickle": false', b'"use_pickle": true')}

    return change


def constants(kind: str, stored_as: str, pickled: bytes) -> Change:
    described = {"path_name": f"{kind}_0", "is_param": False, "use_pickle": True, "tensor_meta": None}

    def change(name: str, value: bytes) -> dict[str, bytes]:
        if not name.endswith("constants_config.json"):
            return {name: value}
        config = json.dumps({"config": {"one": described}}).encode()
        return {name: config, f"{name.rpartition('/')[0]}/{stored_as}_0": pickled}

    return change


def tensors(evil: Marking) -> Change:
    return constants("tensor", "tensor", saved(evil))


def objects(evil: Marking) -> Change:
    return constants("opaque_obj", "OPAQUE_OBJ", pickle.dumps(evil))  # torch finds it in whatever case


def sizes(evil: Marking) -> Change:
    begin, code = b'"expr_str": "Symbol', f"__import__('os').system('touch {evil.path}') + Symbol"
    return lambda name, value: {name: value.replace(begin, f'"expr_str": "{code}'.encode())}


def compiled(_evil: Marking) -> Change:
    part = "data/aotinductor/model/net.so"
    return lambda name, value: (
        {name: value} | ({f"{name.partition('/')[0]}/{part}": b"x"} if name.endswith("/byteorder") else {})
    )


CRAFTED: dict[str, tuple[Callable[[Marking], Change], str]] = {
    "sample inputs": (sample_inputs, "nothing is unpickled here"),
    "a plain pickle": (plain_pickle, "nothing is unpickled here"),
    "weights": (weights, "nothing is unpickled here"),
    "constants": (tensors, "nothing is unpickled here"),
    "objects": (objects, "would have to be unpickled"),
    "sizes": (sizes, "is no size"),
    "compiled code": (compiled, "holds compiled code"),
}


@pytest.mark.parametrize("part", CRAFTED)
def test_no_code_of_a_file_is_run(part: str, good: Path, tmp_path: Path) -> None:
    change, words = CRAFTED[part]
    path = crafted(good, tmp_path / "crafted.pt2", change(Marking(tmp_path / "marker")))
    with data_error("crafted.pt2", words):
        load_audited(path, STORE)
    assert not (tmp_path / "marker").exists()


def test_a_copy_with_the_same_parts_is_loaded(good: Path, tmp_path: Path) -> None:
    path = crafted(good, tmp_path / "same.pt2", lambda name, value: {name: value})
    assert load_audited(path, STORE).features(STORE.images[:3]).shape == (3, 5)


def test_torch_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORBIDDEN, "1")
    monkeypatch.delenv(FORCED, raising=False)
    with tensors_only():
        assert (os.environ[FORCED], FORBIDDEN in os.environ) == ("1", False)
    assert (os.environ[FORBIDDEN], FORCED in os.environ) == ("1", False)
