"""Times of messages: stamps in headers, times of receipt, messages out of order; and reading a bag in pieces."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from egoequiv.catalog import open_source
from egoequiv.errors import DataError
from egoequiv.sources import Source
from egoequiv.store import ingest
from logs.ros import KINDS, START_NS, STEP_NS, BagWriter, along_x, bag_name, drive, pictures, pictures_of


def opened(path: Path, **settings: Any) -> Source:
    return open_source("ros", path, axes="ros", **settings)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_headers_without_stamps_mean_times_of_receipt(kind: str, tmp_path: Path) -> None:
    bag = BagWriter(kind)
    for k, picture in enumerate(pictures(6)):
        bag.image("/cam", 0, picture, log_ns=START_NS + k * STEP_NS)
        bag.pose("/pose", 0, along_x(k), log_ns=START_NS + k * STEP_NS)
    source = opened(bag.write(tmp_path / bag_name(kind)))
    np.testing.assert_allclose(source.recordings[0].poses, [along_x(k) for k in range(6)], atol=1e-12)
    assert sum("headers have no stamp" in note for note in source.remarks) == 2


def test_clocks_without_a_common_time_and_the_choice_of_stamps(tmp_path: Path) -> None:
    bag = BagWriter("mcap")
    for k, picture in enumerate(pictures(6)):
        bag.image("/cam", 5 * 10**9 + k * STEP_NS, picture, log_ns=START_NS + k * STEP_NS)  # seconds since power-on
        bag.pose("/pose", START_NS + k * STEP_NS, along_x(k), log_ns=START_NS + k * STEP_NS)
    path = bag.write(tmp_path / "bag")
    source = opened(path)
    np.testing.assert_allclose(source.recordings[0].poses, [along_x(k) for k in range(6)], atol=1e-12)
    assert "clocks that have no time in common" in source.notes[0]
    with pytest.raises(DataError, match=r"no frame has a pose: frames are from 5\.000 to 5\.500 s"):
        opened(path, stamps="header")
    offset = opened(path, stamps="header", offset_s=5 - START_NS / 1e9)
    np.testing.assert_allclose(offset.recordings[0].poses, [along_x(k) for k in range(6)], atol=1e-6)


def test_pictures_received_out_of_order_and_at_one_time_keep_their_own_stamps(kind: str, tmp_path: Path) -> None:
    bag = BagWriter(kind)
    for k, picture in enumerate(pictures(100)):
        late = START_NS + (k // 4) * 4 * STEP_NS + (STEP_NS if k % 3 == 0 else 0)  # some overtake others
        bag.image("/cam", START_NS + k * STEP_NS, picture, log_ns=late)
        bag.pose("/pose", START_NS + k * STEP_NS, along_x(k / 10))
    bag.messages.append(bag.messages[0])  # a message twice
    source = opened(bag.write(tmp_path / bag_name(kind)))
    (recording,) = source.recordings
    assert np.array_equal(pictures_of(recording), pictures(100))
    assert np.array_equal(recording.image(37), pictures(100)[37])
    np.testing.assert_allclose(recording.poses, [along_x(k / 10) for k in range(100)], atol=1e-9)
    assert any("stamps out of order" in note for note in source.notes)
    assert any("1 stamp is repeated" in note for note in source.notes)


def test_reading_begins_every_32_messages_and_gives_the_same_store(kind: str, tmp_path: Path) -> None:
    source = opened(drive(kind, 100).write(tmp_path / bag_name(kind)))
    (recording,) = source.recordings
    assert list(recording.starts()) == [0, 32, 64, 96]
    for frames in (range(31, 34), range(99, 100), range(64, 97)):
        found = [np.asarray(image) for image in recording.images(frames)]
        assert np.array_equal(found, pictures(100)[frames.start : frames.stop])
    store = ingest(source, tmp_path / "store", workers=2, progress=False)
    assert np.array_equal(store.images[..., 0], pictures(100))


def test_the_parts_of_a_split_bag_are_one_recording(tmp_path: Path) -> None:
    split = tmp_path / "split"
    split.mkdir()
    for part, frames in enumerate((range(6), range(6, 12))):
        bag = drive("mcap")
        bag.messages = [one for one in bag.messages if (one[1] - START_NS) // STEP_NS in frames]
        (bag.write(tmp_path / f"part{part}") / f"part{part}.mcap").rename(split / f"split_{part}.mcap")
    text = (tmp_path / "part0" / "metadata.yaml").read_text()
    whole = text.replace("- part0.mcap", "- split_0.mcap\n  - split_1.mcap")
    for metadata, count in ((whole, 0), ("rosbag2_bagfile_information: 0", 1)):
        (split / "metadata.yaml").write_text(metadata)
        source = opened(split)
        (recording,) = source.recordings
        assert np.array_equal(pictures_of(recording), pictures(12))
        np.testing.assert_allclose(recording.poses, [along_x(k) for k in range(12)], atol=1e-12)
        assert sum("without metadata.yaml" in note for note in source.notes) == count
