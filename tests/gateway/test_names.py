"""Who has which name while instances come and go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from callboard.gateway.names import HostNames, NameFinder
from callboard.transport import instances
from serving import Served, served
from waiting import until


class Stage:
    """Instances that are announced with a scene, and end when they are told to."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def start(self, scene: str | None = None) -> tuple[str, ExitStack]:
        """Its id, and what ends it."""
        ending = self._stack.enter_context(ExitStack())
        server = ending.enter_context(served(announce=True))
        return open_scene(server, scene), ending


def open_scene(server: Served, scene: str | None) -> str:
    """As the artist does; the id of the server, once it is announced."""

    def open() -> None:
        server.host.scene_path = scene
        server.host.announce("project")

    server.on_main(open)
    id = server.app.id

    def announced() -> bool:
        return {e.instance.id: e.instance.scene for e in instances.listed()}.get(id) == scene

    until(announced, f"the scene of {id}")
    return id


@contextmanager
def staged() -> Iterator[Stage]:
    with ExitStack() as stack:
        yield Stage(stack)


def ids(names: HostNames) -> dict[str, str]:
    return {name: entry.instance.id for name, entry in names.refresh().items()}


def test_instances_are_numbered_as_they_come_and_a_name_nobody_uses_is_free_again() -> None:
    names = HostNames()
    with staged() as stage:
        first, end_first = stage.start()
        second, _ = stage.start()
        assert ids(names) == {"fake": first, "fake_2": second}
        end_first.close()
        assert ids(names) == {"fake_2": second}
        third, _ = stage.start("/scenes/other.usd")
        assert ids(names) == {"fake": third, "fake_2": second}


def test_a_name_in_use_waits_for_its_scene_and_never_takes_another_instance() -> None:
    names = HostNames()
    with staged() as stage:
        first, end_first = stage.start("/scenes/hero.usd")
        twin, _ = stage.start("/scenes/hero.usd")
        names.refresh()
        names.use("fake")
        end_first.close()
        finder = NameFinder("fake", names)
        assert finder.find() is None
        assert "/scenes/hero.usd" in finder.reason
        other, _ = stage.start("/scenes/other.usd")
        assert ids(names) == {"fake_2": twin, "fake_3": other}
        again, _ = stage.start("/scenes/hero.usd")
        successor = finder.find()
        assert successor is not None
        assert successor.id == again != first
        assert ids(names) == {"fake": again, "fake_2": twin, "fake_3": other}


def test_one_that_opens_the_scene_later_is_the_successor_too() -> None:
    names = HostNames()
    with staged() as stage, served(announce=True) as empty:
        _, end_first = stage.start("/scenes/hero.usd")
        names.refresh()
        names.use("fake")
        end_first.close()
        names.refresh()
        id = open_scene(empty, None)
        names.refresh()
        names.use("fake")
        open_scene(empty, "/scenes/hero.usd")
        assert id in ids(names).values()


def test_two_names_that_wait_for_the_same_are_not_given_one_instance() -> None:
    names = HostNames()
    with staged() as stage:
        ends = [stage.start()[1] for _ in range(2)]
        names.refresh()
        for name in ("fake", "fake_2"):
            names.use(name)
        for end in ends:
            end.close()
        names.refresh()
        again, _ = stage.start()
        assert list(ids(names).values()) == [again]
