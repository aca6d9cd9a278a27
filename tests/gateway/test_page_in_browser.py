"""The gateway's page in a real browser. Each element is used with the mouse, and with the
keyboard alone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from gateway_thread import RunningGateway
from page_visitor import link_of

from browser import chromium
from callboard.calls.change_history import SceneChange
from callboard.clients.book import ClientBook
from callboard.content import Image
from callboard.ground.png import Picture, encode
from callboard.workspace.containment import parse_root
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE
from e2e.client_environments import INSTALL_TIMEOUT
from serving import Served, served

pytestmark = [pytest.mark.slow, pytest.mark.timeout(INSTALL_TIMEOUT + 60)]

CODE = {"type": "object", "properties": {"code": {"type": "string"}}}
MARKUP = "<img src=x onerror=alert(1)>"
#: A name that ends in invisible text.
TAGGED = "ball" + "".join(chr(0xE0000 + ord(c)) for c in "obey")
RED = Image(encode(Picture(4, 4, bytes([200, 30, 30] * 16))))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture
def host(request: pytest.FixtureRequest) -> Iterator[Served]:
    """Yield a host with records, and with the tools for scenes unless the test asks for none."""
    skills = getattr(request, "param", True)
    with served(
        announce=True, records=True, skills=skills, capture_missing_capabilities=True
    ) as running:
        yield running


without_scene_tools = pytest.mark.parametrize("host", [False], indirect=True, ids=[""])


class Page:
    """The page, opened by a link, and the browser's complaints about it."""

    def __init__(self, browser: Any, gateway: RunningGateway) -> None:
        self.context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
        self.context.set_default_timeout(DEADLINE * 1000)
        self.tab = self.context.new_page()
        self.complaints: list[str] = []
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("console", self._heard)
        self.tab.goto(link_of(gateway))
        self.tab.locator("#state[data-link=live]").wait_for()

    def _heard(self, message: Any) -> None:
        # Chromium reports anything here that the page tried to do but isn't allowed to.
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def shows(self, selector: str, text: str) -> Any:
        """Wait until an element contains the text."""
        element = self.tab.locator(selector).filter(has_text=text).first
        element.wait_for()
        return element

    def lacks(self, selector: str, text: str) -> None:
        self.tab.locator(selector).filter(has_text=text).first.wait_for(state="detached")

    def to(self, label: str, key: str = "Tab") -> None:
        """Press keys until the element with that name has the focus."""
        for _ in range(100):
            self.tab.keyboard.press(key)
            if self.focus().startswith(label):
                return
        raise AssertionError(f"the focus never reached {label!r}; it is on {self.focus()!r}")

    def focus(self) -> str:
        name = "(e => e.ariaLabel || e.textContent || e.id)(document.activeElement)"
        return str(self.tab.evaluate(name)).strip()


@pytest.fixture
def page(browser: Any, gateway: RunningGateway, host: Served) -> Iterator[Page]:
    opened = Page(browser, gateway)
    yield opened
    assert opened.complaints == []
    opened.context.close()


@pytest.fixture
def client(gateway: RunningGateway, host: Served, page: Page) -> Iterator[FakeClient]:
    with gateway.client("fake") as running:
        yield running


def waits(host: Served) -> None:
    def wait(ctx: Any) -> Iterator[None]:
        ctx.progress(1, 2, "half of it")
        while True:
            yield

    host.tool("wait", wait)


def asked(host: Served, client: FakeClient, code: str) -> Any:
    """Start a call that waits for its artist."""
    host.tool("run_it", lambda code: "it ran", CODE, annotations={"destructiveHint": True})
    host.app.controls.attend()
    host.app.controls.set_consent_policy("destructive", "ask")
    return client.start("tools/call", {"name": "run_it", "arguments": {"code": code}})


def test_without_the_link_there_is_no_page(browser: Any, gateway: RunningGateway) -> None:
    tab = browser.new_context().new_page()
    answer = tab.goto(gateway.url.removesuffix("mcp"))
    assert answer.status == 401
    assert "callboard gateway --open" in tab.content()
    link = link_of(gateway)
    assert tab.goto(link).status == 200
    tab.wait_for_url("**/")
    assert "#" not in tab.url
    assert browser.new_context().new_page().goto(link).status == 401
    tab.context.close()


