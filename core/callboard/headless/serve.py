"""``callboard serve``: a headless host with the server."""

from __future__ import annotations

import argparse
import difflib
import json
import logging
import os
import shlex
import shutil
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from callboard.app import Callboard
from callboard.calls.capabilities import ATTENDED_ONLY, OFF_AT_FIRST, VOCABULARY
from callboard.config import McpHttpConfig
from callboard.errors import HostError
from callboard.guest.inbox import MainThreadInbox
from callboard.headless.clean_stdout import keep_stdout_clean
from callboard.headless.number_arguments import port_number
from callboard.headless.scene_host import host_by_scene, settle_host
from callboard.headless.stop_signals import Ending, end_with_stdin, ended_at_once
from callboard.host_kit.headless import HOSTS, make_host, pip_install
from callboard.ports.capability_names import FILESYSTEM_READ
from callboard.ports.host import Host
from callboard.settings import config_from, unknown_project
from callboard.skills.discovery import has_skill

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_host(parser)
    host_by_scene(parser)
    parser.add_argument("--port", type=port_number, help="0, the default, lets the system choose")
    parser.add_argument("--scene", metavar="FILE", help="open this scene first")
    parser.add_argument(
        "--auth",
        choices=("token", "none"),
        default="token",
        help="with none, every program on this machine may connect",
    )
    parser.add_argument("--ui", action="store_true", help="show the panel in a window")
    parser.add_argument(
        "--worker",
        action="store_true",
        help="for use by another program: not listed, quiet, ends when stdin closes",
    )
    parser.add_argument(
        "--debugpy",
        type=port_number,
        metavar="PORT",
        help="let an editor's debugger attach to this port",
    )
    parser.add_argument("--verbose", action="store_true", help="log more details")


def add_host(parser: argparse.ArgumentParser) -> None:
    """Add the options for the headless host and its capabilities."""
    parser.add_argument(
        "--host",
        choices=sorted(HOSTS),
        default="openusd",
        help="by default the host of the named scene, else openusd",
    )
    parser.add_argument(
        "--skills",
        metavar="DIR",
        action="append",
        default=[],
        help="a skill's folder, or the one right above it; repeat for more",
    )
    parser.add_argument(
        "--root",
        metavar="DIR",
        action="append",
        default=[],
        dest="roots",
        help="a workspace folder; repeat for more",
    )
    parser.add_argument(
        "--roots-policy",
        choices=("advisory", "strict"),
        help="strict refuses paths outside the roots; advisory, the default, doesn't",
    )
    parser.add_argument(
        "--deny", metavar="CAP", action="append", default=[], help="withdraw a capability"
    )
    parser.add_argument(
        "--allow",
        metavar="CAP",
        action="append",
        choices=sorted(ATTENDED_ONLY | OFF_AT_FIRST),
        default=[],
        help="offer this even if no artist can be asked, and even if it is off by default",
    )


def host_options(arguments: argparse.Namespace) -> list[str]:
    """Return the values of the options that :func:`add_host` added, as options for a ``serve``
    process."""
    repeated = (
        ("--skills", arguments.skills),
        ("--root", arguments.roots),
        ("--deny", arguments.deny),
        ("--allow", arguments.allow),
    )
    options = ["--host", arguments.host]
    if arguments.roots_policy is not None:
        options += ["--roots-policy", arguments.roots_policy]
    return options + [f"{name}={value}" for name, values in repeated for value in values]


def warn_of_folders(arguments: argparse.Namespace, *, absent_skills: bool = True) -> None:
    """Warn if an option that :func:`add_host` added, or the project, currently has no effect. A
    server in this process reports ``absent_skills`` itself."""
    if unknown := unknown_project():
        log.warning("%s", unknown)
    for option, folders in (("--skills", arguments.skills), ("--root", arguments.roots)):
        for folder in folders:
            if not Path(folder).is_dir():
                if option == "--skills" and not absent_skills:
                    continue
                log.warning("%s %s: there is no such folder yet", option, folder)
            elif option == "--skills" and not has_skill(Path(folder)):
                log.warning(
                    "--skills %s: it has no skills yet; name a skill's folder, or the one right "
                    "above it",
                    folder,
                )


def run(arguments: argparse.Namespace) -> int:
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO if arguments.verbose else logging.WARNING,
        format="%(levelname)s %(name)s: %(message)s",
    )
    settle_host(arguments, [arguments.scene or ""])
    port = 0 if arguments.worker else arguments.port
    config = host_config(arguments, port, auth=arguments.auth, announce=not arguments.worker)
    warn_of_folders(arguments, absent_skills=False)
    ready = keep_stdout_clean()
    if arguments.debugpy is not None:
        _wait_for_editors(arguments.debugpy)
    inbox: Any = _panel_loop() if arguments.ui else MainThreadInbox()
    with ended_at_once():
        host = make_host(arguments.host, inbox.post)
    host.has_windows = arguments.ui
    if arguments.scene:
        _open_scene(host, arguments.scene)

    def announce(app: Callboard, stop: Callable[[], None]) -> None:
        _warn_of_unknown_words(app, config.deny)
        _announce(app, ready, quiet=arguments.worker)

    return serve(host, config, inbox, announce, worker=arguments.worker)


