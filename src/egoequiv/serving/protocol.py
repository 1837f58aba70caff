"""HTTP as uvicorn speaks it, with limits on the head of a request: its size, and the time it takes to arrive."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from egoequiv.serving.limits import Limits

LINGER_S = 1.0  # from the refusal of a connection to its end


class LimitedProtocol(HttpToolsProtocol):
    """One connection. The clock runs from its begin, or from the first byte of a request, to the end of the headers."""

    limits = Limits()  # of subclasses, see `limited_protocol`

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._clock: asyncio.TimerHandle | None = None
        self._write_clock: asyncio.TimerHandle | None = None
        self._head_bytes: int | None = 0  # None after the headers
        self._is_refused = False
        super().connection_made(transport)
        self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        self._stop_write_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        super().data_received(data)
        if self._head_bytes is not None and not self._is_refused:
            self._head_bytes += len(data)
            if self._head_bytes > self.limits.head_bytes:
                self._refuse(431, f"the headers have more than {self.limits.head_bytes} bytes")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_bytes = 0
        self._start_clock()

    def on_headers_complete(self) -> None:
        self._head_bytes = None
        self._stop_clock()
        if self._is_refused:
            return
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > self.limits.head_bytes:
            self._refuse(431, f"the headers have more than {self.limits.head_bytes} bytes")
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._is_refused:  # otherwise it has no cycle
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._is_refused:
            super().on_message_complete()

    def pause_writing(self) -> None:
        """The client does not read: it has as long as an answer may take, and no longer."""
        super().pause_writing()
        self._stop_write_clock()
        self._write_clock = self.loop.call_later(self.limits.request_s, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_write_clock()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg)

    def _start_clock(self) -> None:
        self._stop_clock()
        self._clock = self.loop.call_later(self.limits.head_s, self._too_slow)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _stop_write_clock(self) -> None:
        if self._write_clock is not None:
            self._write_clock.cancel()
            self._write_clock = None

    def _too_slow(self) -> None:
        if self.cycle is None or self.cycle.response_complete:  # else an answer to an earlier request is on its way
            self._refuse(408, f"the headers have not arrived within {self.limits.head_s:g} s")

    def _refuse(self, status: int, reason: str) -> None:
        """Answer, and hang up a moment later: at once, what the client still sends would hide the answer from it."""
        self._stop_clock()
        if self._is_refused or self.transport.is_closing():
            return
        self._is_refused = True
        content = json.dumps({"detail": reason}).encode()
        head = f"content-type: application/json\r\ncontent-length: {len(content)}\r\nconnection: close\r\n\r\n"
        self.transport.write(STATUS_LINE[status] + head.encode() + content)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._clock = self.loop.call_later(LINGER_S, self.transport.abort)


def limited_protocol(limits: Limits) -> Any:
    """The protocol with these limits, as uvicorn takes it."""
    return type("LimitedProtocol", (LimitedProtocol,), {"limits": limits})
