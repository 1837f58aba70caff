"""Pictures that come with a pose each, as a matrix: no clock is needed to bring them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.pose.camera import Lens
from egoequiv.pose.conventions import are_rotations
from egoequiv.pose.track import PoseTrack
from egoequiv.sources.logged import LoggedRecording, PictureFiles
from egoequiv.sources.sequences import named, present
from egoequiv.sources.trees import Tree

Array = NDArray[np.float64]


def posed_pictures(
    name: str,
    tree: Tree,
    files: Sequence[str | None],
    names: Sequence[str],
    matrices: Array,
    axes: str,
    notes: list[str],
    *,
    times_s: Array | None = None,
    attributes: Mapping[str, str] | None = None,
    lens: Lens | None = None,
) -> LoggedRecording:
    """A recording of pictures with a pose each; pictures that are missing and poses that are not valid are counted.

    Args:
        name: of the recording.
        tree: where the files are.
        files: N paths in the tree, None for pictures that are missing.
        names: how the data set names the pictures, for messages.
        matrices: T_world_camera, (N, 3 or 4, 4).
        axes: where x, y and z of the camera point, a name of `CONVENTIONS`.
        notes: what was left out is added.
        times_s: (N,) if there are any.
        attributes: of the recording.
        lens: of the camera.

    """
    if not len(files):
        raise DataError(f"{name} has no pictures")
    there, at = present(files, names, name, notes)
    if not there:
        raise DataError(f"{name}: none of its {len(files)} pictures is there, such as {named(names[0])}")
    matrices = matrices[at]
    valid = np.isfinite(matrices[:, :3]).all(axis=(1, 2)) & are_rotations(matrices[:, :3, :3])
    rows = np.flatnonzero(valid)
    if len(rows) < len(valid):
        first = int(np.flatnonzero(~valid)[0])
        values = " ".join(f"{value:.3g}" for value in matrices[first, :3, :3].ravel())
        reason = (
            f"{name}: {len(valid) - len(rows)} of {len(valid)} poses left out, not a rotation and a position in "
            f"numbers; first that of {named(names[at[first]])} with the rotation {values}"
        )
        if not len(rows):
            raise DataError(reason)
        notes.append(reason)
    track = PoseTrack.of(np.arange(len(rows)), matrices[rows, :3, 3], matrices[rows, :3, :3], name, axes=axes)
    times = None if times_s is None else times_s[at][rows]
    return LoggedRecording(
        name=name,
        poses=np.concatenate([track.position_m, track.quaternion], axis=1),
        times_s=None if times is None else times - times[0],
        reader=PictureFiles(tree, tuple(there)),
        rows=rows,
        attributes=dict(attributes or {}),
        numbers=at[rows],
        lens=lens,
    )
