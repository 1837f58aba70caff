"""A short drive through the embedded city, as a video whose pixels are kept."""

from pathlib import Path

import numpy as np
import pytest

from egoequiv.pose.camera import Lens
from egoequiv_worlds import drive
from egoequiv_worlds.drive import DriveRecording
from egoequiv_worlds.street.sensors import FOCAL_SHARE
from logs.video import write_video

SIZE = (120, 320)
LENS = Lens(FOCAL_SHARE, FOCAL_SHARE * SIZE[1] / SIZE[0], origin="the embedded drive")


@pytest.fixture(scope="session")
def residential() -> DriveRecording:
    """Twelve seconds with a turn."""
    source = drive(drives_per_area=1, seconds=12.0, width=SIZE[1], height=SIZE[0])
    recording = source.recordings[2]
    assert isinstance(recording, DriveRecording)
    return recording


@pytest.fixture(scope="session")
def drive_video(residential: DriveRecording, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its first six seconds, 10 frames a second, key frames every ten."""
    path = tmp_path_factory.mktemp("drive") / "drive.mkv"
    images = np.stack([residential.image(frame) for frame in range(60)])
    write_video(path, images, codec="ffv1", rate=10, gop=10)
    return path
