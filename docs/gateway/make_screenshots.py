"""Makes the pictures of the gateway's page in this folder: light, dark, and on a phone, while
clients work with a Blender and an OpenUSD scene, one waits for its artist, and one asks to come
from another machine.

    python docs/gateway/make_screenshots.py

Needs the extras ``dev``, ``usd``, ``blender`` and ``ui``, and Chromium. Also prints how long a
change takes until the page shows it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from time import time
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
for place in ("core", "hosts", "ui", "tests", "tests/gateway"):
    sys.path.insert(0, str(PROJECT / place))

from gateway_thread import running_gateway  # noqa: E402
from page_visitor import link_of  # noqa: E402

from browser import chromium  # noqa: E402
from callboard.clients.book import ClientBook  # noqa: E402
from callboard_testing.fake_client import FakeClient  # noqa: E402
from callboard_testing.fake_host import DEADLINE  # noqa: E402
from e2e.serving import PROJECT as SOURCES  # noqa: E402
from e2e.serving import SKILLS, Program, callboard, environment  # noqa: E402

HERE = Path(__file__).resolve().parent
CODE = """\
import bpy

# One lamp above each leaf of the plant, in rows of twelve.
for number in range(144):
    row, column = divmod(number, 12)
    lamp = bpy.data.lights.new(f"lamp_{number}", "POINT")
    lamp.energy = 20 + number
    thing = bpy.data.objects.new(lamp.name, lamp)
    thing.location = row * 0.4 - 2.2, column * 0.4 - 2.2, 2.5
    bpy.context.scene.collection.objects.link(thing)
"""
THINGS = (
    ("Table", "cube", [3, 2, 0.1], [0.25, 0.1, 0.03]),
    ("Vase", "cylinder", [0.5, 0.5, 1.4], [0.03, 0.11, 0.2]),
    ("Apple", "sphere", [0.6, 0.6, 0.6], [0.4, 0.01, 0.01]),
)


class Agent(FakeClient):
    """A client with a name."""

    def __init__(self, url: str, name: str) -> None:
        super().__init__(url, ClientBook().make(name.lower().replace(" ", "-"))[1])
        self._name = name

    def post(self, message: Any, *others: Any, **more: Any) -> Any:
        if isinstance(message, dict) and message.get("method") == "initialize":
            message["params"]["clientInfo"] = {"name": self._name, "version": "2.1"}
        return super().post(message, *others, **more)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        home = Path(folder) / "home"
        shots = Path(folder) / "shots"
        shots.mkdir()
        os.environ["CALLBOARD_HOME"] = str(home)
        scene = shots / "sq010_sh0040.usda"
        scene.write_text('#usda 1.0\n(defaultPrim = "World")\ndef Xform "World" {}\n', "utf-8")
        env = {**environment(home), "QT_QPA_PLATFORM": "offscreen"}
        env["PYTHONPATH"] += os.pathsep + str(SOURCES / "ui")

        def serve(*words: str) -> None:
            command = callboard("serve", "--skills", str(SKILLS), "--root", str(shots), *words)
            running.enter_context(Program(command, env))

        gateway = running.enter_context(running_gateway())
        serve("--host", "blender", "--ui")
        serve("--scene", str(scene))
        browser = running.enter_context(chromium())
        blender = running.enter_context(Agent(f"{gateway.url}/blender", "Claude Code"))
        usd = running.enter_context(Agent(f"{gateway.url}/openusd", "Cursor"))
        work(blender, usd)
        page = opened(browser, link_of(gateway))
        try:
            page.locator(".card img:visible").wait_for(timeout=60_000)
            save(page)
            times = [shown_after(page, usd, number) for number in range(20)]
            print(f"a change shows after {median(times):.3f} s, at most {max(times):.3f}")
        finally:
            page.context.close()


def work(blender: FakeClient, usd: FakeClient) -> None:
    """What the pictures show."""
    blender.call("scene__delete", {"names": ["Cube"]})
    for at, (name, kind, size, color) in enumerate(THINGS):
        made = {"kind": kind, "name": name, "dimensions": size}
        made["translate"] = [at * 0.8 - 0.8, 0, size[2] / 2 - 0.1 * (at == 0)]
        blender.call("scene__create_primitive", made)
        blender.call("scene__set_material_color", {"name": name, "color": color})
    usd.call("scene__create_primitive", {"kind": "sphere", "name": "ball"})
    blender.request("tools/call", {"name": "scene__get_object", "arguments": {"name": "Chair"}})
    for wish in ("simulate cloth", "simulate cloth", "bake a light map"):
        asked = {"capability": wish, "context": "the artist wants a flag that moves"}
        usd.call("mcpeye_request_capability", asked)
    blender.start("tools/call", {"name": "script__execute", "arguments": {"code": CODE}})
    usd.start("tools/call", {"name": "probe__wait", "arguments": {}})
    book = ClientBook()
    book.ask(book.make("render-laptop")[0].id, "10.0.0.7", "")


def opened(browser: Any, link: str) -> Any:
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.set_default_timeout(DEADLINE * 1000)
    page.goto(link)
    page.locator("#state[data-link=live]").wait_for()
    page.locator(".question").nth(1).wait_for()
    return page


def shown_after(page: Any, usd: FakeClient, number: int) -> float:
    """Seconds from the answer to a call that made something to the page that shows it."""
    name = f"light_{number}"
    seen = page.evaluate_handle(
        """name => {
            const list = document.getElementById("changes");
            const seen = new Promise((done) => new MutationObserver(() => {
                if (list.textContent.includes(name)) done(Date.now());
            }).observe(list, {childList: true, subtree: true, characterData: true}));
            return {seen};
        }""",
        f"/{name}",
    )
    usd.call("scene__create_primitive", {"kind": "cube", "name": name})
    answered = time()
    return float(page.evaluate("({seen}) => seen", seen)) / 1000 - answered


def save(page: Any) -> None:
    shots = (
        ("light", "light", 1280, 1480, ".skip"),
        ("dark", "dark", 1280, 1240, "#changes-title"),
        ("phone", "light", 390, 1480, ".skip"),
    )
    for name, scheme, width, height, part in shots:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        page.locator(part).evaluate("e => e.scrollIntoView()")
        page.wait_for_timeout(300)
        page.screenshot(path=str(HERE / f"{name}.png"))


if __name__ == "__main__":
    main()
