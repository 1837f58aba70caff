"""A model whose features and maps are known exactly on the small store, and services of it."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from starlette.testclient import TestClient

from egoequiv.models.motion_model import Features, Motion, MotionModel
from egoequiv.serving.app import make_app
from egoequiv.serving.gallery import Gallery
from egoequiv.serving.limits import Limits
from egoequiv.serving.server import Server, address_of, bind, server_config
from egoequiv.serving.service import Service
from egoequiv.store import FrameStore
from helpers import wait_for

TOKEN = "0123456789abcdef0123"


class KnownModel(MotionModel):
    """Features of a frame: the cosine and sine of elevation and azimuth (4), which maps rotate, and its recording (6).

    A frame is recognised by its pixels. Another image has the pose (30, 0) and its mean brightness as a recording.
    """

    def __init__(self, store: FrameStore, takes_any: bool = True, maps: bool = True) -> None:
        parts = {"all": slice(0, 10), "equivariant": slice(0, 4), "invariant": slice(4, 10)}
        motions = store.space.named_motions() if maps else {}
        super().__init__(store.image_shape, parts, slice(0, 4), store.space, motions, takes_any and maps)
        self.batches: list[int] = []
        self._known = {store.images[row].tobytes(): row for row in range(len(store))}
        self._store = store

    def embed(self, images: NDArray[np.uint8]) -> Features:
        assert images.dtype == np.uint8
        assert images.shape[1:] == self.image_shape
        self.batches.append(len(images))
        return np.stack([self._features(image) for image in images])

    def _features(self, image: NDArray[np.uint8]) -> Features:
        row = self._known.get(image.tobytes())
        elevation, azimuth = np.deg2rad((30.0, 0.0) if row is None else self._store.poses[row])
        recording = np.full(6, image.mean() / 255) if row is None else np.eye(6)[self._store.recording[row]]
        pose = [np.cos(elevation), np.sin(elevation), np.cos(azimuth), np.sin(azimuth)]
        return np.concatenate([pose, recording]).astype(np.float32)

    def _after_vectors(self, features: Features, motions: Motion) -> Features:
        after = features.copy()
        for k in range(2):
            angle = np.deg2rad(motions[:, k])
            cos, sin = features[:, 2 * k], features[:, 2 * k + 1]
            after[:, 2 * k] = np.cos(angle) * cos - np.sin(angle) * sin
            after[:, 2 * k + 1] = np.sin(angle) * cos + np.cos(angle) * sin
        return after


def known_service(store: FrameStore, limits: Limits = Limits(), **settings: Any) -> Service:  # noqa: B008
    model = KnownModel(store, **settings)
    gallery = Gallery.embed(model, store, lambda *_: None)
    return Service(model, "known", gallery, np.arange(len(store)), limits)


@contextmanager
def client_of(service: Service, token: str | None = None) -> Iterator[TestClient]:
    with TestClient(make_app(service, token), base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client


@contextmanager
def running(service: Service, token: str | None = None, host: str = "127.0.0.1") -> Iterator[tuple[str, Server]]:
    """A real server on loopback, in a thread: its address, and itself."""
    started = threading.Event()
    with bind(host, 0) as bound:
        server = Server(server_config(service, bound, token), started.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            wait_for(lambda: started.is_set() or not thread.is_alive())
            yield address_of(bound).rstrip("/"), server
        finally:
            server.should_exit = True
            thread.join()


def png(image: NDArray[np.uint8]) -> bytes:
    file = BytesIO()
    PillowImage.fromarray(image[..., 0] if image.shape[-1] == 1 else image).save(file, "PNG")
    return file.getvalue()


def text_of(content: bytes) -> str:
    return base64.b64encode(content).decode()


def row_at(store: FrameStore, recording: int, elevation: float, azimuth: float) -> int:
    own = (store.recording == recording) & (store.poses == [elevation, azimuth % 360]).all(axis=1)
    (row,) = np.flatnonzero(own)
    return int(row)