def test_each_element_with_the_mouse(page: Page, host: Served, client: FakeClient) -> None:
    page.shows(".card .facts", "/mcp/fake")
    page.shows(".card .facts", "as local")
    page.shows("#matrix td.offered", "offered")
    host.app.capabilities.withdraw("usd")
    page.shows("#matrix td.withdrawn", "withdrawn")

    waits(host)
    running = client.start("tools/call", {"name": "wait", "arguments": {}})
    row = page.shows("#calls li", "wait for")
    row.get_by_text("half of it").wait_for()
    row.get_by_role("button").click()
    assert running.result(DEADLINE)["error"]["code"] == -31003
    page.lacks("#calls li", "wait for")

    for name in ("one", "two"):
        client.call("scene__create_primitive", {"kind": "cube", "name": name})
    page.shows("#changes li", "created /two").get_by_role("button", name="Undo:").wait_for()
    page.shows("#changes li", "created /one").get_by_role("button").click()
    page.shows("#changes li.undone", "created /two")
    page.shows("#changes li.undone", "created /one")
    assert host.on_main(host.host.scene.names) == []

    page.shows("#ended li", "scene__create_primitive").get_by_role("button").click()
    page.shows("#trace-text", '"tool": "scene__create_primitive"')
    page.tab.locator("#trace-copy").click()
    page.shows("#trace-state", "Copied.")
    copied = json.loads(page.tab.evaluate("navigator.clipboard.readText()"))
    assert copied["arguments"]["kind"] == "cube"
    page.tab.locator("#trace-close").click()

    client.call("mcpeye_request_capability", {"capability": "make it rain"})
    page.tab.locator("#report-again").click()
    page.shows("#report tr", "make it rain")
    page.tab.locator("#since").select_option("1d")
    page.shows("#report-sum", "in 1 session,")


@without_scene_tools
def test_a_question_is_answered_once_its_end_was_seen(
    page: Page, host: Served, client: FakeClient
) -> None:
    waiting = asked(host, client, "\n".join(f"line {n}" for n in range(200)))
    card = page.shows(".question", "run_it")
    card.get_by_text("Scroll to the end").wait_for()
    allow = card.get_by_role("button", name="Allow once")
    assert allow.is_disabled()
    card.locator("pre").evaluate("e => e.scrollTo(0, e.scrollHeight)")
    allow.click()  # This waits until the button is enabled.
    assert "it ran" in str(waiting.result(DEADLINE)["result"])
    page.tab.locator("#questions").wait_for(state="hidden")


def test_by_keys_alone(page: Page, host: Served, client: FakeClient) -> None:
    waiting = asked(host, client, "short")
    page.shows(".question", "run_it").locator("button.main:enabled").wait_for()
    page.to("Skip to the hosts")
    page.to("Refuse")
    page.tab.keyboard.press("Enter")
    assert waiting.result(DEADLINE)["error"]["code"] == -31003

    waits(host)
    running = client.start("tools/call", {"name": "wait", "arguments": {}})
    page.shows("#calls li", "wait for")
    page.to("Cancel wait in fake")
    page.tab.keyboard.press("Space")
    assert running.result(DEADLINE)["error"]["code"] == -31003

    client.call("scene__create_primitive", {"kind": "cube", "name": "one"})
    page.shows("#changes li", "created /one")
    page.to("Undo: created /one")
    page.tab.keyboard.press("Enter")
    page.shows("#changes li.undone", "created /one")

    page.shows("#ended li", "scene__create_primitive")
    page.to("Trace of scene__create_primitive")
    page.tab.keyboard.press("Enter")
    page.shows("#trace-text", '"outcome": "ok"')
    assert page.focus() == "Copy"
    page.tab.keyboard.press("Escape")
    page.tab.locator("#trace").wait_for(state="hidden")


@without_scene_tools
def test_who_comes_from_another_machine_and_what_holds_for_longer_by_keys_alone(
    page: Page, host: Served, client: FakeClient
) -> None:
    book = ClientBook()
    for name in ("ada", "eve"):
        book.ask(book.make(name)[0].id, "10.0.0.7", f"{MARKUP} {TAGGED}")
    card = page.shows("article[aria-label='ada asks to connect from another machine']", "10.0.0.7")
    card.get_by_text(f"{MARKUP} ball\\U000e006f").wait_for()
    card.locator("button.main:enabled").wait_for()
    page.to("Skip to the hosts")
    page.to("Approve")
    page.tab.keyboard.press("Enter")
    page.lacks(".question", "ada asks")
    page.to("Refuse")
    page.tab.keyboard.press("Enter")
    page.tab.locator("#questions").wait_for(state="hidden")
    assert [(one.name, one.remote, one.turned_away) for one in book.all()] == [
        ("ada", True, False),
        ("eve", False, True),
    ]

    waiting = asked(host, client, "short")
    page.shows(".question", "run_it").locator("button.main:enabled").wait_for()
    page.to("Skip to the hosts")
    page.to("For longer")
    page.tab.keyboard.press("Enter")
    page.to("For this session")
    page.tab.keyboard.press("Enter")
    assert "it ran" in str(waiting.result(DEADLINE)["result"])
    page.tab.locator("#questions").wait_for(state="hidden")
    again = client.start("tools/call", {"name": "run_it", "arguments": {"code": "other"}})
    assert "it ran" in str(again.result(DEADLINE)["result"])


