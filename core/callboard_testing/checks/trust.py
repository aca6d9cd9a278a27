"""Checks whether a tool that changes something can be trusted. The change must be one undo step,
must be checked by reading it back, and must be rolled back on failure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from callboard.content import Json
from callboard.errors import HostError

if TYPE_CHECKING:
    from callboard_testing.bench import Bench


class Replaced:
    """A port whose methods, except those in ``reading``, are each replaced by
    ``instead(method)``."""

    def __init__(
        self,
        port: object,
        reading: Collection[str],
        instead: Callable[[Callable[..., Any]], Callable[..., Any]],
    ) -> None:
        self._port = port
        self._reading = reading
        self._instead = instead

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        return method if name in self._reading else self._instead(method)


def breaking(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs the method and then raises an error."""

    def broken(*arguments: Any) -> Any:
        method(*arguments)
        raise HostError("failed after making the change")

    return broken


def idle(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that claims to run the method, and does nothing."""
    return lambda *arguments: (arguments and arguments[0]) or "nothing"


@contextmanager
def replaced(
    bench: Bench,
    capability: str,
    reading: Collection[str],
    instead: Callable[[Callable[..., Any]], Callable[..., Any]],
) -> Iterator[None]:
    """Replace the host's port for ``capability`` during the block."""
    ports = dict(bench.host.ports)
    bench.host.set_ports({**ports, capability: Replaced(ports[capability], reading, instead)})
    try:
        yield
    finally:
        bench.host.set_ports(ports)


def check_change(
    bench: Bench,
    capability: str,
    reading: Collection[str],
    tool: str,
    arguments: Json,
    state: Callable[[], object],
) -> None:
    """Check that the tool, called with these arguments, changes the result of ``state`` in one undo
    step, leaves it unchanged when the host fails halfway, and reports a host that does nothing."""
    before = state()
    for instead in (breaking, idle):
        try:
            with replaced(bench, capability, reading, instead):
                bench.call(tool, arguments)
        except (HostError, LookupError):
            pass
        else:
            raise AssertionError(f"{tool} reported success, but its port was '{instead.__name__}'")
        assert state() == before, f"{tool}, {instead.__name__}"
    answer = bench.call(tool, arguments)
    assert answer["verified"] is True or answer["doubt"], tool
    assert state() != before, tool
    undo, step = bench.host.undo, bench.call.undo_id
    if undo is not None and step:
        assert undo.undo(step) is True, tool
        assert state() == before, tool
