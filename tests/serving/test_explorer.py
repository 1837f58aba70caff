"""The explorer in a real browser: walk, drop, plan, deep links, keys, a token, and what is shown when things fail."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from egoequiv.serving.service import Service
from egoequiv.store import FrameStore
from serving.known import TOKEN, known_service, png, row_at, running

pytestmark = pytest.mark.slow
DROP = """([target, bytes, name, type]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([new Uint8Array(bytes)], name, { type }));
  for (const kind of ["dragover", "drop"]) {
    const event = new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true });
    document.querySelector(target).dispatchEvent(event);
  }
}"""


@pytest.fixture(scope="module")
def address(small_store: FrameStore) -> Iterator[str]:
    with running(known_service(small_store)) as (found, _):
        yield found


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A new page; it says nothing on the console, and asks nobody but the service."""
    opened = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda one: None if one.url.startswith((address, "blob:", "data:")) else said.append(one.url))
    yield opened
    unexpected = [text for text in said if "Failed to load resource" not in text]  # of errors that tests cause
    assert unexpected == []
    opened.close()


def shown(page: Page, image: str) -> int:
    """The row of the frame that an image shows."""
    return int(page.locator(f"#{image}").get_attribute("src", timeout=30_000).split("/")[3])


def wait_for_frame(page: Page, image: str, row: int) -> None:
    expect(page.locator(f"#{image}")).to_have_attribute("src", f"/v1/frames/{row}/image")


def test_walk_with_buttons_and_keys_beside_what_is_there(page: Page, address: str, small_store: FrameStore) -> None:
    start = row_at(small_store, 2, 40, 60)
    page.goto(f"{address}/#frame={start}")
    wait_for_frame(page, "now-image", start)
    expect(page.locator("#truth-absent")).to_have_text("Press a motion")
    page.get_by_role("group", name="Motions").get_by_role("button", name="up").click()
    up = row_at(small_store, 2, 50, 60)
    wait_for_frame(page, "truth-image", up)
    wait_for_frame(page, "predicted-image", up)  # the maps are exact
    expect(page.locator("#truth-caption")).to_contain_text("the prediction is right")
    expect(page.locator("#said")).to_contain_text("Really there: frame")
    expect(page.locator("#pairs .pair.same")).to_have_count(8)
    page.locator("#stage").focus()
    page.keyboard.press("ArrowRight")
    there = row_at(small_store, 2, 50, 120)
    wait_for_frame(page, "truth-image", there)
    assert page.url.endswith(f"#frame={start}&walk=up,right")
    expect(page.locator("#walk > li")).to_have_count(2)
    expect(page.locator(".cell.truth")).to_have_attribute("data-row", str(there))
    page.keyboard.press("Backspace")
    wait_for_frame(page, "truth-image", up)
    page.keyboard.press("l")
    wait_for_frame(page, "now-image", up)
    assert page.url.endswith(f"#frame={up}")


def test_the_edge_of_the_grid_is_said(page: Page, address: str, small_store: FrameStore) -> None:
    page.goto(f"{address}/#frame={row_at(small_store, 2, 60, 60)}&walk=up")
    expect(page.locator("#truth-absent")).to_have_text("The store has no frame there")
    expect(page.get_by_role("button", name="Look: go on")).to_be_disabled()


def test_the_planner_walks_to_a_goal(page: Page, address: str, small_store: FrameStore) -> None:
    start, goal = row_at(small_store, 3, 30, 0), row_at(small_store, 3, 50, 120)
    page.goto(f"{address}/#frame={start}&goal={goal}")
    wait_for_frame(page, "goal-image", goal)
    page.get_by_role("button", name="Walk to the goal").click()
    expect(page.locator("#plan-status")).to_contain_text("there, after 4 moves")
    wait_for_frame(page, "now-image", goal)
    expect(page.locator("#plan > li")).to_have_count(4)


def test_a_dropped_picture_is_looked_at_and_planned_from(page: Page, address: str, small_store: FrameStore) -> None:
    page.goto(address)
    wait_for_frame(page, "now-image", 0)
    start, goal = row_at(small_store, 3, 30, 0), row_at(small_store, 3, 50, 0)
    content = list(png(small_store.images[start]))
    page.evaluate(DROP, ["#stage", content, "mine.png", "image/png"])
    expect(page.locator("#now-caption")).to_contain_text("mine.png")
    wait_for_frame(page, "predicted-image", start)  # it is that very frame
    assert "frame=" not in page.url
    page.evaluate(DROP, ["#goal-card", list(png(small_store.images[goal])), "goal.png", "image/png"])
    page.get_by_role("button", name="Walk to the goal").click()
    expect(page.locator("#plan-status")).to_contain_text("The plan: up, up.")
    expect(page.locator("#walk > li")).to_have_count(2)
    wait_for_frame(page, "predicted-image", goal)
    expect(page.locator("#truth-absent")).to_have_text("Not known for your own picture")
    expect(page.locator("#frame-number")).to_have_text("(your picture is not on the map)")
    expect(page.locator("#unusual")).to_be_hidden()
    page.evaluate(DROP, ["#stage", list(png(np.full((12, 12, 3), 255, np.uint8))), "white.png", "image/png"])
    expect(page.locator("#unusual")).to_be_visible()


