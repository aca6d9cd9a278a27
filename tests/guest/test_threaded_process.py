"""Programs that coroutines start and threads wait for. Only Windows' loop needs this, but it is
tested on every loop."""

from __future__ import annotations

import asyncio
import selectors
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import pytest

from callboard.guest.worker_loop import WorkerLoop
from callboard_testing.fake_host import DEADLINE

T = TypeVar("T")
ECHO = "import sys, shutil; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)"
FOREVER = "import time\nwhile True: time.sleep(60)"


@pytest.fixture
def loop() -> Iterator[WorkerLoop]:
    loop = WorkerLoop(selectors.DefaultSelector())
    loop.threaded_programs = True
    yield loop
    loop.run_until_complete(loop.finish())
    loop.close()


def run(loop: WorkerLoop, work: Coroutine[Any, Any, T]) -> T:
    return loop.run_until_complete(asyncio.wait_for(work, DEADLINE))


async def python(code: str, **options: Any) -> Process:
    return await asyncio.create_subprocess_exec(sys.executable, "-c", code, **options)


def test_what_is_written_comes_back(loop: WorkerLoop) -> None:
    async def echo() -> None:
        program = await python(ECHO, stdin=PIPE, stdout=PIPE)
        data = bytes(range(256)) * 8192
        out, err = await program.communicate(data)
        assert (out == data, err, program.returncode) == (True, None, 0)

    run(loop, echo())


def test_output_errors_and_the_code_of_the_end(loop: WorkerLoop) -> None:
    async def fail() -> None:
        program = await python(
            "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)",
            stdout=PIPE,
            stderr=PIPE,
        )
        out, err = await program.communicate()
        assert (out.strip(), err.strip(), program.returncode) == (b"out", b"err", 3)

    run(loop, fail())


def test_lines_are_read_as_they_come_and_writing_waits_for_a_slow_reader(loop: WorkerLoop) -> None:
    async def talk() -> None:
        program = await python(
            "import sys\nfor line in sys.stdin: print(len(line), flush=True)",
            stdin=PIPE,
            stdout=PIPE,
        )
        assert program.stdin is not None
        assert program.stdout is not None
        for size in (1, 1000, 300_000):
            program.stdin.write(b"x" * size + b"\n")
            await program.stdin.drain()
            assert int(await program.stdout.readline()) == size + 1
        program.stdin.close()
        assert await program.wait() == 0

    run(loop, talk())


def test_more_output_than_is_read_waits_at_the_pipe(loop: WorkerLoop) -> None:
    async def read() -> None:
        program = await python(
            "import sys\nfor _ in range(200): sys.stdout.write('x' * 65536)", stdout=PIPE
        )
        assert program.stdout is not None
        size = 0
        while piece := await program.stdout.read(1000):
            size += len(piece)
        assert (size, await program.wait()) == (200 * 65536, 0)

    run(loop, read())


def test_one_without_an_end_is_killed(loop: WorkerLoop) -> None:
    async def kill() -> None:
        program = await python(FOREVER, stdin=PIPE, stdout=PIPE)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(program.wait(), 0.05)
        program.kill()
        assert await program.wait() != 0

    run(loop, kill())


def test_a_shell_and_a_program_that_is_not_there(loop: WorkerLoop) -> None:
    async def start() -> None:
        program = await asyncio.create_subprocess_shell("echo hello", stdout=PIPE)
        out, _ = await program.communicate()
        assert out.strip() == b"hello"
        with pytest.raises(FileNotFoundError):
            await asyncio.create_subprocess_exec("no-such-program-anywhere")

    run(loop, start())


def test_what_a_program_closes_first_is_no_error(loop: WorkerLoop) -> None:
    async def write() -> None:
        program = await python("import sys; sys.stdin.close()", stdin=PIPE)
        assert program.stdin is not None
        program.stdin.write(b"x" * 1_000_000)
        await program.communicate()
        assert program.returncode == 0

    run(loop, write())