@without_scene_tools
def test_what_instances_tell_is_text_and_hides_nothing(
    page: Page, host: Served, gateway: RunningGateway, tmp_path: Path
) -> None:
    book = host.app.dispatcher.changed
    book.add(SceneChange("c1", MARKUP, MARKUP, 1.0, 1.0, f"created {TAGGED}", (), None))
    book.add(SceneChange("c2", "t", "c", 2.0, 1.0, f"created {MARKUP}", (), None))
    page.shows("#changes li", MARKUP)
    page.shows("#changes li", "ball\\U000e006f\\U000e0062")
    assert page.tab.locator("img[src=x]").count() == 0
    # A forbidden action of the page would have been reported.
    with page.tab.expect_console_message(lambda heard: "Content Security Policy" in heard.text):
        page.tab.evaluate("document.body.setAttribute('style', 'color: red')")
    page.complaints.clear()


def test_the_scene_is_shown_and_not_when_it_is_not_wanted(
    browser: Any, gateway: RunningGateway
) -> None:
    drawn = threading.Event()

    def draw(**size: int) -> Image:
        drawn.set()
        return RED

    with served(announce=True, declared_capabilities=["viewport"]) as host:
        host.tool("viewport__capture", draw, annotations={"readOnlyHint": True})
        page = Page(browser, gateway)
        image = page.tab.get_by_alt_text("The scene of fake")
        image.wait_for()
        assert drawn.is_set()
        assert image.evaluate("e => e.decode().then(() => e.naturalWidth)") == 4
        page.tab.get_by_label("Pictures").uncheck()
        image.wait_for(state="hidden")
        assert page.complaints == []
        page.context.close()


@without_scene_tools
def test_hosts_come_and_go(page: Page, host: Served) -> None:
    with served(announce=True) as other:
        page.shows(".card h3", "fake_2")
        assert other.app.id
    page.lacks(".card h3", "fake_2")
    page.shows(".card h3", "fake")


#: More cards than fit on a screen.
MANY = 14


@without_scene_tools
def test_of_many_hosts_what_waits_runs_and_changed_is_on_the_first_screen(
    page: Page, host: Served, client: FakeClient, tmp_path: Path
) -> None:
    def open_scene(server: Served, file: str) -> None:
        server.host.scene_path = str(tmp_path / file)
        server.host.project = [str(tmp_path)]
        server.host.announce("project")

    with ExitStack() as stack:
        for number in range(MANY - 1):
            other = stack.enter_context(served(announce=True))
            other.on_main(partial(open_scene, other, f"shot_{number:02}.usd"))
        page.shows("#state", f"{MANY} hosts")
        waits(host)
        client.start("tools/call", {"name": "wait", "arguments": {}})
        asked(host, client, "\n".join(f"line {n}" for n in range(40)))
        book = host.app.dispatcher.changed
        for n in range(20):
            book.add(SceneChange(f"c{n}", "t", "c", n, 1.0, f"created /crate_{n}", (), None))
        page.shows(".question", "run_it")
        page.shows("#calls li", "wait for")
        page.shows("#changes li", "created /crate_19")
        for width, height in ((1280, 800), (390, 844)):
            page.tab.set_viewport_size({"width": width, "height": height})
            assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
            for first in (".question button.main", "#calls li", "#changes li"):
                top = page.tab.locator(first).first.bounding_box()["y"]
                assert 0 < top < height, (first, width)
        assert page.tab.locator(".card .facts").first.is_hidden()
        page.tab.get_by_label("More of fake_2", exact=True).click()
        page.tab.locator("[aria-label=fake_2] .facts").wait_for()
        page.tab.get_by_label("Find a host, scene or client").fill("SHOT_03")
        page.shows("#state", f"{MANY} hosts (1 shown)")
        page.tab.get_by_label("Find a host, scene or client").fill("")
        page.tab.get_by_label("Which hosts").select_option("asks")
        page.tab.locator(".card").nth(1).wait_for(state="detached")
        page.shows(".card h3", "fake")
        page.shows(".question", "run_it").get_by_role("button", name="Refuse").click()


@without_scene_tools
def test_a_folder_is_listed_once_among_the_roots(page: Page, host: Served, tmp_path: Path) -> None:
    def open_project() -> None:
        host.host.project = [str(tmp_path)]
        host.host.announce("project")

    host.on_main(open_project)
    host.app.controls.set_roots([parse_root(str(tmp_path), source="artist")])
    page.shows(".card .facts li", "artist, project")
    assert page.tab.locator(".card .facts li").filter(has_text=str(tmp_path)).count() == 1
