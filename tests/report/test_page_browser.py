"""The report in a real browser: it opens without an error, every figure is drawn, and the tables sort."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from egoequiv.blocks import Cell, Fold, Grid, Section
from egoequiv.report.page import to_html
from egoequiv.report.sections import Report, build_report
from egoequiv.report.table_blocks import MOST_COLUMNS
from report.made import made_experiment


def background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def check_sorting(page: Page) -> None:
    """A click sorts upwards by number, Enter on the same head downwards, and the head says so."""
    table = page.locator("table").first
    head = table.locator("thead th").nth(1)
    cells = table.locator("tbody tr td:nth-child(2)")

    def numbers() -> list[float]:
        texts = [text.split()[0].rstrip("*") for text in cells.all_inner_texts()]
        return [float(text) for text in texts if text != "-"]  # of rows that have the metric

    assert head.get_attribute("aria-sort") == "none"
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert numbers() == sorted(numbers())
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert numbers() == sorted(numbers(), reverse=True)
    assert "descending" in page.locator("#said").inner_text()


def check_theme(page: Page) -> None:
    page.emulate_media(color_scheme="light")
    light = background(page)
    page.emulate_media(color_scheme="dark")
    assert background(page) != light
    page.get_by_role("button", name="Light theme").click()
    assert background(page) == light
    page.get_by_role("button", name="Dark theme").click()
    assert background(page) != light
    page.emulate_media(media="print")
    assert background(page) == "rgb(255, 255, 255)"
    page.emulate_media(media="screen")


@pytest.mark.slow
def test_the_page_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    report.write_text(to_html(build_report(tmp_path, [made_experiment()])), encoding="utf-8")
    assert report.stat().st_size < 8e6
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith(("file:", "data:")) else said.append(request.url))
    page.goto(report.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    images = page.locator("img")
    assert images.count() == 12
    drawn = images.evaluate_all("all => Promise.all(all.map(i => i.decode().then(() => i.naturalWidth > 100)))")
    assert all(drawn)
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = false; })")
    check_sorting(page)
    check_theme(page)
    page.evaluate("document.activeElement.blur()")
    page.reload()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400  # tables scroll within the page
    assert len(page.pdf(prefer_css_page_size=True)) > 10_000
    assert said == []


@pytest.mark.slow
def test_a_full_table_fits_into_a_usual_window(browser: Browser, tmp_path: Path) -> None:
    heads = ("method", *["own rho down+right"] * MOST_COLUMNS)
    row = [Cell("recording+motion (no labels)"), *[Cell("0.773 ± 0.012*", ["[0.706, 0.842]"])] * MOST_COLUMNS]
    grid = Grid("wide", heads, [row])
    file = tmp_path / "wide.html"
    file.write_text(to_html(Report("wide", "", {}, [Section("wide", [grid, Fold("more", [grid], is_open=True)])])))
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    page.goto(file.as_uri())
    hidden = "all => all.filter(one => one.scrollWidth > one.clientWidth).length"
    assert page.locator(".scroll").evaluate_all(hidden) == 0
    page.set_viewport_size({"width": 600, "height": 800})
    assert page.locator(".scroll").evaluate_all(hidden) == 2
