"""``callboard serve``: a headless host with the server."""

from __future__ import annotations

import argparse
import difflib
import json
import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from callboard.app import Callboard
from callboard.calls.capabilities import ATTENDED_ONLY, VOCABULARY
from callboard.cli.ending import Ending
from callboard.config import McpHttpConfig
from callboard.errors import HostError
from callboard.guest.inbox import MainThreadInbox
from callboard.hosting.contract import FILESYSTEM_READ, Host
from callboard.hosting.headless import HOSTS, make_host

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", choices=sorted(HOSTS), default="openusd")
    parser.add_argument(
        "--port", type=_port, default=0, help="0, the default, lets the system choose"
    )
    parser.add_argument("--scene", metavar="FILE", help="open this scene first")
    parser.add_argument("--skills", metavar="DIR", action="append", default=[])
    parser.add_argument("--root", metavar="DIR", action="append", default=[], dest="roots")
    parser.add_argument("--roots-policy", choices=("advisory", "strict"), default="advisory")
    parser.add_argument("--auth", choices=("token", "none"), default="token")
    parser.add_argument(
        "--deny", metavar="CAP", action="append", default=[], help="withdraw a capability"
    )
    parser.add_argument(
        "--allow",
        metavar="CAP",
        action="append",
        choices=sorted(ATTENDED_ONLY),
        default=[],
        help="offer script.execute though nobody is there to be asked",
    )
    parser.add_argument("--ui", action="store_true", help="show the panel in a window")
    parser.add_argument("--verbose", action="store_true", help="log what is going on")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; give 0 to 65535")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO if arguments.verbose else logging.WARNING,
        format="%(levelname)s %(name)s: %(message)s",
    )
    config = McpHttpConfig(
        port=arguments.port,
        auth=arguments.auth,
        deny=arguments.deny,
        allow=arguments.allow,
        skill_paths=[Path(folder).absolute() for folder in arguments.skills],
        roots=[str(Path(folder).absolute()) for folder in arguments.roots],
        roots_policy=arguments.roots_policy,
    )
    for option, folders in (("--skills", arguments.skills), ("--root", arguments.roots)):
        for folder in folders:
            if not Path(folder).is_dir():
                log.warning("%s %s: there is no such folder yet", option, folder)
    ready = _keep_stdout_clean()
    inbox: Any = _panel_loop() if arguments.ui else MainThreadInbox()
    host = make_host(arguments.host, inbox.post)
    host.has_windows = arguments.ui
    if arguments.scene:
        _open_scene(host, arguments.scene)
    return serve(host, config, inbox, ready)


def serve(host: Host, config: McpHttpConfig, inbox: Any, ready: Any) -> int:
    """Serves until a signal, on this thread, which becomes the host's main thread. ``inbox`` is a
    MainThreadInbox, or the panel's loop, which also ends when its window is closed."""
    app = Callboard(host, config)

    def stop() -> None:
        inbox.stop()
        app.guest.interrupt()

    # Before it is announced: what a signal ended at once would leave its announcement behind.
    Ending(stop)
    try:
        app.start()
    except OSError as error:
        raise HostError(f"can't listen on port {config.port}: {error.strerror or error}") from None

    _warn_of_unknown_words(app, config.deny)
    identity = host.identity
    line = {"event": "ready", "url": app.url, "token": app.token, "pid": identity.pid}
    print(json.dumps(line), file=ready, flush=True)
    print(
        f"{identity.name} {identity.version} serves {len(app.tools)} tools at {app.url}\n"
        "Connect a client: callboard config claude-code (or cursor, vscode, claude-desktop)\n"
        "Call a tool:      callboard call scene__scene_info\n"
        "Stop:             Ctrl+C",
        file=sys.stderr,
        flush=True,
    )
    try:
        if host.has_windows:
            inbox.run(app)
        else:
            inbox.run()
    finally:
        app.stop()
    host.leave(0)
    return 0


def _warn_of_unknown_words(app: Callboard, denied: Sequence[str]) -> None:
    """A capability that nobody ever heard of is most likely a typing error, and the one that was
    meant is not withdrawn."""
    skills = (known.skill for known in app.catalog.known)
    known = {*VOCABULARY, *(word for skill in skills for word in skill.required_capabilities)}
    for word in denied:
        if word not in known:
            nearest = difflib.get_close_matches(word, known, n=1)
            hint = f"; did you mean {nearest[0]}?" if nearest else ""
            log.warning("--deny %s withdraws nothing: no tool here asks for it%s", word, hint)


def _panel_loop() -> Any:
    """Qt's loop with the panel. Raises HostError, saying what to install."""
    try:
        # Core names no user interface; this command may be asked for one.
        panel = import_module("callboard_ui.main_loop")
        panel.check_qt()
        return panel.PanelLoop()
    except ImportError as error:
        raise HostError(f"--ui needs callboard[ui]: {error}") from None


def _keep_stdout_clean() -> TextIO:
    """Programs read the ready line from stdout; whatever else the host prints, from C too, goes to
    stderr. Returns the way to stdout."""
    ready = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return ready


def _open_scene(host: Host, scene: str) -> None:
    files: Any = host.ports.get(FILESYSTEM_READ)
    if files is None:
        raise HostError("this host can't open files")
    try:
        files.open(str(Path(scene).absolute()))
    except Exception as error:
        raise HostError(f"can't open {scene}: {error}") from None
