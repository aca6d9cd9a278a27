"""Two threads parse Python at the same time."""

from __future__ import annotations

import ast
import gc
from threading import Thread

from callboard.ground.python_tree import parse_python


def test_a_tree_is_complete_although_another_thread_parses() -> None:
    """The garbage collector, which runs Python code while a tree is built, starts the other
    thread."""
    others: list[Thread] = []

    def beside(phase: str, info: object) -> None:
        if not others:
            others.append(Thread(target=ast.parse, args=("a = [1, 2]",)))
            others[0].start()
            others[0].join()

    source = "\n".join(f"a{n} = [{n}, ({n}, {n})]" for n in range(500))
    before = gc.get_threshold()
    gc.callbacks.append(beside)
    gc.set_threshold(100)
    try:
        tree = parse_python(source)
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(beside)
    assert others
    assert len(tree.body) == 500
