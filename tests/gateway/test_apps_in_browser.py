"""The MCP Apps page in a real browser, shown by the official SDK's client and host bridge, which
speaks to a server directly and through the gateway, in both eras."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gateway_thread import RunningGateway

from browser import chromium
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE
from columns_host import ColumnsHost
from e2e.client_environments import INSTALL_TIMEOUT, npm_with
from e2e.serving import Program, callboard, environment
from needed import needs
from serving import Served, served

pytestmark = [pytest.mark.slow, pytest.mark.timeout(INSTALL_TIMEOUT + 60)]

SCRIPT = Path(__file__).parents[1] / "e2e" / "clients" / "app_host.mjs"
PACKAGES = (
    "@modelcontextprotocol/ext-apps@2.0.4",
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/core@2.4.0",
    "@modelcontextprotocol/server@2.4.0",
    "zod@4.6.7",
    "esbuild@0.28.2",
)
#: The address of a page that the browser trusts. Nothing listens there: the test answers.
HERE = "http://apps.localhost"
PAGE = """<!doctype html><title>A client</title><script type="module" src="host.js"></script>"""
ASKED = {"width": 320, "height": 160}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the client, bundled into one file."""
    folder = npm_with(*PACKAGES)
    copy, made = folder / SCRIPT.name, tmp_path_factory.mktemp("client") / "host.js"
    copy.write_bytes(SCRIPT.read_bytes())
    program = folder / "node_modules" / ".bin" / "esbuild"
    command = [program, copy, "--bundle", "--format=esm", f"--outfile={made}"]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    return made.read_text("utf-8")


class AppClient:
    """A client with the page open, and the browser's complaints about it."""

    def __init__(self, browser: Any, script: str, url: str, token: str | None) -> None:
        self._script, self.url, self.token = script, url, token
        self._app: dict[str, str] = {}
        self.context = browser.new_context(viewport={"width": 900, "height": 900})
        self.context.set_default_timeout(DEADLINE * 1000)
        self.context.route("**/*", self._answer)
        self.tab = self.context.new_page()
        self.outside: list[str] = []
        self.complaints: list[str] = []
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("console", self._heard)
        self.tab.expose_function("pageOfApp", self._keep)
        self.tab.goto(f"{HERE}/")
        self.tab.wait_for_function("typeof window.start === 'function'")
        self.app = self.tab.frame_locator("iframe")

    def start(self, era: str, *, theme: str = "light", width: int = 640, **args: Any) -> None:
        asked = {"tool": "viewport__look", "args": {**ASKED, **args}}
        self.tab.evaluate("start", {"era": era, "theme": theme, "width": width, **asked})
        self.tab.wait_for_function("window.shown.ready")

    def shown(self) -> Any:
        return self.tab.evaluate("window.shown")

    def says(self, selector: str, text: str) -> None:
        self.app.locator(selector).filter(has_text=text).wait_for()

    def end(self) -> None:
        """Check that no other server was asked, and that the browser has no complaints."""
        complaints, outside = [*self.complaints], [*self.outside]
        # The page's last requests find no server, and don't count.
        self.context.unroute_all(behavior="ignoreErrors")
        self.context.close()
        assert complaints == []
        assert outside == []

    def _keep(self, page: str, policy: str) -> None:
        self._app = {"body": page, "policy": policy}

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning") and "405" not in message.text:
            self.complaints.append(message.text)

    def _answer(self, route: Any) -> None:
        asked = route.request
        path = asked.url.removeprefix(HERE)
        if path == "/":
            route.fulfill(content_type="text/html", body=PAGE)
        elif path == "/host.js":
            route.fulfill(content_type="text/javascript", body=self._script)
        elif path == "/app.html":
            policy = {"Content-Security-Policy": self._app["policy"]}
            route.fulfill(content_type="text/html", headers=policy, body=self._app["body"])
        elif path == "/mcp":
            self._relay(route)
        else:
            if not path.endswith("/favicon.ico"):
                self.outside.append(asked.url)
            route.abort()

    def _relay(self, route: Any) -> None:
        if route.request.method == "GET":  # The server would answer this stream only when it ends.
            route.fulfill(status=405)
            return
        headers = {k: v for k, v in route.request.headers.items() if k not in ("origin", "referer")}
        route.fulfill(
            response=route.fetch(
                url=self.url, headers={**headers, "authorization": f"Bearer {self.token}"}
            )
        )


