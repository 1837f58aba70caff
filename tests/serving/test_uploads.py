"""Pictures that take long to decode: refused by their markers, or decoded beside the event loop."""

from __future__ import annotations

import threading
from io import BytesIO

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as PillowImage
from starlette.testclient import TestClient

from egoequiv.serving import service as service_module
from egoequiv.serving.limits import Refusal
from egoequiv.serving.uploads import MOST_SCANS, count_pixels, count_scans, to_image
from serving.known import png, text_of

SCAN = b"\xff\xda"


def progressive(more: int = 0) -> bytes:
    """A gray progressive JPEG whose second scan is there `more` times more; a usual one has six scans."""
    file = BytesIO()
    PillowImage.new("L", (64, 64), 128).save(file, "JPEG", progressive=True)
    start, first, second, *others = file.getvalue().split(SCAN)
    tables = second.find(b"\xff\xc4")  # those of the next scan
    scan = second if tables < 0 else second[:tables]
    return SCAN.join([start, first, *[scan] * more, second, *others])


def test_a_jpeg_of_many_scans_is_refused_before_it_is_decoded(client: TestClient) -> None:
    assert count_scans(progressive()) == 6
    content = progressive(5_000)
    answer = client.post("/v1/embed", json={"views": [{"image": text_of(content)}]})
    assert answer.status_code == 422
    assert answer.json()["detail"] == "image: a JPEG of more than 100 scans: save it again"


def test_the_most_scans_are_taken_and_one_more_is_not() -> None:
    assert count_pixels(progressive(MOST_SCANS - 6), 10_000) == 64 * 64
    with pytest.raises(Refusal, match="more than 100 scans"):
        count_pixels(progressive(MOST_SCANS - 5), 10_000)


def test_what_only_looks_like_scans_is_not_counted() -> None:
    content = progressive()
    comment = SCAN * 500
    segment = b"\xff\xfe" + (len(comment) + 2).to_bytes(2) + comment
    assert count_scans(content[:2] + segment + content[2:] + SCAN * 500) == 6
    assert count_scans(content[:-40]) <= 6
    assert count_scans(b"\xff\xd8\xff") == 0


@pytest.mark.parametrize(("height", "is_inline"), [(20, True), (500, False)])
def test_only_a_small_body_is_decoded_in_the_event_loop(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, height: int, is_inline: bool
) -> None:
    seen = []

    def decode(content: bytes, shape: tuple[int, int, int]) -> NDArray[np.uint8]:
        seen.append(threading.current_thread().name)
        return to_image(content, shape)

    monkeypatch.setattr(service_module, "to_image", decode)
    noise = np.random.default_rng(0).integers(0, 255, (height, 200, 3), np.uint8)
    assert client.post("/v1/embed", json={"views": [{"image": text_of(png(noise))}]}).status_code == 200
    assert len(seen) == 1
    assert seen[0].startswith("decoder") is not is_inline
