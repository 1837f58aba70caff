"""Pictures of frames."""

from pathlib import Path

import numpy as np

from egoequiv.report.pictures import contact_sheet, picture_grid, save_picture
from egoequiv.store import FrameStore


def test_the_contact_sheet_shows_every_class(small_store: FrameStore, tmp_path: Path) -> None:
    sheet = contact_sheet(small_store, columns=4, thumbnail=24)
    assert sheet.width > 4 * 24
    assert sheet.height > 24 * len(small_store.class_names)
    save_picture(sheet, tmp_path / "sheet.png")
    assert (tmp_path / "sheet.png").stat().st_size > 500


def test_a_grid_puts_images_in_their_places() -> None:
    white, black = np.full((4, 6, 1), 255, np.uint8), np.zeros((4, 6, 1), np.uint8)
    grid = np.asarray(picture_grid([[white, black]], [""]).convert("L"))
    assert (grid == 0).sum() == black.size