def host_config(arguments: argparse.Namespace, port: int | None, **more: Any) -> McpHttpConfig:
    """Return a server's settings, made from the options that :func:`add_host` added."""
    given = {
        "port": port,
        "deny": arguments.deny,
        "allow": arguments.allow,
        "skill_paths": [str(Path(folder).absolute()) for folder in arguments.skills],
        "roots": [str(Path(folder).absolute()) for folder in arguments.roots],
        "roots_policy": arguments.roots_policy,
    }
    given = {name: value for name, value in given.items() if value not in (None, [])}
    return config_from(given, **more)


def serve(
    host: Host,
    config: McpHttpConfig,
    inbox: Any,
    announce: Callable[[Callboard, Callable[[], None]], None],
    *,
    worker: bool = False,
) -> int:
    """Serve on this thread, which becomes the host's main thread, until a signal arrives, or until
    stdin ends if ``worker`` is true.

    ``inbox`` is a MainThreadInbox, or the panel's loop, which also ends when its window is closed.
    ``announce`` is called once the server is running, with a function that ends the server from any
    thread.
    """
    app = Callboard(host, config)

    def stop() -> None:
        inbox.stop()
        app.guest.interrupt()

    # This comes first, because an early signal would otherwise leave the announcement behind.
    Ending(stop)
    if worker:
        threading.Thread(target=end_with_stdin, args=[stop], daemon=True).start()
    try:
        app.start()
    except OSError as error:
        why = f"can't listen on port {config.port}: {error.strerror or error}"
        raise HostError(
            f"{why}; `callboard list` shows whether another callboard is using it; choose another "
            "--port, or leave it out to let the system choose"
        ) from None

    announce(app, stop)
    try:
        if host.has_windows:
            inbox.run(app)
        else:
            inbox.run()
    finally:
        app.stop()
    host.leave(0)
    return 0


def _announce(app: Callboard, ready: TextIO, *, quiet: bool) -> None:
    identity = app.host.identity
    line = {"event": "ready", "url": app.url, "token": app.token, "pid": identity.pid}
    print(json.dumps(line), file=ready, flush=True)
    if not quiet:
        count, command = app.service.count_tools(), _command()
        print(
            f"{identity.name} {identity.version} is serving {count} tools at {app.url}\n"
            f"Connect a client: {command} config claude-code (or cursor, vscode, claude-desktop)\n"
            f"List its tools:   {command} tools\n"
            f"Call a tool:      {command} call scene__scene_info\n"
            "Stop:             Ctrl+C",
            file=sys.stderr,
            flush=True,
        )


def _command() -> str:
    """Return the command that starts ``callboard`` in another shell: its full path if it isn't on
    ``PATH``."""
    beside = shutil.which("callboard", path=str(Path(sys.executable).parent))
    if shutil.which("callboard") is not None or beside is None:
        return "callboard"
    return shlex.quote(beside)


def _warn_of_unknown_words(app: Callboard, denied: Sequence[str]) -> None:
    """Warn about unknown capabilities, which are probably typos and have no effect."""
    skills = (known.skill for known in app.catalog.known)
    known = {*VOCABULARY, *(word for skill in skills for word in skill.required_capabilities)}
    for word in denied:
        if word not in known:
            nearest = difflib.get_close_matches(word, known, n=1)
            hint = f"; did you mean {nearest[0]}?" if nearest else ""
            log.warning("--deny %s withdraws nothing: no tool here needs it%s", word, hint)


def _panel_loop() -> Any:
    """Return the panel's Qt event loop. Raises a HostError that says what to install."""
    try:
        # Core names no user interface, but this option asks for one.
        panel = import_module("callboard_ui.main_loop")
        panel.check_qt()
        return panel.PanelLoop()
    except ImportError as error:
        raise HostError(f"--ui needs `{pip_install('ui')}`: {error}") from None


def _wait_for_editors(port: int) -> None:
    """Let an editor on this machine attach. From now on ``breakpoint()`` stops in the editor, and
    does nothing while no editor is attached. Raises a HostError that says what to install."""
    # Otherwise debugpy prints a three-line warning that it can't stop in Python's own frozen
    # modules.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    try:
        import debugpy
    except ImportError as error:
        raise HostError(f"--debugpy needs `{pip_install('debug')}`: {error}") from None
    try:
        address, port = debugpy.listen(("127.0.0.1", port))
    except (OSError, RuntimeError) as error:
        raise HostError(f"the debugger can't listen on port {port}: {error}") from None
    sys.breakpointhook = debugpy.breakpoint
    print(f"Attach an editor's debugger to {address}:{port}", file=sys.stderr, flush=True)


def _open_scene(host: Host, scene: str) -> None:
    files: Any = host.ports.get(FILESYSTEM_READ)
    if files is None:
        raise HostError("this host can't open files")
    try:
        files.open(str(Path(scene).absolute()))
    except Exception as error:
        raise HostError(f"can't open {scene}: {error}") from None
