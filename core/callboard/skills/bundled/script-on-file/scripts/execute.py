"""The tool of the ``script-on-file`` skill, and the process in which it runs code: the same
application without its window. Paths arrive resolved and checked.

The two sides talk through the process's stdin and stdout, so no port is open. The other side is
:mod:`callboard.headless.on_file`.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from callboard.content import Json, Result, json_object
from callboard.errors import HostError, WrongArgument
from callboard.skill import held_to_roots, outside, require_folder

#: Maximum number of processes at once. Each is a whole application.
_MOST_AT_ONCE = 4
#: The steps that progress is counted in.
_STARTS, _OPENS, _RUNS, _SAVES, _STEPS = range(5)
#: Maximum number of bytes in one line of the process's answers.
_LONGEST_LINE = 5 * 2**20
#: Seconds that the process has to end after its last order.
_GOODBYE = 5.0
#: Maximum number of bytes of its last output that an error shows.
_LAST_WORDS = 1000
#: Python has put the current folder on the path, whose files must not be imported.
_BOOT = (
    "import os, sys; sys.path[:] = filter(os.path.isabs, sys.path); "
    "sys.path += [each for each in {path!r} if each not in sys.path]; "
    "from callboard.headless.on_file import main; main({kind!r})"
)

_running = 0


async def execute(
    ctx: Any,
    file: str,
    code: str,
    language: str = "python",
    save_as: str | None = None,
    overwrite: bool = False,
    time_limit: float | None = None,
    as_job: bool = False,
) -> Json | Result:
    """Run the code over the file. The server ends it after ``time_limit`` seconds, and handles
    ``as_job``."""
    identity, name = ctx.host_identity, Path(file).name
    if not identity.program:
        raise HostError(
            f"callboard can't start {identity.name} without its window and talk to it, so code "
            "runs in the open scene alone: open the file with scene__open_file, then call "
            "script__execute"
        )
    await asyncio.to_thread(_require_file, file)
    if save_as is not None:
        await _check_target(ctx, Path(save_as), overwrite)
    with _place():
        ctx.progress(_STARTS, _STEPS, f"starts {identity.name} without its window")
        async with started(identity) as process:
            ctx.progress(_OPENS, _STEPS, f"opens {name}")
            await process.open(file)
            ctx.progress(_RUNS, _STEPS, f"runs the code over {name}")
            result = await process.run(code, language)
            if result["isError"]:
                return Result([block["text"] for block in result["content"]], is_error=True)
            answer: Json = {**result["structuredContent"], "file": file}
            if save_as is not None:
                ctx.progress(_SAVES, _STEPS, f"saves {Path(save_as).name}")
                await asyncio.to_thread(require_folder, Path(save_as))
                # The artist may have opened or made the file since the first check.
                replaced = await _check_target(ctx, Path(save_as), overwrite)
                size = await process.save(save_as)
                await asyncio.to_thread(_require_size, Path(save_as), size)
                answer["saved"] = {"path": save_as, "bytes": size, "replaced": replaced}
    return answer


@contextmanager
def _place() -> Iterator[None]:
    """Take one of the places for processes. Use it on the server's loop. Raises HostError."""
    global _running
    if _running >= _MOST_AT_ONCE:
        raise HostError(
            f"{_running} scripts are already running over files; call again when one has ended"
        )
    _running += 1
    try:
        yield
    finally:
        _running -= 1


def _require_file(file: str) -> None:
    if not Path(file).is_file():
        raise WrongArgument(f"there is no file '{file}'")


async def _check_target(ctx: Any, target: Path, overwrite: bool) -> bool:
    """Return whether a save would replace a file. Raises WrongArgument if it may not."""
    suffixes = ctx.port("filesystem.write").suffixes
    if target.suffix.lower() not in suffixes:
        raise WrongArgument(f"save_as must end in {' or '.join(suffixes)}, not '{target.name}'")
    replaces = await asyncio.to_thread(_replaces, target, overwrite)
    # The artist's next save would silently replace what was saved here.
    open_here = (await ctx.on_main_thread(ctx.port("scene.read").info))["file"]
    if open_here and await asyncio.to_thread(_is_same, target, Path(open_here)):
        raise WrongArgument(
            f"'{target.name}' is open here; change it with script__execute and "
            "scene__save_file, or save to another file"
        )
    return replaces


def _is_same(one: Path, other: Path) -> bool:
    """Return whether both are the same file, which may be missing."""
    try:
        return one.samefile(other)
    except OSError:
        return one.resolve() == other.resolve()


def _replaces(target: Path, overwrite: bool) -> bool:
    """Return whether a save would replace a file. Raises WrongArgument if it may not."""
    if not target.exists():
        return False
    if not target.is_file():
        raise WrongArgument(f"'{target}' is a folder; save_as names a file")
    if not overwrite:
        raise WrongArgument(
            f"'{target}' exists already; name a new file, or pass overwrite: true to replace it"
        )
    return True


def _require_size(target: Path, size: int) -> None:
    if not target.is_file():
        raise HostError(f"'{target}' was not saved")
    if (written := target.stat().st_size) != size:
        raise HostError(f"'{target}' has {written} bytes instead of {size}; look at the file")


# -- the process --------------------------------------------------------------------------------


