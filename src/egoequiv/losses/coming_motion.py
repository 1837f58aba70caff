"""The coming motion: what the camera will do next is read from one frame, as far as the frame shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from egoequiv.errors import ConfigError
from egoequiv.losses.reading_motion import MotionReading, motion_error, to_read
from egoequiv.losses.term import StreamBatch, StreamName, Term
from egoequiv.models import Heads


@dataclass(frozen=True)
class ComingMotion(Term):
    """The squared error of the motion of the next second that one full layer reads from the frame before it.

    A road that bends, a wall ahead: a camera on a vehicle mostly goes where there is a way. The labels are the poses.
    """

    name: ClassVar[str] = "coming"
    stream: ClassVar[StreamName] = "coming"
    needs_motion: ClassVar[bool] = True

    def layers(self, features: int, motion: int) -> tuple[int, ...]:
        return (features, motion)

    def loss(self, net: Heads, batch: StreamBatch) -> Tensor:
        if batch.motion is None or net.read_scale is None:
            raise ConfigError("reading motions needs pairs with motions, and their scale")
        return motion_error(net.layers[self.name](to_read(batch.z_i)), batch.motion, net.read_scale)


@dataclass(frozen=True)
class PassedMotion(MotionReading):
    """The squared error of the same motion, read by one full layer from the frames before and after it.

    All pairs are equally far apart in time, so that one layer can read the speed, as a linear probe does.
    """

    name: ClassVar[str] = "passed"
    stream: ClassVar[StreamName] = "coming"
    hidden: int = 0
