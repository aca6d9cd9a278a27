"""Acts as an application, in a separate process. The application's other plug-ins have already
imported old versions of the packages that callboard carries. Then the application loads a bundle.

    python -I -S beside_others.py HOST OLD FOLDER SITE...

OLD is ``broken`` for versions that can't be used at all, or ``alike`` for the versions in SITE.
FOLDER is the folder of the unpacked archive or, for Blender, the archive. Prints its findings as
JSON.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import threading
import xml.etree.ElementTree as ET
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.request import Request, urlopen

HERE = Path(__file__).resolve().parent
CARRIED = ("tornado", "yaml", "fastjsonschema", "platformdirs", "watchdog", "qtpy", "packaging")
PARTS = ("tornado.web", "tornado.ioloop", "tornado.httpserver", "yaml.nodes", "qtpy.QtCore")

used: list[str] = []


class Old(ModuleType):
    """A module that another plug-in imported. Any use of it, other than of its name, raises an
    exception."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":
            return super().__getattribute__(name)
        used.append(f"{super().__getattribute__('__name__')}.{name}")
        raise RuntimeError("callboard uses another plug-in's module")


def client(url: str, token: str | None) -> dict[str, Any]:
    def call(tool: str, arguments: dict[str, Any]) -> Any:
        data = json.dumps({"tool": tool, "arguments": arguments}).encode()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        with urlopen(
            Request(url.removesuffix("mcp") + "v1/call", data, headers), timeout=30
        ) as got:
            return json.load(got)

    call("scene__create_primitive", {"kind": "cube", "name": "Crate"})
    answer: dict[str, Any] = call("scene__list_objects", {})["structuredContent"]
    return answer


def in_qts_loop(work: Callable[[], Any]) -> Any:
    """Run ``work`` on another thread while Qt's own loop runs here."""
    from PySide6.QtCore import QEventLoop, QMetaObject, Qt

    loop, outcome = QEventLoop(), []

    def run() -> None:
        try:
            outcome.append(work())
        finally:
            QMetaObject.invokeMethod(loop, "quit", Qt.ConnectionType.QueuedConnection)

    thread = threading.Thread(target=run)
    thread.start()
    loop.exec()
    thread.join()
    return outcome[0]


def words(widget: Any) -> list[str]:
    from PySide6.QtWidgets import QLabel

    return [label.text() for label in widget.findChildren(QLabel)]


def talk_and_look(plug_in: Any, panel: Callable[[], Any]) -> dict[str, Any]:
    server = plug_in.server
    answer = in_qts_loop(lambda: client(server.url, server.token))
    return {"answer": answer, "panel": words(panel())}


# -- each host, as it finds and loads the unpacked files -------------------------------------------


def maya(folder: Path) -> dict[str, Any]:
    from maya import cmds, utils
    from maya._session import session

    session.reset(batch=False)
    first, *rest = (folder / "callboard.mod").read_text("utf-8").splitlines()
    root = folder / first.split()[-1]
    # Put it at the front of the path, as Maya does.
    sys.path[:0] = [str(root / line.partition(":= ")[2]) for line in rest]
    cmds.loadPlugin(str(root / "plug-ins" / "callboard_plugin.py"))
    utils.processIdleEvents()
    from callboard_maya.plugin import plug_in
    from callboard_maya.ui import panel

    def opened() -> Any:
        panel.show()
        return session.windows[panel.CONTROL]

    seen = talk_and_look(plug_in, opened)
    cmds.unloadPlugin("callboard_plugin")
    return seen


def houdini(folder: Path) -> dict[str, Any]:
    import hou

    hou._reset(windows=True)
    hou._session.session.preferences = str(folder)
    package = json.loads((folder / "packages" / "callboard.json").read_text("utf-8"))
    home, path = package["env"]
    root = home["CALLBOARD_HOUDINI"].replace("$HOUDINI_PACKAGE_PATH", str(folder / "packages"))
    sys.path.append(path["PYTHONPATH"]["value"].replace("$CALLBOARD_HOUDINI", root))
    libs = Path(package["hpath"].replace("$CALLBOARD_HOUDINI", root))
    own = libs / f"python{sys.version_info[0]}.{sys.version_info[1]}libs"
    # No Houdini has Python 3.12.
    runpy.run_path(str((own if own.is_dir() else libs / "python3.11libs") / "uiready.py"))
    from callboard_houdini.plugin import plug_in

    seen = talk_and_look(plug_in, plug_in.make_panel)
    plug_in.unload()
    return seen


