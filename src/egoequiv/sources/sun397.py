"""SUN397 as it is distributed: classes below single letters, a list of classes, and ten partitions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from egoequiv.errors import DataError

PARTITIONS = range(1, 11)
_CLASS_LIST = "ClassName.txt"
_IMAGE_LISTS = {"train": "Training_{:02d}.txt", "test": "Testing_{:02d}.txt"}
_NAMES_SHOWN = 20

Images = Mapping[str, Collection[str]]  # from a folder, its path from the root, to the names of its images


class ClassFolder(NamedTuple):
    """The images of one class in one part; `part` is "" where there are no parts."""

    part: str
    name: str
    folder: str  # from the root
    files: Collection[str]


def count_names(what: str, names: Sequence[str], out_of: int | None = None) -> str:
    """A note such as "classes without a folder: 2 of 397 (abbey, zoo)", with the first names only if there are many."""
    shown = ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
    return f"{what}: {len(names)}{'' if out_of is None else f' of {out_of}'} ({shown})"


def is_letter(name: str) -> bool:
    """Whether a folder has a name under which SUN397 keeps classes."""
    return len(name) == 1 and name.isalpha()


def is_sun397(root: Path, images: Images) -> bool:
    """Whether folders are below single letters, as in a/abbey: all with images, or some if classes are listed."""
    folders = [name.split("/") for name in images if name]
    like_sun397 = [len(names) > 1 and is_letter(names[0]) for names in folders]
    return bool(folders) and (all(like_sun397) or (any(like_sun397) and _find(root, _CLASS_LIST) is not None))


def sun397_classes(root: Path, images: Images, partition: int | None) -> tuple[list[ClassFolder], list[str]]:
    """The classes of SUN397, in parts if there is a partition, and notes on what is missing or left out."""
    kept, notes = _keep_listed(root, images)
    if partition is None:
        return [ClassFolder("", _class_name(folder), folder, files) for folder, files in kept.items()], notes
    classes: list[ClassFolder] = []
    chosen: dict[str, set[str]] = {}
    for part, pattern in _IMAGE_LISTS.items():
        path = _find(root, pattern.format(partition))
        if path is None:
            raise DataError(
                f"{pattern.format(partition)} is not in {root}, not beside it and not in Partitions: "
                "get Partitions.zip from the page of SUN397, or leave out partition"
            )
        chosen[part] = set(_read_list(path, "/a/abbey/sun_x.jpg", 3))
        found = _keep_chosen(kept, chosen[part])
        classes += [ClassFolder(part, _class_name(folder), folder, files) for folder, files in found.items()]
        present = {f"{folder}/{file}" for folder, files in found.items() for file in files}
        missing = sorted(chosen[part] - present)
        if missing:
            notes.append(count_names(f"images of {path.name} that are missing", missing, len(chosen[part])))
    shared = sorted(chosen["train"] & chosen["test"])
    if shared:
        notes.append(count_names(f"images of partition {partition} in both train and test", shared))
    return classes, notes


def _keep_listed(root: Path, images: Images) -> tuple[dict[str, Collection[str]], list[str]]:
    """The folders that ClassName.txt lists, or all if there is no such file."""
    folders = {folder: files for folder, files in images.items() if folder}
    path = _find(root, _CLASS_LIST)
    if path is None:
        return folders, []
    listed = list(dict.fromkeys(_read_list(path, "/a/abbey", 2)))
    notes = []
    missing = [_class_name(folder) for folder in listed if folder not in folders and not (root / folder).is_dir()]
    if missing:
        notes.append(count_names(f"classes of {_CLASS_LIST} without a folder", missing, len(listed)))
    extra = sorted(set(folders) - set(listed))
    if extra:
        notes.append(count_names(f"folders that {_CLASS_LIST} does not list, left out", extra))
    return {folder: folders[folder] for folder in listed if folder in folders}, notes


def _keep_chosen(images: Images, chosen: set[str]) -> dict[str, Collection[str]]:
    kept = {folder: [file for file in files if f"{folder}/{file}" in chosen] for folder, files in images.items()}
    return {folder: files for folder, files in kept.items() if files}


def _class_name(folder: str) -> str:
    return folder.partition("/")[2]


def _find(root: Path, name: str) -> Path | None:
    beside = root.absolute().parent
    places = (root, root / "Partitions", beside, beside / "Partitions")
    return next((place / name for place in places if (place / name).is_file()), None)


def _read_list(path: Path, example: str, depth: int) -> list[str]:
    """The lines of a list, each a path of at least `depth` names, without the slash in front."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as problem:
        raise DataError(f"{path} is not text ({problem.reason} at byte {problem.start}); get the file again") from None
    except OSError as problem:
        raise DataError(f"{path} cannot be read: {problem.strerror}") from problem
    listed = []
    for row, line in enumerate(lines, 1):
        names = line.strip().strip("/")
        if names and names.count("/") + 1 < depth:
            raise DataError(f"{path}, row {row}: {line.strip()[:60]!r} is not a line like {example}")
        if names:
            listed.append(names)
    if not listed:
        raise DataError(f"{path} is empty: expected lines like {example}; get the file again")
    return listed
