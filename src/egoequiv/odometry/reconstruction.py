"""Pictures of one camera brought into models of what they show, by structure from motion (COLMAP).

All rotations are found first, from those between pairs of pictures, and then all places at once. Pictures placed one
after another, as COLMAP does by default, go wrong in small and wide pictures of a car that turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.engines import Tick
from egoequiv.errors import ConfigError
from egoequiv.odometry.kept import Arrays
from egoequiv.pose.camera import Lens
from egoequiv.pose.conventions import axes_matrix

STAGES = 3  # a picture is reported when its points are found, when they are matched, and when it has a place
_AT_ONCE = 10  # pictures between two reports
_NEAR = 10  # a picture is compared with so many after it, and with those 16, 32, 64, ... after it
_FEW = 60  # so few pictures without times are all compared with each other
_POINTS = 2000  # of a picture
_NOISE_PX = 1.5  # of points in small pictures; COLMAP's own 4 are for large ones
_TOO_SMALL = 3.0  # errors are so much larger than those of points that err independently, as between two pictures


def pycolmap() -> Any:
    """The library of COLMAP, told to be quiet."""
    try:
        import pycolmap as library
    except ImportError:
        raise ConfigError("--poses sfm needs COLMAP: pip install 'egoequiv[sfm]' (or pycolmap)") from None
    library.logging.minloglevel = library.logging.Level.FATAL.value
    return library


def models_of(folder: Path, names: Sequence[str], lens: Lens, size: tuple[int, int], tick: Tick, **how: Any) -> Arrays:
    """The poses of pictures in the models that they give, the largest model first.

    Args:
        folder: with the pictures in `pictures`, all of one size; models and matches are written beside them.
        names: of the pictures, in order.
        lens: of the camera; it stays as it is.
        size: height and width of the pictures.
        tick: gets 1 for each picture and stage.
        how: `all_pairs`, whether pictures have no order in time; `seed`, for what is drawn at random.

    Returns:
        A row for each picture with a place: `model`, `picture` (its number), `position` (3), `quaternion` (4, x y z w,
        of a camera that looks along x, with y to the left), and of the step to the next picture of the model
        `error_deg` and `inliers`. A picture may be in several models.

    """
    library = pycolmap()
    library.set_random_seed(how["seed"])
    base = folder / "matches.db"
    _find_points(library, base, folder / "pictures", names, lens, size, tick)
    _match(library, base, names, tick, **how)
    options = library.GlobalPipelineOptions(num_threads=1, random_seed=how["seed"])
    options.mapper.num_threads, options.mapper.random_seed = 1, how["seed"]
    options.mapper.bundle_adjustment.refine_focal_length = False
    options.mapper.bundle_adjustment.refine_extra_params = False
    found = library.global_mapping(base, folder / "pictures", folder, options=options)
    tick(len(names))
    ordered = sorted(found.values(), key=lambda model: -model.num_reg_images())
    rows = [_rows(library, model, number, names) for number, model in enumerate(ordered)]
    return {key: np.concatenate([part[key] for part in rows]) for key in rows[0]} if rows else {}


def _find_points(
    library: Any, base: Path, pictures: Path, names: Sequence[str], lens: Lens, size: tuple[int, int], tick: Tick
) -> None:
    height, width = size
    distortion = [*lens.distortion, 0.0, 0.0, 0.0, 0.0, 0.0][:5]
    # The corner of the first pixel is the origin of COLMAP, as it is of fractions of the picture.
    numbers = [lens.focal_x * width, lens.focal_y * height, lens.center_x * width, lens.center_y * height, *distortion]
    camera = library.ImageReaderOptions(
        camera_model="FULL_OPENCV", camera_params=",".join(repr(float(number)) for number in [*numbers, 0, 0, 0])
    )
    options = library.FeatureExtractionOptions(num_threads=1, use_gpu=False)
    options.sift.max_num_features = _POINTS
    for start in range(0, len(names), _AT_ONCE):
        some = list(names[start : start + _AT_ONCE])
        library.extract_features(
            base, pictures, some, library.CameraMode.SINGLE, reader_options=camera, extraction_options=options
        )
        camera.existing_camera_id = 1  # the one that the first call wrote
        tick(len(some))


def _match(library: Any, base: Path, names: Sequence[str], tick: Tick, *, all_pairs: bool, seed: int) -> None:
    options = library.FeatureMatchingOptions(num_threads=1, use_gpu=False)
    check = library.TwoViewGeometryOptions()
    check.ransac.random_seed, check.ransac.max_error = seed, _NOISE_PX
    pairs = base.with_name("pairs.txt")
    for start in range(0, len(names), _AT_ONCE):
        stop = min(start + _AT_ONCE, len(names))
        lines = [f"{names[i]} {names[j]}\n" for i, j in pairs_of(len(names), all_pairs) if start <= i < stop]
        pairs.write_text("".join(lines))
        library.match_image_pairs(
            base,
            matching_options=options,
            pairing_options=library.ImportedPairingOptions(match_list_path=pairs),
            verification_options=check,
        )
        tick(stop - start)


def pairs_of(count: int, all_pairs: bool) -> Iterator[tuple[int, int]]:
    """The pictures that are compared: all of few without times, else those near each other and some further on."""
    if all_pairs and count <= _FEW:
        yield from combinations(range(count), 2)
        return
    ahead = [*range(1, _NEAR + 1), *(2**power for power in range(4, count.bit_length()))]
    yield from ((i, i + step) for i in range(count) for step in ahead if i + step < count)


def _rows(library: Any, model: Any, number: int, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The pictures of one model in order."""
    from scipy.spatial.transform import Rotation

    numbers = {name: place for place, name in enumerate(names)}
    images = sorted((one for one in model.images.values() if one.has_pose), key=lambda one: numbers[one.name])
    places = [image.cam_from_world().inverse() for image in images]
    turned = Rotation.from_matrix([place.rotation.matrix() for place in places])
    error, inliers = _steps(library, model, images)
    return {
        "model": np.full(len(images), number),
        "picture": np.array([numbers[image.name] for image in images]),
        "position": np.array([place.translation for place in places]),
        "quaternion": (turned * Rotation.from_matrix(axes_matrix("opencv").T)).as_quat(),
        "error_deg": np.append(error, error[-1:]),
        "inliers": np.append(inliers, inliers[-1:]),
    }


