"""How much memory and disk this machine has, asked before work that may need more."""

from __future__ import annotations

import os
import resource
import shutil
from pathlib import Path

from egoequiv.errors import ConfigError, DataError

# Where Linux says how much memory a container may use, uses, and for what: version 2 of control groups, then version 1.
_LIMITS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
    ),
)
_CACHES = ("inactive_file ", "active_file ")  # of files, which are given up where memory is needed


def whole_memory() -> int:
    """Bytes of memory of this machine, or what its container may use of them."""
    limits = [number for most, _, _ in _LIMITS if (number := _number(most)) is not None]
    return min([os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *limits])


def free_memory() -> int | None:
    """Bytes that this process can still get, as far as the machine, its container and its limits say; None: unknown."""
    known = []
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            known.append(1024 * int(line.split()[1]))
    for most, used, what_for in _LIMITS:
        limit, taken = _number(most), _number(used)
        if limit is not None and taken is not None:
            cached = sum(int(line.split()[1]) for line in _lines(what_for) if line.startswith(_CACHES))
            known.append(max(limit - max(taken - cached, 0), 0))
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        pages = _lines("/proc/self/statm")[:1]
        known.append(max(limit - (int(pages[0].split()[0]) * resource.getpagesize() if pages else 0), 0))
    return min(known, default=None)


def check_memory(what: str, needed: int) -> None:
    """Refuse what needs more memory than there is, in one line that says how much it needs."""
    free = free_memory()
    if free is not None and needed > free:
        raise ConfigError(f"{what}: this needs {size(needed)} of memory, and {size(free)} are free; choose less")


def check_fits(what: str, needed: int, folder: Path) -> None:
    """Refuse what does not fit on the disk of a folder, in one line that says how much it needs."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DataError(f"no room for {what}: this needs {size(needed)}, and {size(free)} are free in {folder}")


def size(count: int) -> str:
    """Bytes in words, such as 1.5 GB."""
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB")):
        if count >= unit:
            return f"{count / unit:,.1f} {name}" if count < 10**18 else f"more than {10**6:,} TB"
    return f"{count / 1000:,.1f} kB"


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return []


def _number(path: str) -> int | None:
    first = _lines(path)[:1]
    return int(first[0]) if first and first[0].isdigit() else None
