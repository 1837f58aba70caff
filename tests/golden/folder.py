"""The committed folder of stores and runs, and copies of it that commands can work on.

    grid/, drive/            two stores: toys on a turntable, and drives with times and poses
    runs/                    equiv and drlim with labels (seeds 0, 1, 2), equiv without (seed 0), all on grid/
    drive-run/               equiv on drive/, with mined patterns
    reproduced/              the runs of `reproduce norb`; its store is a copy of grid/

To be small, weights are float16 and optimiser state is left out. Paths are written as @ROOT@.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from egoequiv.models.checkpoint import load_tensors, save_tensors

HERE = Path(__file__).parent
DATA, EXPECTED = HERE / "data", HERE / "expected.json"
PLACEHOLDER = "@ROOT@"
REPRODUCED = "reproduced"
COPIED_STORE = f"{REPRODUCED}/stores/turntable-2-12"  # the name that REPRODUCE leads to
STORE_STAMP = f"{COPIED_STORE}.json"  # says the store is the whole turntable, so that `reproduce` takes the small one
# `egoequiv REPRODUCE -o reproduced`: as small as the command can be. Finished runs are only measured.
REPRODUCE = ("reproduce", "norb", "--quick", "--methods", "drlim,equiv", "--repeats", "3", "--iterations", "400")
REPRODUCE += ("--size", "12", "--workers", "1")
LEFT_OUT = ("best.safetensors", ".lock", "evaluation-*", "*.png", "table.*", "command.json")  # made again when needed


def pack(work: Path, out: Path) -> None:
    """Write the stores and runs of a finished folder as they are committed."""
    if out.exists():
        shutil.rmtree(out)
    for path in sorted(work.rglob("*")):
        name = path.relative_to(work)
        if path.is_dir() or any(path.match(left) for left in LEFT_OUT) or str(name).startswith(f"{COPIED_STORE}/"):
            continue
        target = out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".safetensors":
            tensors, meta = load_tensors(path)
            half = {name: t.half() for name, t in tensors.items() if name.startswith("model.")}
            save_tensors(target, half, meta)
            target.chmod(0o644)
        elif path.suffix in (".json", ".jsonl"):
            target.write_text(path.read_text("utf-8").replace(str(work), PLACEHOLDER), encoding="utf-8")
        else:
            shutil.copyfile(path, target)


def copy_folder(root: Path) -> Path:
    """A copy of the committed folder at `root`, with whole weights and the paths of the copy."""
    shutil.copytree(DATA, root)
    shutil.copytree(root / "grid", root / COPIED_STORE)
    for path in root.rglob("*.json"):
        text = path.read_text("utf-8")
        if PLACEHOLDER in text:
            path.write_text(text.replace(PLACEHOLDER, json.dumps(str(root))[1:-1]), encoding="utf-8")
    for path in root.rglob("*.safetensors"):
        tensors, meta = load_tensors(path)
        save_tensors(path, {name: tensor.float() for name, tensor in tensors.items()}, meta)
    return root
