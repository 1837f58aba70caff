"""What the service computes: features of views, features after motions, nearest frames, plans and advice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import EgoEquivError
from egoequiv.evaluation.next_view import NextViewSelector
from egoequiv.models.motion_model import Features, MotionModel
from egoequiv.models.network import ALL
from egoequiv.pairs.candidates import Indices
from egoequiv.planning import Planner, Walk
from egoequiv.serving.advice import fit_selector, make_planner
from egoequiv.serving.batching import MicroBatcher
from egoequiv.serving.gallery import Gallery
from egoequiv.serving.limits import Limits, Refusal
from egoequiv.serving.metrics import Metrics
from egoequiv.serving.moves import Moves
from egoequiv.serving.pair_index import PairIndex
from egoequiv.serving.prepared import Prepared
from egoequiv.serving.uploads import SMALL, SMALL_BYTES, count_pixels, from_base64, to_image

LARGEST = 1e6  # of a feature after a chain of motions: beyond it the motions were out of all proportion
Motion = str | list[float]
Picture = int | str | bytes  # a row of the store, base64, or the bytes of a file
T = TypeVar("T")


class Service:
    """A model, and perhaps a store, with the threads that compute.

    One thread runs the encoder, in batches. Another does one search or plan after the other, so that a client who asks
    for many of them does not slow down those who want features.
    """

    def __init__(
        self,
        model: MotionModel,
        name: str = "model",
        gallery: Gallery | None = None,
        training: Indices | None = None,
        limits: Limits = Limits(),  # noqa: B008 - it is frozen
    ) -> None:
        """Take a model and what it is called, the frames that are searched, and the training frames among them."""
        self.model, self.name, self.gallery, self.limits = model, name, gallery, limits
        self.metrics = Metrics()
        self._batcher: MicroBatcher | None = None
        self._worker: ThreadPoolExecutor | None = None
        self._decoder: ThreadPoolExecutor | None = None
        self._waiting = 0
        self._planner = Prepared(lambda: make_planner(model, gallery, training))
        self._selector = Prepared(lambda: fit_selector(self.frames(), self.moves, training))

    async def start(self) -> None:
        """Start the threads; what takes long to make is made while other requests are answered."""
        limits = self.limits
        self._batcher = MicroBatcher(self.model.embed, limits.batch, limits.waiting_images, self.metrics.batch)
        self._batcher.start()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="search")
        self._decoder = ThreadPoolExecutor(1, thread_name_prefix="decoder")
        if self.gallery is not None:
            self._selector.start()
            self._planner.start()

    async def stop(self) -> None:
        """End the threads after what they do now."""
        if self._batcher is not None:
            await self._batcher.stop()
        for thread in (self._worker, self._decoder):
            if thread is not None:
                thread.shutdown()

    @property
    def waiting_images(self) -> int:
        """How many images wait for the encoder."""
        return 0 if self._batcher is None else self._batcher.waiting

    async def features(self, pictures: Sequence[Picture]) -> Features:
        """The features of pictures, (N, D); those of stored frames are known already."""
        if len(pictures) > self.limits.batch:
            raise Refusal(413, f"{len(pictures)} pictures in one request, at most {self.limits.batch} are taken")
        features = np.empty((len(pictures), self.model.feature_dim), np.float32)
        images = []
        places = []
        for number, picture in enumerate(pictures):
            known = self._known(picture)
            if known is None:
                images.append(await self._image(picture))
                places.append(number)
            else:
                features[number] = known
        if images:
            assert self._batcher is not None, "the service was not started"
            features[places] = await self._batcher.embed(np.stack(images))
        return features

    async def work(self, do: Callable[..., T], *arguments: Any) -> T:
        """Do something that takes a moment in the thread for searches and plans."""
        if self._waiting >= self.limits.waiting_work:
            raise Refusal(503, f"{self._waiting} searches wait already: try again in a moment", retry_after_s=1)
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._worker, do, *arguments)
        finally:
            self._waiting -= 1

    def after(self, features: Features, motions: Sequence[Motion]) -> Features:
        """All features after a chain of motions, (D,) -> (D,): maps change their part, the others stay."""
        if len(motions) > self.limits.chain:
            raise Refusal(422, f"a chain of {len(motions)} motions, at most {self.limits.chain} are taken")
        after, mapped = features.copy(), self.model.mapped
        with np.errstate(all="ignore"):
            for motion in motions:
                vector = motion if isinstance(motion, str) else np.asarray(motion, np.float64)
                after[mapped] = self.model.after(after[None, mapped], vector)[0]
                if not (most := float(np.abs(after).max())) < LARGEST:  # NaN too
                    words = (
                        f"the features after it reach {most:.3g}, at most {LARGEST:g} is accepted: take a smaller one"
                    )
                    raise Refusal(422, f"motions: motion {motion} is too large, {words}")
        return after

    def walk(self, planner: Planner, row: int, goal: Features) -> tuple[Walk, list[int]]:
        """A walk through stored frames to a goal (D,), looking again after each move, and the frames it passes."""
        passed = [self.frames().check(row)]

        def move(name: str) -> Features | None:
            after = self.moves.after(passed[-1], name)
            seen = None if after is None else self._mapped_of(after)
            if after is not None:
                passed.append(after)
            return seen

        walk = planner.reach(self._mapped_of(row), goal[self.model.mapped], move)
        return walk, passed

    def _mapped_of(self, row: int) -> Features:
        known = self.frames().known(row)
        features = self.model.embed(self.frames().image(row)[None])[0] if known is None else known
        return features[self.model.mapped]

    async def planner(self) -> Planner:
        """The planner over the motions that have a name; a service whose model has none refuses."""
        if not self.model.motions:
            raise Refusal(409, "this model has no maps of motions, so nothing can be planned with it")
        return await self._planner.get()

    async def advice(self) -> NextViewSelector:
        """Advice on the next view; a service that cannot give it refuses."""
        self.frames()
        try:
            return await self._selector.get()
        except EgoEquivError as problem:
            raise Refusal(409, f"no next-view advice: {problem}") from problem

    def frames(self) -> Gallery:
        """The frames of the store; a service without one refuses."""
        if self.gallery is None:
            raise Refusal(409, "this service has no store: start it with --store STORE")
        return self.gallery

    @cached_property
    def moves(self) -> Moves:
        """The named motions in the store."""
        return Moves(self.frames().store, self.model.motions)

    @cached_property
    def pairs(self) -> PairIndex:
        """Pairs of stored frames by what changed between them."""
        if not self.frames().store.space.axes:
            raise Refusal(409, "the frames of this store have no poses, so no pairs with a known motion")
        return PairIndex(self.frames(), self.moves, self.model.mapped)

    def check_motion(self, motion: str, known: Sequence[str]) -> str:
        """The name of a motion."""
        if motion not in known:
            raise Refusal(422, f"motion {motion!r} is not known here; choose from {', '.join(known)}")
        return motion

    def describe(self) -> dict[str, Any]:
        """The model and the store, for a client that knows nothing yet."""
        model = self.model
        axes = () if model.space is None else model.space.axes
        return {
            "model": {
                "name": self.name,
                "image_shape": list(model.image_shape),
                "features": model.feature_dim,
                "parts": {name: [int(part.start), int(part.stop)] for name, part in model.parts.items()},
                "mapped": next((name for name, part in model.parts.items() if part == model.mapped), ALL),
                "motions": [{"name": name, "vector": vector.tolist()} for name, vector in model.motions.items()],
                "takes_any_motion": model.takes_any,
                "axes": [vars(axis) for axis in axes],
            },
            "store": None if self.gallery is None else self._describe_store(self.gallery),
        }

    def _describe_store(self, gallery: Gallery) -> dict[str, Any]:
        store = gallery.store
        return {
            "frames": len(store),
            "searched_frames": len(gallery.rows),
            "recordings": len(store.recording_names),
            "image_shape": list(store.image_shape),
            "space": str(store.space.describe()["kind"]),
            "classes": list(store.class_names),
            "has_times": store.times_s is not None,
        }

    def _known(self, picture: Picture) -> Features | None:
        if not isinstance(picture, int):
            return None
        return self.frames().known(picture)

    async def _image(self, picture: Picture) -> NDArray[np.uint8]:
        if isinstance(picture, int):
            return self.frames().image(picture)
        content = from_base64(picture) if isinstance(picture, str) else picture
        if count_pixels(content, self.limits.pixels) <= SMALL and len(content) <= SMALL_BYTES:
            return to_image(content, self.model.image_shape)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._decoder, to_image, content, self.model.image_shape)
