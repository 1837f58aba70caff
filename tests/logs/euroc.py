"""Sequences in the ASL layout of EuRoC, written by the tests."""

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from logs.motion import Array, camera_to_world, save_picture

START_NS = 1_403_715_524_907_143_168
HEADER = "#timestamp, p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_w [], q_RS_x [], q_RS_y [], q_RS_z [], v_RS_R_x"
# As cam0 sits on the EuRoC drone: its x is y of the body, its y is -x; 6 cm off the IMU.
T_BODY_CAM0 = np.array([[0.0, -1.0, 0.0, -0.02], [1.0, 0.0, 0.0, -0.06], [0.0, 0.0, 1.0, 0.01], [0.0, 0.0, 0.0, 1.0]])

# The lens of cam0, as the same file has it.
LENS = (
    "camera_model: pinhole\nintrinsics: [458.654, 457.296, 367.215, 248.375] #fu, fv, cu, cv\n"
    "distortion_model: radial-tangential\n"
    "distortion_coefficients: [-0.28340811, 0.07395907, 0.00019359, 1.76187114e-05]\n"
)


def sensor_yaml(mount: Array) -> str:
    """The file as it comes with EuRoC: comments, and the numbers over four lines."""
    rows = ",\n         ".join(", ".join(f"{value:.9f}" for value in row) for row in mount)
    return (
        "# General sensor definitions.\nsensor_type: camera\ncomment: VI-Sensor cam0 (MT9M034)\n\n"
        f"# Sensor extrinsics wrt. the body-frame.\nT_BS:\n  cols: 4\n  rows: 4\n  data: [{rows}]\n\n"
        "# Camera specific definitions.\nrate_hz: 20\nresolution: [752, 480]\n"
    )


def truth_csv(poses: Array, step_ns: int = 5_000_000) -> str:
    rows = []
    for k, pose in enumerate(poses):
        x, y, z, w = Rotation.from_matrix(pose[:3, :3]).as_quat()
        values = [*pose[:3, 3], w, x, y, z, 0.0]
        rows.append(f"{START_NS + k * step_ns}," + ",".join(f"{value:.9f}" for value in values))
    return "\n".join([HEADER, *rows]) + "\n"


def write(
    folder: Path,
    poses: Array | None = None,
    *,
    every: int = 10,
    cameras: tuple[str, ...] = ("cam0", "cam1"),
    truth_mount: Array | None = None,
    truth: str = "state_groundtruth_estimate0",
) -> None:
    """Ground truth at 200 Hz such that the camera has the given poses, and a picture at every tenth of them."""
    poses = camera_to_world() if poses is None else poses
    T_body_truth = np.eye(4) if truth_mount is None else truth_mount
    place = folder / "mav0" / truth
    place.mkdir(parents=True)
    (place / "data.csv").write_text(truth_csv(poses @ np.linalg.inv(T_BODY_CAM0) @ T_body_truth))
    (place / "sensor.yaml").write_text(sensor_yaml(T_body_truth))
    for camera in cameras:
        names = [f"{START_NS + k * 5_000_000}.png" for k in range(0, len(poses), every)]
        for k, name in enumerate(names):
            save_picture(folder / "mav0" / camera / "data" / name, k)
        rows = "".join(f"{name[:-4]},{name}\r\n" for name in names)
        (folder / "mav0" / camera / "data.csv").write_text("#timestamp [ns],filename\r\n" + rows)
        (folder / "mav0" / camera / "sensor.yaml").write_text(sensor_yaml(T_BODY_CAM0) + LENS)


def prepare(folder: Path) -> None:
    """A folder `V1_01_easy` with 120 pictures of each camera, and its ground truth alone."""
    write(folder / "V1_01_easy", camera_to_world(1200, 0.01, 0.3))
    truth = folder / "V1_01_easy" / "mav0" / "state_groundtruth_estimate0" / "data.csv"
    (folder / "groundtruth.csv").write_text(truth.read_text())
