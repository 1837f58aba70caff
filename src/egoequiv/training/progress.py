"""How far a run is, on stderr: a bar on a terminal, a line at every tenth elsewhere."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


class LiveProgress:
    """Shows each loss term, iterations a second and the time left."""

    def __init__(self, iterations: int, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(10), TimeRemainingColumn(compact=True))
        self._progress = Progress(*columns, TextColumn("{task.fields[losses]}"), console=self._console)
        self._bar = self._progress.add_task(f"0/{iterations}", total=iterations, losses="")
        self._iterations = iterations
        self._tenth = 0

    def __enter__(self) -> LiveProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._progress.stop()  # elsewhere it would print an empty line

    def say(self, text: str) -> None:
        """One line, never folded, above the bar if there is one."""
        self._console.print(text, soft_wrap=True, highlight=False, markup=False)

    def update(self, metrics: dict[str, float]) -> None:
        """Show a line of metrics, with `iterations_per_s`."""
        if self._console.is_terminal:
            self._progress.start()  # only now: an error before the first iteration is then the only line
        done = int(metrics["iteration"])
        shown = [
            f"{name.removeprefix('validation_')[:5]} {value:.3f}"  # short names: all of it has to fit 80 columns
            for name, value in metrics.items()
            if name == "validation_top1" or not name.startswith(("iteration", "validation", "loss"))
        ]
        speed = metrics["iterations_per_s"]
        shown.insert(0, f"left, {speed:.{0 if speed >= 10 else 1}f} it/s")
        self._progress.update(
            self._bar, completed=done, description=f"{done:,}/{self._iterations:,}", losses="  ".join(shown)
        )
        tenth = done * 10 // self._iterations
        if not self._console.is_terminal and tenth > self._tenth:
            left = _clock((self._iterations - done) / speed) if speed > 0 else "-:--"
            self.say(f"{done:,}/{self._iterations:,}  {left} {'  '.join(shown)}")
        self._tenth = tenth


def _clock(seconds: float) -> str:
    """Such as 4:07, or 1:04:07."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
