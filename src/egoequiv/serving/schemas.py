"""The JSON of requests and answers; FastAPI checks requests by these classes and describes them in OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from egoequiv.models.network import ALL

MOST_ROW = 2**53 - 1
Row = Annotated[int, Field(ge=0, le=MOST_ROW, description="The number of a frame in the store, from 0.")]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Component = Annotated[float, Field(ge=-1e6, le=1e6)]
Vector = Annotated[list[Component], Field(min_length=1, max_length=16)]
Motion = Annotated[  # a wrong one is then checked as what it looks like, not as both
    Annotated[Name, Tag("name")] | Annotated[Vector, Tag("vector")],
    Discriminator(lambda given: "vector" if isinstance(given, list) else "name"),
]
Motions = Annotated[
    list[Motion],
    Field(max_length=32, description="Motions one after the other: names, or vectors in the units of the axes."),
]
Part = Annotated[Name, Field(description="The part of the features; see the description of the model.")]


class Request(BaseModel):
    """What all requests share: nothing is converted silently, and no field is ignored."""

    model_config = ConfigDict(extra="forbid", strict=True)


class View(Request):
    """A view: a stored frame or a picture, exactly one of them."""

    frame: Row | None = None
    image: str | None = Field(None, min_length=1, description="A picture (PNG, JPEG, WebP, BMP, GIF, PPM) in base64.")

    @model_validator(mode="after")
    def _is_one(self) -> View:
        if (self.frame is None) == (self.image is None):
            raise ValueError("give either frame or image")
        return self

    @property
    def picture(self) -> int | str:
        """The row of the frame, or the picture in base64."""
        return self.frame if self.frame is not None else str(self.image)


class EmbedRequest(Request):
    """Which features are wanted."""

    views: list[View] = Field(min_length=1, max_length=1024)
    part: Part = ALL


class PredictRequest(Request):
    """A view, and the motions after it."""

    view: View
    motions: Motions


class NearestRequest(Request):
    """Features to search for: those of a view, or of a view after motions."""

    view: View
    motions: Motions = []
    count: int = Field(5, ge=1, le=50)
    part: Part = ALL
    exclude: Literal["none", "frame", "recording"] = Field(
        "none", description="Whether the stored frame of the view, or its recording, is left out."
    )


class Look(Request):
    """A move, and the view after it."""

    motion: Name
    view: View


class NextViewRequest(Request):
    """The views so far."""

    view: View
    then: list[Look] = Field([], max_length=8)


class PlanRequest(Request):
    """From this view to that one."""

    view: View
    goal: View


class WalkRequest(Request):
    """From this stored frame to that view."""

    frame: Row
    goal: View


class PairRequest(Request):
    """Two frames of one recording."""

    i: Row
    j: Row
    count: int = Field(6, ge=1, le=50)

    @model_validator(mode="after")
    def _are_two(self) -> PairRequest:
        if self.i == self.j:
            raise ValueError("i and j are the same frame: a pair is of two")
        return self


class Problem(BaseModel):
    """Why a request was refused."""

    detail: str = Field(description="The reason, in one line.")


class Features(BaseModel):
    """Features of views."""

    features: list[list[float]]


class Prediction(BaseModel):
    """All features after motions; maps change the mapped part, the others stay."""

    features: list[float]
    moved: float = Field(description="How far the features moved, in Euclidean distance.")


class Frame(BaseModel):
    """A stored frame."""

    row: int
    recording: int
    recording_name: str
    frame: int
    time_s: float | None
    label: str | None
    pose: dict[str, float]
    attributes: dict[str, str]


class FrameAndMoves(Frame):
    """A stored frame, and the frames after each motion, null where there is none."""

    moves: dict[str, int | None]


class FoundFrame(Frame):
    """A stored frame and the distance of its features."""

    distance: float


class TrueFrame(BaseModel):
    """The frame that is really there after the motions."""

    frame: Frame
    rank: int | None = Field(description="Its place among the nearest frames, from 1; null if it is not searched.")
    distance: float | None
    searched: int


class Nearest(BaseModel):
    """The nearest frames; and the one that is really there, where the store has it."""

    frames: list[FoundFrame]
    truth: TrueFrame | None
    unusual: bool = Field(
        description="Whether these features are further from every stored frame than 95 % of stored frames are from "
        "the nearest one of another recording: the store may show nothing like it."
    )


class Suggested(BaseModel):
    """A move, and what is expected after it."""

    motion: str
    uncertainty_bits: float
    guess: str
    leads_to: int | None = Field(description="The stored frame after it; null where it is not known.")


class NextView(BaseModel):
    """What the views are taken for, and the moves, the most promising first."""

    guess: str
    uncertainty_bits: float
    votes: dict[str, int]
    suggestions: list[Suggested]


class PlanAnswer(BaseModel):
    """A plan: where the view is the goal already, or cannot be reached, there are no motions."""

    status: Literal["go", "there", "lost"]
    motions: list[str]
    distance: float
    predicted: float


class Blocked(BaseModel):
    """A motion that the store has no frame after."""

    after: int = Field(description="How many moves were made before it.")
    motion: str


class WalkAnswer(BaseModel):
    """A walk: plan, make the first motion, look again; `go` where it ended before it arrived."""

    status: Literal["go", "there", "lost"]
    motions: list[str]
    frames: list[int] = Field(description="The start, and the frame after each motion.")
    distances: list[float] = Field(description="To the goal, at each of these frames.")
    blocked: list[Blocked]


class PairAnswer(BaseModel):
    """Two frames of one recording, and the motion between them."""

    i: int
    j: int
    motion: str | None
    vector: list[float]
    distance: float


class Pairs(BaseModel):
    """The pair that was given, and those that changed most nearly in the same way."""

    query: PairAnswer
    pairs: list[PairAnswer]


class RecordingInfo(BaseModel):
    """One recording of the store."""

    number: int
    name: str
    frames: int
    first_row: int
    label: str | None


class Recordings(BaseModel):
    """Some recordings of the store, and how many there are."""

    total: int
    recordings: list[RecordingInfo]


class Description(BaseModel):
    """The model and the store."""

    model: dict[str, Any]
    store: dict[str, Any] | None


class Health(BaseModel):
    """Whether the service works."""

    status: Literal["ok"]
