"""A name identifies one scene, even while instances come and go and after the gateway restarts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.errors import HostError, PeerError
from callboard.transport import instances
from callboard_programs.cli import main
from callboard_programs.gateway.kept_names import file, forget
from callboard_programs.gateway.names import HostNames, NameFinder
from callboard_programs.relay.finder import NotThatScene
from serving import Served, served
from waiting import until


class Stage:
    """Instances that are announced with a scene. The test decides when they end."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def start(self, scene: str | None = None) -> tuple[str, ExitStack]:
        """Start an instance. Return its id, and the stack that ends it."""
        server, ending = self.serve(scene)
        return server.app.id, ending

    def serve(self, scene: str | None = None) -> tuple[Served, ExitStack]:
        ending = self._stack.enter_context(ExitStack())
        server = ending.enter_context(served(announce=True))
        open_scene(server, scene)
        return server, ending


def open_scene(server: Served, scene: str | None, *, saved: bool = False) -> str:
    """Open a scene as the artist does, or save it under that name. Return the server's id once the
    scene is announced."""

    def open() -> None:
        server.host.scene_path = scene
        if saved:
            server.host.announce("saved")
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


def refused(finder: NameFinder) -> dict[str, Any]:
    """Return the data of the error that calls get."""
    assert finder.find() is None
    assert isinstance(finder.refusal, NotThatScene)
    assert finder.refusal.data is not None
    return finder.refusal.data


def test_a_name_is_its_scenes_over_restarts_of_the_gateway_and_in_any_order() -> None:
    scenes = [f"/scenes/s{n}.usd" for n in range(4)]
    with staged() as stage:
        started = [stage.start(scene) for scene in scenes]
        before = {name: e.instance.scene for name, e in HostNames().refresh().items()}
        assert sorted(before.values(), key=str) == scenes
        for _, end in started:
            end.close()
        for scene in (scenes[3], "/scenes/new.usd", scenes[1]):
            stage.start(scene)
        after = {name: e.instance.scene for name, e in HostNames().refresh().items()}
        assert {n: s for n, s in after.items() if n in before} == {
            name: scene for name, scene in before.items() if scene in (scenes[1], scenes[3])
        }
        assert after.pop("fake_5") == "/scenes/new.usd"


def test_a_name_whose_scene_is_closed_is_refused_with_the_names_that_are_there() -> None:
    with staged() as stage:
        _, end = stage.start("/scenes/s01.usd")
        HostNames().refresh()
        end.close()
        stage.start("/scenes/s02.usd")
        data = refused(NameFinder("fake", HostNames()))
    assert (data["name"], data["stood_for"]["scene"]) == ("fake", "/scenes/s01.usd")
    assert [(row["name"], row["scene"]) for row in data["names"]] == [("fake_2", "/scenes/s02.usd")]


def test_an_unsaved_scenes_name_is_its_instances_and_nobody_elses() -> None:
    names = HostNames()
    with staged() as stage:
        first, end = stage.serve()
        finder = NameFinder("fake", names)
        assert finder.find() is not None
        open_scene(first, "/scenes/hero.usd")
        assert ids(names) == {"fake": first.app.id}
        assert finder.leads_to(instances.listed()[0].instance)
        end.close()
        second, end = stage.serve()
        assert ids(names) == {"fake_2": second.app.id}
        end.close()
        stage.start()
        data = refused(NameFinder("fake_2", HostNames()))
        assert data["stood_for"]["instance"] == second.app.id


def test_a_scene_saved_under_another_name_keeps_its_name_and_an_opened_one_does_not() -> None:
    names = HostNames()
    with staged() as stage:
        server, _ = stage.serve("/scenes/hero_v1.usd")
        finder = NameFinder("fake", names)
        assert finder.find() is not None
        open_scene(server, "/scenes/hero_v2.usd", saved=True)
        assert ids(names) == ids(HostNames()) == {"fake": server.app.id}
        (entry,) = instances.listed()
        assert finder.leads_to(entry.instance)
        open_scene(server, "/scenes/other.usd")
        (entry,) = instances.listed()
        assert not finder.leads_to(entry.instance)
        assert refused(finder)["stood_for"]["scene"] == "/scenes/hero_v2.usd"
        assert ids(names) == {"fake_2": server.app.id}
        open_scene(server, "/scenes/hero_v2.usd")
        assert finder.find() is not None
        assert ids(names) == {"fake": server.app.id}


def test_who_worked_there_waits_for_its_file_and_takes_no_twin_for_it() -> None:
    names = HostNames()
    with staged() as stage:
        first, end_first = stage.start("/scenes/hero.usd")
        finder = NameFinder("fake", names)
        assert finder.find() is not None
        twin, _ = stage.start("/scenes/hero.usd")
        names.refresh()
        end_first.close()
        assert finder.find() is None
        assert finder.refusal is None
        assert "/scenes/hero.usd" in finder.reason
        other, _ = stage.start("/scenes/other.usd")
        assert ids(names) == {"fake_2": twin, "fake_3": other}
        again, _ = stage.start("/scenes/hero.usd")
        successor = finder.find()
        assert successor is not None
        assert successor.id == again != first
        assert ids(names) == {"fake": again, "fake_2": twin, "fake_3": other}


def test_a_forgotten_name_is_the_next_scenes_and_leads_no_open_conversation_there() -> None:
    names = HostNames()
    with staged() as stage:
        _, end = stage.start("/scenes/a.usd")
        finder = NameFinder("fake", names)
        assert finder.find() is not None
        end.close()
        assert forget(["fake"]) == ["fake"]
        heir, _ = stage.start("/scenes/b.usd")
        assert names.changed()
        assert ids(names) == {"fake": heir}
        assert refused(finder)["stood_for"]["scene"] == "/scenes/a.usd"
        assert NameFinder("fake", names).find() is not None
    with pytest.raises(PeerError, match="the name 'fake_9' isn't kept"):
        forget(["fake_9"])


def test_the_command_lists_and_forgets(capsys: pytest.CaptureFixture[str]) -> None:
    names = HostNames()
    with staged() as stage:
        _, end = stage.start()
        stage.start("/scenes/a.usd")
        names.refresh()
        end.close()
        assert main(["gateway", "--forget", "unsaved"]) == 0
        assert "Forgotten: fake." in capsys.readouterr().out
        assert main(["gateway", "--names"]) == 0
        assert capsys.readouterr().out.startswith("fake_2       /scenes/a.usd in Fake Host on ")
        assert main(["gateway", "--forget", "unsaved"]) == 0
        assert "nothing was changed" in capsys.readouterr().out


def test_names_that_cant_be_read_or_kept_are_given_to_nobody(home: Path) -> None:
    names = HostNames()
    with staged() as stage:
        first, _ = stage.start("/scenes/a.usd")
        assert ids(names) == {"fake": first}
        file().write_text('{"names": {"fake": 7}}', "utf-8")
        stage.start("/scenes/b.usd")
        assert ids(names) == {"fake": first}
        assert ids(HostNames()) == {}
        with pytest.raises(HostError, match="fix the file"):
            forget(["fake"])