def three_ds_max(folder: Path) -> dict[str, Any]:
    import pymxs

    pymxs._reset(windows=True, usd=True)
    package = ET.parse(folder / "callboard" / "PackageContents.xml")
    modules = [entry.get("ModuleName") or "" for entry in package.iter("ComponentEntry")]
    script = folder / "callboard" / modules[-1]
    runpy.run_path(str(script.with_name("callboard_startup.py")))
    from callboard_max.plugin import plug_in
    from callboard_max.ui import panel

    def opened() -> Any:
        plug_in.show_panel()
        return panel._dock

    seen = talk_and_look(plug_in, opened)
    plug_in.unload()
    return seen


def blender_addon(archive: Path) -> dict[str, Any]:
    import bpy

    bpy.ops.preferences.addon_install(filepath=str(archive))
    return _blender("callboard_addon")


def blender_extension(archive: Path) -> dict[str, Any]:
    import bpy

    bpy.ops.extensions.package_install_files(
        filepath=str(archive), repo="user_default", enable_on_install=False
    )
    return _blender("bl_ext.user_default.callboard")


def _blender(module: str) -> dict[str, Any]:
    import bpy

    try:
        bpy.ops.preferences.addon_enable(module=module)
    except RuntimeError as error:
        return {"refused": str(error)}
    from callboard_blender import addon

    residence, outcome = addon.residence, []
    if residence.app is None:
        bpy.ops.callboard.start()
    url, token = residence.app.url, residence.app.token

    def work() -> None:
        try:
            outcome.append(client(url, token))
        finally:
            residence.interrupt()

    thread = threading.Thread(target=work)
    thread.start()
    bpy.ops.callboard.serve()
    thread.join()
    bpy.ops.preferences.addon_disable(module=module)
    return {"answer": outcome[0]}


HOSTS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "maya": maya,
    "houdini": houdini,
    "3dsmax": three_ds_max,
    "blender-addon": blender_addon,
    "blender-extension": blender_extension,
}


def already_imported(old: str, host: str) -> dict[str, ModuleType]:
    """Add the other plug-ins' modules to ``sys.modules``, and return the modules."""
    if not host.startswith("blender"):
        # The other plug-ins' qtpy has changed Qt's classes already.
        import_module("qtpy.QtGui")
        import_module("qtpy.QtWidgets")
        # Each copy of qtpy sets this variable for the next one, and a plug-in for another binding
        # may set it too.
        os.environ["QT_API"] = "pyqt5"
    for name in (*CARRIED, *PARTS) if old == "broken" else CARRIED[:5]:
        sys.modules[name] = Old(name) if old == "broken" else import_module(name)
    return {n: module for n, module in sys.modules.items() if n.partition(".")[0] in CARRIED}


def main(host: str, old: str, folder: str, *site: str) -> None:
    sys.path += site
    if host.startswith("blender"):
        import_module("bpy")
    else:
        doubles = HERE.parent / "hosts" / "doubles"
        sys.path += [str(doubles), str(doubles / "houdini"), str(doubles / "max")]
        from PySide6.QtWidgets import QApplication

        app = QApplication(["host"])
        app.setQuitOnLastWindowClosed(False)
    others = already_imported(old, host)
    before, environment = set(sys.modules), dict(os.environ)
    seen = HOSTS[host](Path(folder))
    files = {n: getattr(sys.modules[n], "__file__", None) or "" for n in set(sys.modules) - before}
    seen["used"] = used
    seen["replaced"] = [n for n, module in others.items() if sys.modules.get(n) is not module]
    seen["told"] = [
        n for n in {*environment, *os.environ} if os.environ.get(n) != environment.get(n)
    ]
    seen["brought"] = sorted({n.partition(".")[0] for n, file in files.items() if folder in file})
    print(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