@pytest.fixture
def host() -> Iterator[Served]:
    with served(ColumnsHost, announce=True, records=True, skills=True) as running:
        with running.client() as client:
            for name in ("Ball", "Box"):
                client.call("scene__create_primitive", {"kind": "cube", "name": name})
        yield running


@pytest.fixture(params=["directly", "through the gateway"])
def opened(
    request: pytest.FixtureRequest, browser: Any, script: str, host: Served
) -> Iterator[AppClient]:
    if request.param == "directly":
        client = AppClient(browser, script, host.app.url, host.app.token)
    else:
        gateway: RunningGateway = request.getfixturevalue("gateway")
        client = AppClient(browser, script, f"{gateway.url}/fake", gateway.token)
    yield client
    client.end()


def selection(host: Served) -> list[str]:
    return host.on_main(lambda: host.host.scene.selection())


@pytest.mark.parametrize("era", ["sessions", "stateless"])
def test_what_is_clicked_is_selected_and_undone(opened: AppClient, host: Served, era: str) -> None:
    opened.start(era)
    shown = opened.shown()
    assert shown["type"] == "text/html;profile=mcp-app"
    assert [block["type"] for block in shown["result"]["content"]] == ["text", "image"]
    assert (
        opened.app.locator("#picture").evaluate("e => e.decode().then(() => e.naturalWidth)") == 320
    )
    opened.says("#selected", "Nothing selected")
    box = opened.app.locator("#picture").bounding_box()
    opened.app.locator("#stage").click(position={"x": box["width"] * 0.8, "y": 40})
    opened.says("#said", "Selected /Box.")
    assert selection(host) == ["/Box"]
    opened.app.locator("#undo").click()
    opened.says("#said", "Undone:")
    opened.says("#selected", "Nothing selected")
    assert selection(host) == []
    opened.app.locator("#stage").click(position={"x": 10, "y": box["height"] - 4})
    opened.says("#said", "There is no object at that point.")
    assert opened.shown()["sizes"][-1] >= box["height"]
    tools = {"viewport__look", "viewport__pick", "scene__select", "scene__undo"}
    assert tools <= set(called(host))


def called(host: Served) -> list[str]:
    """Return the tools whose calls were recorded, oldest first."""
    records = host.app.records
    assert records is not None
    records.flush()
    return [record.tool for record in reversed(records.reader().recent().calls)]


def test_it_is_used_by_keys_alone(opened: AppClient, host: Served) -> None:
    opened.start("sessions", theme="dark", width=360)
    opened.says("#said", "Click on an object")
    stage = opened.app.locator("#stage")
    stage.focus()
    for _ in range(3):
        opened.tab.keyboard.press("Shift+ArrowLeft")
    opened.tab.keyboard.press("Enter")
    opened.says("#said", "Selected /Ball.")
    opened.tab.keyboard.press("Tab")
    opened.tab.keyboard.press("Tab")
    opened.tab.keyboard.press("Enter")
    opened.says("#said", "Undone:")
    assert selection(host) == []
    body = opened.app.locator("body")
    assert body.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert body.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(29, 31, 33)"


def test_what_waits_for_the_artist_is_told_and_not_decided(
    opened: AppClient, host: Served, request: pytest.FixtureRequest
) -> None:
    host.tool("wipe", lambda: "wiped", annotations={"destructiveHint": True})
    host.app.controls.attend()
    host.app.controls.set_consent_policy("destructive", "ask")
    opened.start("sessions")
    with FakeClient(opened.url, opened.token) as agent:
        call = agent.start("tools/call", {"name": "wipe", "arguments": {}})
        opened.says("#waiting", "wipe deletes or replaces things")
        assert opened.app.locator("#waiting button, #waiting a").count() == 0
        (question,) = host.app.dispatcher.consent.questions
        host.app.controls.answer(question, "allow")
        assert not call.result(DEADLINE)["result"]["isError"]
    opened.app.locator("#waiting").wait_for(state="hidden")


