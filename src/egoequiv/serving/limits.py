"""What a request may cost: the limits of the service, and the refusal that says which one was passed."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST_REASON = 300  # characters


@dataclass(frozen=True)
class Limits:
    """Limits on what one client, and all of them together, can make the service do."""

    body_bytes: int = 16_000_000
    bodies_bytes: int = 512_000_000  # of all requests that are being received or answered
    pixels: int = 25_000_000  # of one picture, by its header, before it is decoded
    batch: int = 64  # pictures in one request, and images in one pass of the encoder
    chain: int = 32  # motions one after the other
    neighbours: int = 50
    waiting_images: int = 2_048  # that wait for the encoder
    waiting_work: int = 64  # searches and plans that wait for their thread
    connections: int = 1_000
    head_bytes: int = 65_536
    head_s: float = 10.0  # from the first byte of a request to the end of its headers
    body_s: float = 20.0
    request_s: float = 30.0  # from the end of the body to the end of the answer
    idle_s: float = 30.0  # between two requests of one connection


class Refusal(Exception):  # noqa: N818 - an answer, not an error of the program
    """An answer other than the one that was wanted, with its status code and a reason of one line."""

    def __init__(self, status: int, reason: str, retry_after_s: int | None = None) -> None:
        super().__init__(reason)
        self.status, self.reason, self.retry_after_s = status, one_line(reason), retry_after_s


def one_line(text: str) -> str:
    """Text that fits into an answer: one line, not long, and with nothing in it that is not UTF-8."""
    line = " ".join(text.split()).encode("utf-8", "backslashreplace").decode("utf-8")
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 3]}..."
