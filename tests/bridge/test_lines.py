"""The bridge reads lines from the program that started it."""

from __future__ import annotations

import os
from threading import Thread

from callboard_programs.bridge.stdio_lines import LINE_LIMIT, read_lines


def test_a_line_without_end_is_not_kept_and_the_next_one_is_read() -> None:
    ours, theirs = os.pipe()

    def write() -> None:
        with os.fdopen(theirs, "wb") as stream:
            stream.write(b"x" * (LINE_LIMIT + 1) + b"\nnext\n" + b"y" * LINE_LIMIT + b"\nlast")

    writer = Thread(target=write)
    writer.start()
    with os.fdopen(ours, "rb"):
        long, following, longest, last = read_lines(ours)
    writer.join()
    assert (long, following, last) == (None, b"next", b"last")
    assert longest == b"y" * LINE_LIMIT