def test_what_cannot_be_used_is_said_and_the_view_stays(page: Page, address: str) -> None:
    page.goto(f"{address}/#frame=5")
    wait_for_frame(page, "now-image", 5)
    for bytes_, name, kind, words in (
        ([1, 2, 3], "notes.txt", "text/plain", "notes.txt is not a picture."),
        ([1, 2, 3], "cut.png", "image/png", "image: 3 bytes that are not a picture"),
    ):
        page.evaluate(DROP, ["#stage", bytes_, name, kind])
        expect(page.get_by_role("alert")).to_contain_text(words)
        assert shown(page, "now-image") == 5
    page.get_by_role("button", name="Dismiss").click()
    expect(page.locator("#problem")).to_be_hidden()


@pytest.mark.parametrize(
    ("address_part", "words"),
    [
        ("frame=99999", "frame 99999: the store has the frames 0 to 143"),
        ("frame=abc", "The address has frame=abc, expected the number of a frame."),
        ("frame=3&goal=1000", "frame 1000: the store has the frames 0 to 143"),
        ("frame=3&walk=fly", "motion 'fly' is not known here"),
    ],
)
def test_a_deep_link_that_leads_nowhere_says_so(page: Page, address: str, address_part: str, words: str) -> None:
    page.goto(f"{address}/#{address_part}")
    expect(page.get_by_role("alert")).to_contain_text(words)
    expect(page.locator("#now-image")).to_have_attribute("src", re.compile("^/v1/frames/[03]/image$"))


def test_advice_pairs_and_the_map_are_used_with_keys(page: Page, address: str, small_store: FrameStore) -> None:
    start = row_at(small_store, 4, 40, 60)
    page.goto(f"{address}/#frame={start}")
    expect(page.locator("#advice-guess")).to_contain_text("This looks like cross")
    expect(page.locator("#advice button")).to_have_count(4)
    page.locator(f'.cell[data-row="{start}"]').focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    wait_for_frame(page, "now-image", row_at(small_store, 4, 50, 60))
    page.locator("#scatter .point.named").first.click()
    expect(page.locator("#pairs .pair")).to_have_count(9)
    page.select_option("#recording", "1")
    wait_for_frame(page, "now-image", row_at(small_store, 1, 30, 0))


def test_every_control_has_a_name_and_nothing_is_wider_than_the_page(page: Page, address: str) -> None:
    page.goto(f"{address}/#frame=3&walk=up&goal=9")
    wait_for_frame(page, "goal-image", 9)
    expect(page.locator("#pairs .pair")).to_have_count(9)
    nameless = page.evaluate("""
    [...document.querySelectorAll("button, input, select, a, svg[role=img]")].filter((one) =>
      !(one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length)).map((one) => one.outerHTML)""")
    assert nameless == []
    assert page.evaluate("[...document.images].filter((one) => !one.hasAttribute('alt')).length") == 0
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "stage"
    for width in (1280, 700, 360):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    grounds = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(grounds) == 2


def test_a_service_with_a_token_asks_for_it(browser: Browser, small_store: FrameStore) -> None:
    page = browser.new_page()
    with running(known_service(small_store), TOKEN) as (address, _):
        page.goto(address)
        page.get_by_label("This service needs a token").fill("not the right token")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("a token is needed")
        page.get_by_label("This service needs a token").fill(TOKEN)
        page.keyboard.press("Enter")
        expect(page.locator("#now-image")).to_have_attribute("src", re.compile("^blob:"))
        assert page.locator("#now-image").evaluate("image => image.decode().then(() => image.naturalWidth)") == 12
    page.get_by_role("group", name="Motions").get_by_role("button", name="up", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("The service does not answer. Is it still running?")
    page.close()


def test_a_service_without_a_store_or_maps_says_so(browser: Browser, small_store: FrameStore) -> None:
    page = browser.new_page()
    without_maps = known_service(small_store, maps=False)
    with running(without_maps) as (address, _):
        page.goto(address)
        expect(page.locator("#pad")).to_contain_text("This model has no maps of motions")
        expect(page.locator("#advice-guess")).to_contain_text("no next-view advice")
        wait_for_frame(page, "now-image", 0)
    with running(Service(without_maps.model)) as (address, _):
        page.goto(address)
        expect(page.get_by_role("alert")).to_contain_text("has no store to explore")
    page.close()


def test_pictures_are_drawn(page: Page, address: str) -> None:
    page.goto(f"{address}/#frame=3&walk=up")
    expect(page.locator("#truth-image")).to_be_visible()
    page.wait_for_load_state("networkidle")
    widths = "[...document.images].filter((one) => one.src).map((one) => one.decode().then(() => one.naturalWidth))"
    sizes = page.evaluate(f"Promise.all({widths})")
    assert len(sizes) > 20
    assert min(sizes) >= 12
    assert (
        np.ptp([page.locator(f"#{name} .frame").bounding_box()["height"] for name in ("now", "predicted", "truth")]) < 1
    )
