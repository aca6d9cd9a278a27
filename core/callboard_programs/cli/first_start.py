"""Starts a bundle's server once, while the bundle is being installed, linted or packed, to check
that it runs and to list its tools."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from dataclasses import dataclass

from callboard.bundles.files.host_resources import CAPABILITY, advertisement
from callboard.bundles.installed.install import InstalledBundle
from callboard.bundles.installed.skill_check import command_of
from callboard.bundles.running import child_process
from callboard.bundles.running.child_process import ChildProcess, environment
from callboard.bundles.running.errors import BundleError, Refused
from callboard.bundles.running.paged_lists import listed
from callboard.content import Json
from callboard.errors import PeerError, SkillError
from callboard.ground.version import __version__
from callboard.protocol import jsonrpc
from callboard.protocol.conversation import Conversation
from callboard.protocol.handshake import open_talk

#: Seconds to wait. The server may have to be downloaded first, for example by ``npx`` or ``uvx``.
PATIENCE = 60.0
#: Maximum number of lines of the server's output that are kept, and the number of them that are
#: shown.
_KEPT_LINES = 200
_LAST_LINES = 5


@dataclass(frozen=True)
class FirstStart:
    """The outcome of the start. ``problem`` says in one line why there are no tools. ``late`` is
    true when the server merely took too long, perhaps because of a slow network."""

    tools: tuple[str, ...] = ()
    problem: str | None = None
    late: bool = False
    #: The last lines of the server's stderr.
    words: tuple[str, ...] = ()


def start_once(bundle: InstalledBundle, patience: float = PATIENCE) -> FirstStart:
    """Start the bundle's server, ask for its tools and end it. The server gets no folders, and no
    answers to its questions. This blocks, so call it outside of any loop. The bundle must have a
    server, and this machine must have everything that the server needs."""
    lines: deque[str] = deque(maxlen=_KEPT_LINES)
    listener = _Listener(lines)
    logger = logging.getLogger(child_process.__name__)
    level = logger.level
    logger.addHandler(listener)
    logger.setLevel(logging.INFO)
    try:
        return asyncio.run(_start(bundle, patience))
    except asyncio.TimeoutError:
        return FirstStart(problem=f"hasn't answered within {patience:g} s", late=True)
    except SkillError as error:
        reported = " | ".join([*lines][-_LAST_LINES:])
        last = f". Its last output: {reported}" if reported else ""
        return FirstStart(problem=error.message + last, words=tuple(lines))
    except OSError as error:
        return FirstStart(problem=f"can't be started: {error.strerror or type(error).__name__}")
    finally:
        logger.removeHandler(listener)
        logger.setLevel(level)


class _Listener(logging.Handler):
    """Keeps the lines that a server prints."""

    def __init__(self, lines: deque[str]) -> None:
        super().__init__()
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(_shown(record.getMessage()))


async def _start(bundle: InstalledBundle, patience: float) -> FirstStart:
    """Start the server and list its tools. Raises SkillError, OSError or TimeoutError."""
    command, additions = command_of(bundle)
    # Run the server in the same folder as a host would, which is outside the version's own folder.
    home = bundle.folder.parent.parent.parent
    process = ChildProcess(bundle.name, command, environment(additions), home)
    connection = Conversation(
        lambda message: process.send(jsonrpc.encode(message)),
        _answer,
        lambda method, params: None,
        refused=Refused,
        lost=BundleError,
    )
    process.start_on_loop(connection.received, connection.lose)
    try:
        tools = await asyncio.wait_for(_tools(connection, bundle), patience)
    finally:
        await asyncio.to_thread(process.stop)
    return FirstStart(tools)


async def _tools(connection: Conversation, bundle: InstalledBundle) -> tuple[str, ...]:
    capabilities: Json = {
        "roots": {"listChanged": True},
        "elicitation": {"form": {}, "url": {}},
        "sampling": {},
        "extensions": {CAPABILITY: advertisement()},
    }
    about = {"name": "callboard", "version": __version__}
    talk = await open_talk(connection, about, capabilities)
    entries = await listed(connection, talk, "tools")
    return tuple(_shown(str(one.get("name"))) for one in entries if isinstance(one, dict))


def _shown(text: str) -> str:
    """Return the text with unprintable characters replaced, so that it can't control a terminal."""
    return "".join(letter if letter.isprintable() else "�" for letter in text[:300])


async def _answer(method: str, params: Json) -> Json:
    if method == "roots/list":
        return {"roots": []}
    raise PeerError("no one can answer a question while the bundle is being checked")
