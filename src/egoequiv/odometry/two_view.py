"""Rotation and direction of travel between two pictures, from points that both show."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from egoequiv.odometry.features import opencv
from egoequiv.odometry.plane import motions_of_plane
from egoequiv.pose.camera import Lens
from egoequiv.pose.conventions import axes_matrix

Array = NDArray[np.float64]

FEWEST = 16  # matches and inliers below which nothing is said
STILL_PX = 0.25  # pictures that shift by less than this (median) show no motion
NOISE_PX = 0.6  # of a point that was found again
_REACH = 3.0  # points further off than so many times the noise are wrong matches
_TOO_SMALL = 3.0  # errors are so much larger than those of points that err independently, in the embedded drive
_CANCELLING = 0.1  # cost of a rotation as far from that of a camera that only turns as points have moved
_OTHER_RAD = 0.01  # rotations further apart are different answers
_RIVAL = 6.0  # another answer whose points are together no worse than by so many squared noises fits as well
_ROUNDS = 8  # of refinement
_UNSURE_DEG = 1.0  # a rotation known no better than this is not told
_UNSURE_DIRECTION_DEG = 30.0


@dataclass(frozen=True)
class Step:
    """What two pictures say about the motion between them, in the axes of the first camera: x forward, y left, z up."""

    rotation_deg: Array  # (3,) rotation vector of the second camera; NaN: cannot tell
    direction: Array  # (3,) of length 1, towards the second camera; 0 if it stands still; NaN: cannot tell
    rotation_error_deg: float  # one standard error
    direction_error_deg: float
    matches: int
    inliers: int
    flow: float  # median shift of the points, in widths of the picture
    reason: str = ""  # why something cannot be told

    @classmethod
    def unknown(cls, reason: str, matches: int = 0, inliers: int = 0, flow: float = np.nan) -> Step:
        """A step of which nothing can be told."""
        nothing = np.full(3, np.nan)
        return cls(nothing, nothing, np.nan, np.nan, matches, inliers, flow, reason)


def two_view_step(first: Array, second: Array, lens: Lens, size: tuple[int, int]) -> Step:
    """The motion between two pictures.

    Two explanations are tried: a rotation alone, and a scene with depth (the essential matrix). The one that explains
    the points best for its number of free values is taken (the criterion is Torr's GRIC).

    Args:
        first: (M, 2) points in pixels of the first picture.
        second: (M, 2) the same points in the second one.
        lens: of the camera.
        size: height and width of the pictures.

    Returns:
        Rotation and direction with their errors, or why they cannot be told.

    """
    matches = len(first)
    if matches < FEWEST:
        return Step.unknown("few matches", matches)
    shift = np.linalg.norm(second - first, axis=1)
    flow = float(np.median(shift)) / size[1]
    if np.median(shift) < STILL_PX:
        still = NOISE_PX / np.sqrt(matches) / (lens.focal_x * size[1])
        return Step(np.zeros(3), np.zeros(3), float(np.rad2deg(still)), np.nan, matches, matches, flow, "still")
    focal = float(np.sqrt(lens.focal_x * size[1] * lens.focal_y * size[0]))
    a, b = rays(first, lens, size), rays(second, lens, size)
    noise = NOISE_PX / focal
    turn, turn_residual = rotation_alone(a, b, noise)
    solved = scene_with_depth(a, b, noise, turn)
    turn_score = gric(turn_residual / noise, dimension=2, free=3)
    if solved is None or turn_score <= gric(solved.residual / noise, dimension=3, free=5):
        return _pure_rotation(turn, turn_residual, a, noise, matches, flow)
    return _moving(solved, matches, flow)


@dataclass(frozen=True)
class Solved:
    """A motion that explains points by the depth of the scene."""

    rotation: Array  # (3, 3): a point X of the first camera is rotation X + translation in the second
    translation: Array  # (3,) of length 1
    residual: Array  # (M,) distance from the epipolar line, as an angle
    used: NDArray[np.bool_]  # (M,) inliers
    covariance: Array  # (5, 5) of the rotation (3) and of the translation in its tangent plane (2), squared radians
    behind: NDArray[np.bool_]  # (M,) points that would lie clearly behind a camera
    rival_rad: float = 0.0  # how far off another rotation is that explains the points as well, if they are of one plane

    @property
    def in_front(self) -> float:
        """The share of the inliers that are not behind a camera."""
        return 1.0 - float(self.behind[self.used].mean()) if self.used.any() else 0.0


def _moving(solved: Solved, matches: int, flow: float) -> Step:
    error = _TOO_SMALL * float(np.rad2deg(np.sqrt(np.trace(solved.covariance[:3, :3]) / 3)))
    direction_error = _TOO_SMALL * float(np.rad2deg(np.sqrt(np.trace(solved.covariance[3:, 3:]))))
    inliers = int(solved.used.sum())
    if inliers < FEWEST:
        return Step.unknown("few inliers", matches, inliers, flow)
    rival = float(np.rad2deg(solved.rival_rad)) / 2
    if rival >= _UNSURE_DEG:
        return Step.unknown("two motions fit", matches, inliers, flow)
    error = max(error, rival)
    if not error < _UNSURE_DEG:
        return Step.unknown("rotation not certain", matches, inliers, flow)
    rotation = _rotation_vector(solved.rotation.T)
    direction = axes_matrix("opencv") @ (-solved.rotation.T @ solved.translation)
    told = direction_error < _UNSURE_DIRECTION_DEG and solved.in_front > 0.75
    return Step(
        rotation,
        direction if told else np.full(3, np.nan),
        error,
        direction_error,
        matches,
        inliers,
        flow,
        "" if told else "direction not certain",
    )


def _pure_rotation(turn: Array, residual: Array, rays: Array, noise: float, matches: int, flow: float) -> Step:
    inliers = int((residual < _REACH * noise).sum())
    if inliers < max(FEWEST, matches // 4):
        return Step.unknown("few inliers", matches, inliers, flow)
    spread = float(np.sqrt(np.square(residual[residual < _REACH * noise]).mean() / 2))
    wide = max(float(np.sqrt(np.square(rays[:, :2]).sum(axis=1).mean())), 1e-3)  # roll needs points off the centre
    error = float(np.rad2deg(max(spread, noise / 4) / np.sqrt(inliers) * np.sqrt((2 + 1 / wide**2) / 3)))
    if not error < _UNSURE_DEG:
        return Step.unknown("rotation not certain", matches, inliers, flow)
    return Step(_rotation_vector(turn.T), np.full(3, np.nan), error, np.nan, matches, inliers, flow, "rotation alone")


def rays(points: Array, lens: Lens, size: tuple[int, int]) -> Array:
    """Points in pixels as x and y at distance 1, and 1: (M, 3)."""
    matrix = lens.matrix(size)
    if lens.distortion:
        cv2 = opencv()
        flat = cv2.undistortPoints(points[:, None], matrix, np.asarray(lens.distortion, np.float64))[:, 0]
    else:
        flat = (points - matrix[:2, 2]) / np.diag(matrix)[:2]
    return np.concatenate([flat, np.ones((len(flat), 1))], axis=1)


def rotation_alone(a: Array, b: Array, noise: float) -> tuple[Array, Array]:
    """The rotation (3, 3) that brings rays `a` nearest to rays `b`, wrong matches aside, and what remains (M,)."""
    unit_a, unit_b = (rays / np.linalg.norm(rays, axis=1, keepdims=True) for rays in (a, b))
    weight = np.ones(len(a))
    rotation, residual = np.eye(3), np.zeros(len(a))
    for _ in range(2 * _ROUNDS):
        u, _, v = np.linalg.svd((unit_b * weight[:, None]).T @ unit_a)
        rotation = u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v
        residual = np.linalg.norm(unit_a @ rotation.T - unit_b, axis=1)
        scale = max(float(np.median(residual)), noise)
        weight = 1.0 / (1.0 + np.square(residual / scale)) ** 2
    return rotation, residual


def scene_with_depth(a: Array, b: Array, noise: float, turn: Array) -> Solved | None:
    """The essential matrix by RANSAC, then refined on all points that agree."""
    cv2 = opencv()
    essential, _ = cv2.findEssentialMat(
        a[:, :2], b[:, :2], np.eye(3), method=cv2.RANSAC, prob=0.999, threshold=1.5 * noise, maxIters=500
    )
    starts: list[tuple[Array, Array]] = []
    if essential is not None and essential.shape == (3, 3):
        one, other, translation = cv2.decomposeEssentialMat(essential)
        starts += [(rotation, translation[:, 0]) for rotation in (one, other)]
    starts += [(turn, np.eye(3)[axis]) for axis in range(3)]
    of_plane = motions_of_plane(a, b, _REACH * noise)
    starts += of_plane
    tried = [refined(rotation, translation, a, b, noise) for rotation, translation in starts]
    found = [solved for solved in tried if solved is not None]
    if not found:
        return None
    flow = max(float(np.median(np.linalg.norm(a - b, axis=1))), noise)
    best = found[int(np.argmin([_cost(solved, noise, turn, flow) for solved in found]))]
    rivals = [solved for solved in found if _angle(solved.rotation, best.rotation) > _OTHER_RAD]
    fit = _badness(best, noise).sum()
    as_good = [rival for rival in rivals if of_plane and _badness(rival, noise).sum() <= fit + _RIVAL]
    return replace(best, rival_rad=max((_angle(rival.rotation, best.rotation) for rival in as_good), default=0.0))


def _cost(solved: Solved, noise: float, turn: Array, flow: float) -> float:
    """Robust cost; a point behind the cameras explains nothing, like one off its line.

    A pan that a shift to the side cancels, so that points hardly move, would need them all at one distance. Points of
    little parallax fit it nearly as well as the truth, so it costs more.
    """
    return float(_badness(solved, noise).mean()) + _CANCELLING * (_angle(solved.rotation, turn) / flow) ** 2


def _badness(solved: Solved, noise: float) -> Array:
    """How badly each point is explained (M,), in squared noises."""
    robust = np.minimum(np.square(solved.residual / noise), _REACH**2)
    return np.where(solved.behind, _REACH**2, robust)


def _angle(one: Array, other: Array) -> float:
    """The angle between two rotations (3, 3), in radians."""
    return float(np.arccos(np.clip((np.trace(one.T @ other) - 1.0) / 2.0, -1.0, 1.0)))


def refined(rotation: Array, translation: Array, a: Array, b: Array, noise: float) -> Solved | None:
    """Gauss-Newton on the distance from epipolar lines, with weights against wrong matches."""
    normal = np.eye(5)
    variance = noise**2
    residual = np.zeros(len(a))
    for _ in range(_ROUNDS):
        residual, jacobian, tangent = _epipolar(rotation, translation, a, b)
        scale = max(1.4826 * float(np.median(np.abs(residual))), noise / 2)
        weight = 1.0 / (1.0 + np.square(residual / scale)) ** 2
        normal = jacobian.T @ (jacobian * weight[:, None]) + 1e-9 * np.eye(5)
        step: Array = -np.linalg.solve(normal, jacobian.T @ (weight * residual)).astype(np.float64)
        if not np.isfinite(step).all() or np.abs(step).max() > 1.0:
            return None
        rotation = _small_rotation(step[:3]) @ rotation
        translation = translation + tangent @ step[3:]
        translation = translation / np.linalg.norm(translation)
        variance = float((weight * np.square(residual)).sum() / max(weight.sum() - 5.0, 1.0))
    residual, _, _ = _epipolar(rotation, translation, a, b)
    used = np.abs(residual) < _REACH * noise
    behind, other = (_behind(rotation, sign * translation, a, b, noise) for sign in (1.0, -1.0))
    if behind[used].sum() > other[used].sum():
        translation, behind = -translation, other
    covariance: Array = (np.linalg.inv(normal) * variance).astype(np.float64)
    return Solved(rotation, translation, np.abs(residual), used, covariance, behind)


def _epipolar(rotation: Array, translation: Array, a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Sampson distances (M,), their derivatives (M, 5), and a basis (3, 2) of the plane in which translations turn."""
    turned = a @ rotation.T
    essential = _cross_matrix(translation) @ rotation
    line_b, line_a = a @ essential.T, b @ essential
    length = np.sqrt(np.square(line_b[:, :2]).sum(axis=1) + np.square(line_a[:, :2]).sum(axis=1))
    length = np.maximum(length, 1e-12)
    residual = (b * line_b).sum(axis=1) / length
    tangent = np.linalg.svd(translation[None])[2][1:].T
    by_rotation = np.cross(turned, np.cross(b, translation))
    by_translation = np.cross(turned, b) @ tangent
    return residual, np.concatenate([by_rotation, by_translation], axis=1) / length[:, None], tangent


def _behind(rotation: Array, translation: Array, a: Array, b: Array, noise: float) -> NDArray[np.bool_]:
    """Which points would lie behind a camera, by more than their noise explains; (M,)."""
    turned = a @ rotation.T
    across = np.cross(turned, b)  # depth_b b = depth_a turned + translation
    depth_a = -(np.cross(translation, b) * across).sum(axis=1)
    depth_b = -(np.cross(translation, turned) * across).sum(axis=1)
    shift = np.linalg.norm(across, axis=1)  # how far a point has moved besides the rotation
    behind: NDArray[np.bool_] = ((depth_a < 0) | (depth_b < 0)) & (shift > _REACH * noise)
    return behind


def gric(residual: Array, dimension: int, free: int) -> float:
    """Torr's criterion: how badly a model explains points, plus the price of its free values; residuals in noises."""
    n = len(residual)
    limit = 2.0 * (4 - dimension)
    badness = np.minimum(np.square(residual), limit).sum()
    return float(badness + np.log(4.0) * dimension * n + np.log(4.0 * n) * free)


def _rotation_vector(opencv_rotation: Array) -> Array:
    """A rotation in OpenCV's camera axes as a rotation vector in degrees, in the axes of the store."""
    from scipy.spatial.transform import Rotation

    return np.asarray(axes_matrix("opencv") @ Rotation.from_matrix(opencv_rotation).as_rotvec(degrees=True))


def _small_rotation(vector: Array) -> Array:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_rotvec(vector).as_matrix())


def _cross_matrix(vector: Array) -> Array:
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