@asynccontextmanager
async def started(identity: Any) -> AsyncIterator[FileProcess]:
    """Start the application, and end it with the block: at once if the block raises or is
    cancelled. Raises HostError."""
    boot = _BOOT.format(path=[*filter(os.path.isabs, sys.path)], kind=identity.kind)
    # A group of its own lets the programs that the code starts be ended with it.
    apart: Json = {"start_new_session": True}
    if sys.platform == "win32":
        apart = {"creationflags": subprocess.CREATE_NO_WINDOW}
    loop = asyncio.get_running_loop()
    try:
        transport, protocol = await loop.subprocess_exec(
            lambda: asyncio.subprocess.SubprocessStreamProtocol(_LONGEST_LINE, loop),
            *identity.program,
            boot,
            env=_environment(identity.program),
            **apart,
        )
    except OSError as error:
        raise HostError(f"{identity.name} can't be started without its window: {error}") from None
    process = asyncio.subprocess.Process(transport, protocol, loop)
    talk = FileProcess(process, identity.name)
    try:
        await talk.ready()
        yield talk
        await talk.leave()
    except WrongArgument:  # This is a ValueError, too.
        raise
    except (ArithmeticError, KeyError, TypeError, ValueError):
        # The code may have written to the pipe itself.
        raise HostError(f"{identity.name} without its window sent something unreadable") from None
    finally:
        talk.kill()
        # Programs that left the group may still hold the pipes.
        transport.close()
        await talk.ended()


def _environment(program: Sequence[str]) -> dict[str, str]:
    """Return the environment of the process, without callboard's settings, which may contain
    tokens. Another Python than this one must not use this one's settings. A Blender that uses the
    system's Python loads the library of the first ``python3`` on the path."""
    own = program[0] == sys.executable
    left_out = ("CALLBOARD_",) if own else ("CALLBOARD_", "PYTHON")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(left_out)}
    beside = str(Path(program[0]).resolve().parent)
    return {**kept, "PATH": os.pathsep.join([beside, kept.get("PATH", os.defpath)])}


class FileProcess:
    """A started process. Use it on the server's loop, in one coroutine."""

    def __init__(self, process: asyncio.subprocess.Process, name: str) -> None:
        self._process, self._name = process, name
        self._words: deque[bytes] = deque(maxlen=20)
        self._reading = asyncio.ensure_future(self._read_words())

    async def ready(self) -> None:
        """Wait until the application has started. It may print before that."""
        while True:
            reply = json_object(await self._line())
            if reply is not None and "event" in reply:
                self._require(reply, "ready")
                return

    async def open(self, file: str) -> None:
        await self._order("opened", do="open", path=file, strict=held_to_roots())

    async def run(self, code: str, language: str) -> Json:
        """Run the code, and return its result in MCP's form."""
        reply = await self._order("ran", do="run", code=code, language=language)
        result: Json = reply["result"]
        texts = [block["text"] for block in result["content"]]
        if not (result["isError"] or isinstance(result["structuredContent"], dict)):
            raise TypeError(texts)
        return result

    async def save(self, path: str) -> int:
        """Save the scene. Return the number of bytes."""
        reply = await self._order("saved", do="save", path=path)
        return int(reply["bytes"])

    async def leave(self) -> None:
        """Let the application end on its own."""
        await self._send({"do": "leave"})
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._process.wait(), _GOODBYE)

    def kill(self) -> None:
        """Kill what is left of the process and the programs that it started."""
        if os.name == "posix":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        elif self._process.returncode is None:
            with suppress(OSError):
                self._process.kill()

    async def ended(self) -> None:
        """Wait until the killed process has ended, even if the call is cancelled again, as by a
        server that stops."""
        while self._process.returncode is None:
            with suppress(asyncio.CancelledError):
                await self._process.wait()
        self._reading.cancel()

    async def _order(self, answer: str, **order: Any) -> Json:
        await self._send(order)
        while True:
            reply = json_object(await self._line()) or {}
            if reply["event"] == "printed":
                stream = sys.stderr if reply["stream"] == "stderr" else sys.stdout
                print(reply["text"], end="", file=stream)
                await asyncio.sleep(0)  # Whatever is printed, the application goes on.
            elif reply["event"] == "may_use":
                leaving = await asyncio.to_thread(outside, [reply["path"]], write=reply["write"])
                await self._send({"allowed": not leaving})
            else:
                self._require(reply, answer)
                return reply

    async def _send(self, order: Json) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        with suppress(ConnectionError):  # The next line to read reports that the process is gone.
            await self._process.stdin.drain()

    async def _line(self) -> bytes:
        assert self._process.stdout is not None
        if line := await self._process.stdout.readline():
            return line
        status = await self._process.wait()
        ended = f"signal {-status}" if status < 0 else f"status {status}"
        await asyncio.wait([self._reading], timeout=1)
        words = b"".join(self._words)[-_LAST_WORDS:].decode("utf-8", "replace").strip()
        reported = f"{self._name} without its window ended with {ended}, and nothing was saved"
        raise HostError(f"{reported}; its last output:\n{words}" if words else reported)

    def _require(self, reply: Json, event: str) -> None:
        if reply["event"] == "failed":
            raise HostError(str(reply["message"]))
        if reply["event"] != event:
            raise HostError(f"{self._name} without its window answered out of turn")

    async def _read_words(self) -> None:
        assert self._process.stderr is not None
        while part := await self._process.stderr.read(4096):
            self._words.append(part)