def _steps(library: Any, model: Any, images: Sequence[Any]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The standard error of the rotation of each step in degrees, and the points that both of its pictures show."""
    config = library.BundleAdjustmentConfig()
    for image in images:
        config.add_image(image.image_id)
    config.set_constant_cam_intrinsics(images[0].camera_id)
    config.fix_gauge(library.BundleAdjustmentGauge.THREE_POINTS)
    adjuster = library.create_default_ceres_bundle_adjuster(library.BundleAdjustmentOptions(), config, model)
    wanted = library.BACovarianceOptions(params=library.BACovarianceOptionsParams.POSES)
    covariance = library.estimate_ba_covariance(wanted, model, adjuster)
    noise_px = model.compute_mean_reprojection_error() / np.sqrt(np.pi / 2)  # of one coordinate
    focal_px = model.cameras[images[0].camera_id].focal_length_x
    error, inliers = [], []
    for one, other in pairwise(images):
        seen = [{point.point3D_id for point in image.get_observation_points2D()} for image in (one, other)]
        inliers.append(len(seen[0] & seen[1]))
        found = None
        if covariance is not None:
            found = covariance.get_cam2_cov_from_cam1(
                one.image_id, one.cam_from_world(), other.image_id, other.cam_from_world()
            )
        if found is not None and np.isfinite(found).all():
            spread = np.sqrt(max(np.trace(found[:3, :3]), 0.0) / 3)
        else:  # as if the points were known
            spread = 1 / (focal_px * np.sqrt(max(inliers[-1], 1)))
        error.append(_TOO_SMALL * noise_px * float(np.rad2deg(spread)))
    return np.array(error), np.array(inliers, np.int64)