def test_a_refusal_is_said(opened: AppClient, host: Served) -> None:
    opened.start("sessions")
    host.app.controls.pause()
    opened.app.locator("#again").click()
    opened.says("#said", "paused")
    host.app.controls.resume()
    host.on_main(lambda: host.host.scene.rename("/Box", "<b>Box</b>"))
    opened.app.locator("#stage").click(position={"x": 500, "y": 40})
    opened.says("#said", "<b>Box</b>")
    assert opened.app.locator("#said b, #selected b").count() == 0


def test_a_scene_of_others_breaks_nothing(opened: AppClient, host: Served) -> None:
    """The scene has many names, among them a long one, one written right to left and one that looks
    like markup. Its picture isn't valid."""
    names = [
        "A" * 300,
        "\u202egnikcilc",
        "<img src=x>",
        *(f"N{i}" for i in range(9)),
    ]
    host.on_main(lambda: [host.host.scene.create("cube", name, {}) for name in names])
    opened.start("sessions", theme="dark", width=360)
    host.on_main(lambda: host.host.scene.select([f"/{name}" for name in names]))
    opened.app.locator("#again").click()
    opened.says("#selected", "and 7 more")
    # The new picture has arrived. A request from the page's start may report the selection too.
    opened.app.locator("#again:enabled").wait_for()
    body = opened.app.locator("body")
    assert body.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert opened.app.locator("#selected *").count() == 0
    opened.app.locator("#picture").evaluate("e => { e.src = 'data:image/svg+xml;base64,AAAA'; }")
    opened.says("#said", "That picture can't be shown.")
    opened.app.locator("#stage").click(position={"x": 40, "y": 40})
    assert "viewport__pick" not in called(host)
    opened.app.locator("#again").click()
    opened.says("#said", "Click on an object")


def test_several_pictures_are_shown_and_not_clicked(opened: AppClient, host: Served) -> None:
    opened.start("sessions", frames=[1, 2])
    opened.says("#said", "several pictures")
    opened.app.locator("#stage").click(position={"x": 40, "y": 40})
    opened.app.locator("#again").click()
    opened.says("#said", "several pictures")
    assert "viewport__pick" not in called(host)


@needs("bpy")
def test_blenders_picture_is_clicked(browser: Any, script: str, home: Path) -> None:
    with Program(callboard("serve", "--host", "blender"), environment(home)) as program:
        client = AppClient(browser, script, program.url, program.token)
        with FakeClient(program.url, program.token) as agent:
            blender_scene(agent)
            client.start("stateless", angles=["front"], shading="solid")
            box = client.app.locator("#picture").bounding_box()
            middle = {"x": box["width"] / 2, "y": box["height"] / 2}
            client.app.locator("#stage").click(position=middle)
            client.says("#said", "Selected Column.")
            selected = agent.call("scene__get_selection", {})["structuredContent"]
            assert selected["selection"] == ["Column"]
            # The client looked, and clicked on empty space, but changed nothing, so undo is
            # still possible.
            client.app.locator("#again").click()
            client.says("#said", "Click on an object")
            client.app.locator("#stage").click(position={"x": 4, "y": 4})
            client.says("#said", "There is no object at that point.")
            client.app.locator("#undo").click()
            client.says("#said", "Undone:")
            client.says("#selected", "Nothing selected")
        client.end()


def blender_scene(agent: FakeClient) -> None:
    """Make a column on a floor, with nothing selected."""
    floor = {"kind": "plane", "name": "Floor", "size": 8}
    column = {"kind": "cylinder", "name": "Column", "radius": 0.8, "height": 3}
    agent.call("scene__create_primitive", floor)
    agent.call("scene__create_primitive", {**column, "translate": [0, 0, 1.5]})
    agent.call("scene__select", {"names": []})
