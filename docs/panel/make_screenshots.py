"""Makes the pictures in this folder: every tab of the panel, light and dark, narrow and wide, while
a client works with a server that runs in this process on an OpenUSD scene.

    QT_QPA_PLATFORM=offscreen python docs/panel/make_screenshots.py

Needs the extras ``dev`` and ``usd``. Records and settings go into a folder that is
removed afterwards.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from looks import HOSTS, palette
from looks import save as save_as
from mcp import ClientSession, McpError, types
from mcp.client.streamable_http import streamablehttp_client
from qtpy.QtCore import QSize
from qtpy.QtGui import QPalette
from qtpy.QtWidgets import QApplication, QWidget

from callboard.app import Callboard
from callboard.bundles.installed.install_folders import user_bundles
from callboard.bundles.installed.manifest import HOST_KEY
from callboard.clients.book import ClientBook
from callboard.config import McpHttpConfig
from callboard.host import SCRIPT, USD, PlugIn
from callboard_openusd.host import OpenUsdHost
from callboard_qt.application.main_thread import QtMainThread
from callboard_ui import make_panel
from callboard_ui import panel as tabs
from callboard_ui.capabilities_tab import ASKED, BUNDLES
from callboard_ui.connect_dialog import ConnectDialog
from callboard_ui.panel import Panel

HERE = Path(__file__).resolve().parent
NARROW, WIDE = QSize(280, 620), QSize(940, 560)
SCALE = "QT_SCALE_FACTOR"
#: Seconds.
PATIENCE = 20.0

SKILL = """---
name: studio-publish
description: Publishes assets to the studio's library, with a turntable and notes.
metadata:
  dcc-mcp:
    prompts: prompts.yaml
    examples: examples/*.md
---
"""
PROMPTS = """prompts:
  - name: publish_asset
    description: Check an asset and publish it to the library
    arguments:
      - name: asset
        description: Which asset
        required: true
    template: Publish {{asset}}.
  - name: ""
    template: nameless
"""
BUNDLED = """---
name: biped-rigging
description: Rigs bipeds.
---
"""
CODE = """for prim in stage.Traverse():
    if prim.GetName().startswith("tmp_"):
        stage.RemovePrim(prim.GetPath())
"""


class StageScripts:
    """Runs Python with the open stage at hand."""

    def __init__(self, host: OpenUsdHost) -> None:
        self._host = host

    def languages(self) -> list[str]:
        return ["python"]

    def execute(self, code: str, language: str) -> object:
        exec(compile(code, "<agent>", "exec"), {"stage": self._host.stage})
        return None


class Agent:
    """A client in a thread of its own, made with the official SDK."""

    def __init__(self, app: Callboard, name: str, version: str, roots: list[Path]) -> None:
        self._app = app
        self._info = types.Implementation(name=name, version=version)
        self._roots = roots
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop: asyncio.Event
        self._session: ClientSession
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def ready(self) -> bool:
        return self._ready.is_set()

    def start(self, tool: str, **arguments: Any) -> Any:
        """Calls a tool; a future that is done when the answer is there, whatever it is."""

        async def call() -> None:
            with suppress(McpError):
                await self._session.call_tool(tool, arguments)

        return asyncio.run_coroutine_threadsafe(call(), self._loop)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)

    def closed(self) -> bool:
        return not self._thread.is_alive()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        token = ClientBook().make(self._info.name.lower().replace(" ", "-"))[1]
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            streamablehttp_client(self._app.url, headers=headers) as (read, write, _),
            ClientSession(
                read, write, list_roots_callback=self._list_roots, client_info=self._info
            ) as session,
        ):
            self._session = session
            await session.initialize()
            self._ready.set()
            await self._stop.wait()

    async def _list_roots(self, context: Any) -> types.ListRootsResult:
        roots = [types.Root(uri=path.as_uri(), name=path.name) for path in self._roots]
        return types.ListRootsResult(roots=roots)


def until(condition: Callable[[], object]) -> None:
    """Lets Qt run until it holds. TimeoutError."""
    end = monotonic() + PATIENCE
    while not condition():
        if monotonic() > end:
            raise TimeoutError("what the picture should show never came")
        QApplication.processEvents()
        sleep(0.005)


def rest(seconds: float) -> None:
    """Lets what was asked for arrive."""
    end = monotonic() + seconds
    until(lambda: monotonic() > end)


def save(widget: QWidget, name: str) -> None:
    save_as(widget, HERE / f"{name}.png")


def project(folder: Path) -> list[Path]:
    """Folders to be roots, and a skill with something wrong in it."""
    hero, library = folder / "projects" / "hero", folder / "library"
    for made in (hero, library):
        made.mkdir(parents=True)
    skill = folder / "skills" / "studio-publish"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL, encoding="utf-8")
    (skill / "prompts.yaml").write_text(PROMPTS, encoding="utf-8")
    wanted = {"ai.nimblebrain/host-resources": {"required": True}, "com.studio/library": {}}
    manifest = {
        "manifest_version": "0.3",
        "name": "biped-rigging",
        "version": "1.2.0",
        "description": "Rigs bipeds.",
        "author": {"name": "A studio"},
        "_meta": {HOST_KEY: {"host_version": "1.1", "host_capabilities": wanted}},
    }
    with zipfile.ZipFile(folder / "rigging.mcpb", "w") as packed:
        packed.writestr("manifest.json", json.dumps(manifest))
        packed.writestr("SKILL.md", BUNDLED)
    user_bundles().install(folder / "rigging.mcpb", ["ai.nimblebrain/host-resources"])
    return [hero, library]


class Session:
    """Server, panel and clients, as the pictures show them."""

    def __init__(self, folder: Path, application: QApplication) -> None:
        self.application = application
        self.light = QPalette(application.palette())
        #: What the artist does just now.
        self.doing: str | None = None
        hero, library = project(folder)
        self.main = QtMainThread()
        host = OpenUsdHost(self.main.post)
        host.has_windows = True
        host.may_run = lambda work: self.doing  # type: ignore[method-assign]
        host.set_ports({**host.ports, SCRIPT: StageScripts(host)})
        config = McpHttpConfig(
            skill_paths=[folder / "skills"], roots=[str(hero), str(library)], announce=False
        )
        self.app = Callboard(host, config)
        self.release = threading.Event()
        self.app.tools.register(
            "studio__publish_asset",
            self._publish,
            "Publishes an asset.",
            {"type": "object"},
            affinity="any",
            title="Publish an asset",
        )
        self.app.start()
        self.panel: Panel = make_panel(self.app)  # type: ignore[assignment]
        self.panel.show()
        self.agents = [
            Agent(self.app, "Claude Code", "2.1.4", [hero, folder / "missing"]),
            Agent(self.app, "studio-farm-watcher", "0.3", []),
        ]
        for agent in self.agents:
            until(agent.ready)
        until(lambda: len(self.panel.header._snapshot.clients) == 2)

    def _publish(self, ctx: Any = None, **arguments: Any) -> str:
        ctx.progress(13, 20, "turntable, frame 13 of 20")
        self.release.wait(120)
        return "published"

    def without_usd(self) -> None:
        """As in Maya while its plug-in isn't loaded."""
        advice = "the plug-in mayaUsdPlugin isn't loaded; it comes with Maya"
        host = self.app.host
        host.plug_ins = {USD: PlugIn("mayaUsdPlugin", advice, lambda: None)}
        host.set_ports({name: port for name, port in host.ports.items() if name != USD})

    def work(self) -> None:
        """What the clients did before the first picture."""
        agent, other = self.agents
        done = [
            agent.start("scene__create_primitive", kind=kind, name=f"prop_{number}")
            for number, kind in enumerate(("cube", "sphere", "cone", "torus", "cylinder") * 5)
        ]
        done.append(other.start("scene__list_objects"))
        done.append(agent.start("scene__get_object", name="prop_99"))
        done.append(agent.start("animation__set_keys", name="prop_1", keys=[]))
        done.append(agent.start("usd__export_usd", path="workspace://out/../../etc/prop.usda"))
        done.append(
            agent.start(
                "mcpeye_request_capability",
                capability="bake a cloth simulation",
                context="the cape must fall over the shoulders",
            )
        )
        done.append(other.start("scene__scene_info"))
        until(lambda: self.allow_all() or all(future.done() for future in done))

    def allow_all(self) -> None:
        """Answers what is asked meanwhile, about folders that the agents name."""
        controls = self.panel.link.controls
        for question in controls.status.snapshot.questions:
            controls.answer(question.id, "allow_session")

    def use(self, colors: QPalette) -> None:
        self.application.setPalette(colors)
        rest(0.05)

    def show(self, size: QSize, tab: int) -> None:
        self.panel.resize(size)
        self.panel.tabs.setCurrentIndex(tab)
        rest(0.7)

    def close(self) -> None:
        self.release.set()
        for agent in self.agents:
            agent.close()
        until(lambda: all(agent.closed() for agent in self.agents))
        self.panel.close()
        self.app.stop()
        self.main.close()


def empty(application: QApplication, folder: Path) -> None:
    """A server that nobody has connected to."""
    main = QtMainThread()
    app = Callboard(OpenUsdHost(main.post), McpHttpConfig(announce=False)).start()
    panel: Panel = make_panel(app)  # type: ignore[assignment]
    panel.resize(NARROW)
    panel.show()
    for name, tab in (("activity", tabs.ACTIVITY), ("roots", tabs.ROOTS)):
        panel.tabs.setCurrentIndex(tab)
        rest(0.5)
        save(panel, f"empty-{name}")
    panel.close()
    app.stop()
    main.close()


def pictures(session: Session, light: QPalette) -> None:
    panel, agent = session.panel, session.agents[0]
    session.work()
    agent.start("studio__publish_asset", asset="hero_cape")
    until(lambda: panel.activity.model.running)
    panel.link.controls.restore(SCRIPT)
    until(lambda: "script__execute" in {t.name for t in panel.header._snapshot.tools})
    looks = (("light", light), ("dark", palette("maya")))
    sizes = (("narrow", NARROW), ("wide", WIDE))
    names = ("activity", "roots", "capabilities", "skills")
    at = (tabs.ACTIVITY, tabs.ROOTS, tabs.CAPABILITIES, tabs.SKILLS)
    panel.tabs.setCurrentIndex(tabs.ACTIVITY)
    until(lambda: {"ok", "error", "refused"} <= {row.state for row in panel.activity.model.past})
    choose(panel)
    for look, colors in looks:
        session.use(colors)
        for size, room in sizes:
            for name, tab in zip(names, at, strict=True):
                session.show(room, tab)
                save(panel, f"{name}-{look}-{size}")
    agent.start("script__execute", code=CODE, language="python")
    agent.start("usd__export_usd", path=str(Path(tempfile.gettempdir()) / "hero.usda"))
    until(lambda: len(panel.consent.cards.cards) == 2)
    for look, colors in looks:
        session.use(colors)
        for size, room in sizes:
            session.show(room, tabs.CONSENT)
            save(panel, f"consent-{look}-{size}")
    session.use(light)
    panel.hide()
    panel._show(panel.link.controls.status.snapshot)
    rest(0.7)
    save(panel.notice, "consent-notice")
    panel.show()
    dialog = ConnectDialog(panel.link.controls.instance, str(Path(tempfile.gettempdir())), panel)
    dialog.show()
    dialog.client.setCurrentIndex(dialog.client.findData("cursor"))
    dialog.direct.setChecked(True)
    dialog.file.setText("/home/ana/.cursor/mcp.json")
    until(dialog.difference.toPlainText)
    save(dialog, "connect")
    dialog.close()
    states(session)
    panel.link.controls.pause()
    session.show(NARROW, tabs.CAPABILITIES)
    panel.capabilities.page.setCurrentIndex(ASKED)
    rest(0.9)
    save(panel, "paused-asked-for")
    panel.link.controls.resume()
    session.without_usd()
    panel.capabilities.page.setCurrentIndex(BUNDLES)
    until(lambda: panel.capabilities.plug_ins.buttons)
    session.show(NARROW, tabs.CAPABILITIES)
    save(panel, "load-bundles")


def states(session: Session) -> None:
    """What an artist may meet, in a narrow dock."""
    panel, (agent, other) = session.panel, session.agents
    controls = panel.link.controls
    for question in controls.status.snapshot.questions:
        controls.answer(question.id, "allow_session")
    until(lambda: not panel.consent.cards.cards)
    for host in HOSTS:
        session.use(palette(host))
        session.show(NARROW, tabs.ACTIVITY)
        save(panel, f"host-{host}")
    session.use(session.light)
    controls.set_consent_policy("destructive", "ask")
    rest(0.3)
    for number in range(6):
        chosen = other if number % 2 else agent
        chosen.start("scene__delete", names=[f"prop_{20 + number}"])
    until(lambda: len(panel.consent.cards.cards) == 6)
    session.show(NARROW, tabs.CONSENT)
    save(panel, "six-questions")
    panel.hide()
    panel._show(controls.status.snapshot)
    rest(0.7)
    save(panel.notice, "six-questions-notice")
    panel.show()
    for question in controls.status.snapshot.questions:
        controls.answer(question.id, "refuse")
    until(lambda: not panel.consent.cards.cards)
    panel.consent.rules.setChecked(True)
    session.show(NARROW, tabs.CONSENT)
    save(panel, "clients")
    panel.consent.rules.setChecked(False)
    controls.changes.undo_back(controls.status.snapshot.changes[-3].call)
    panel.activity.outcome.setCurrentIndex(panel.activity.outcome.count() - 1)
    session.show(NARROW, tabs.ACTIVITY)
    panel.activity.view.setCurrentIndex(panel.activity.model.index(5, 0))
    rest(0.3)
    save(panel, "changes-only")
    session.doing = "dragging prop_3"
    agent.start("scene__create_primitive", kind="cube", name="late")
    until(lambda: panel.header.state.text().startswith("On hold"))
    session.show(NARROW, tabs.ACTIVITY)
    save(panel, "blocked-host")
    session.doing = None
    panel.activity.outcome.setCurrentIndex(0)
    rest(0.5)


def lost(session: Session) -> None:
    """The server is gone."""
    panel = session.panel
    session.release.set()
    session.app.stop()
    session.show(NARROW, tabs.ACTIVITY)
    save(panel, "server-stopped")


def scaled(session: Session) -> None:
    """On a screen at 200 %."""
    session.work()
    panel, agent = session.panel, session.agents[0]
    panel.link.controls.restore(SCRIPT)
    until(lambda: "script__execute" in {t.name for t in panel.header._snapshot.tools})
    agent.start("script__execute", code=CODE, language="python")
    until(lambda: panel.consent.cards.cards)
    until(lambda: "error" in {row.state for row in panel.activity.model.past})
    choose(panel)
    for name, tab in (("activity", tabs.ACTIVITY), ("consent", tabs.CONSENT)):
        session.show(NARROW, tab)
        save(panel, f"{name}-200")
    session.allow_all()


def choose(panel: Panel) -> None:
    """Selects what has something to show."""
    model = panel.activity.model
    failed = next(n for n, row in enumerate(model.past) if row.state == "error")
    panel.activity.view.setCurrentIndex(model.index(len(model.running) + failed, 0))
    panel.roots.path.setText("workspace://textures/../../secret.png")
    panel.roots.path.setCursorPosition(0)
    panel.tabs.setCurrentIndex(tabs.ROOTS)
    rest(0.3)
    panel.roots.view.setCurrentIndex(panel.roots.model.index(0, 0, panel.roots.model.index(0, 0)))
    panel.tabs.setCurrentIndex(tabs.SKILLS)
    rest(0.5)
    index = panel.skills.model.find("studio-publish")
    panel.skills.view.setCurrentIndex(index)


def main() -> int:
    if SCALE not in os.environ:
        code = subprocess.call([sys.executable, __file__], env={**os.environ, SCALE: "2"})
        if code:
            return code
    with tempfile.TemporaryDirectory(prefix="callboard-") as home:
        os.environ["CALLBOARD_HOME"] = home
        application = QApplication(["callboard"])
        application.setStyle("Fusion")
        application.setQuitOnLastWindowClosed(False)
        session = Session(Path(home), application)
        try:
            if SCALE in os.environ:
                scaled(session)
            else:
                empty(application, Path(home))
                pictures(session, session.light)
                lost(session)
        finally:
            session.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
