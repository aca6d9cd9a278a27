"""Blender's large panel and the artist's folders, without Blender: neither uses Blender's API."""

from __future__ import annotations

from pathlib import Path

from callboard.panel.project_settings import parse_root
from callboard.panel.status import Snapshot
from callboard_blender.application.kept_roots import KeptRoots
from callboard_testing.fake_host import FakeHost
from needed import need
from serving import served
from waiting import until


def test_the_window_is_opening_until_it_is_there(home: Path, tmp_path: Path) -> None:
    need("qt")
    from qt_rig import application

    from callboard_blender.ui.qt_window import QtWindow

    application()
    with served() as server:
        window = QtWindow(tmp_path)
        try:
            # While the window is opening, the sidebar's button is gray.
            assert not window.opening
            window.open(server.app)
            assert window.opening
            panel = until(lambda: window.tick() and window.panel, "the window", seconds=60)
            assert not window.opening
            panel.close()
            until(lambda: not window.tick(), "the end of the ticks")
            assert (window.opening, window.problem) == (False, None)
        finally:
            window.close()


def test_each_project_has_its_own_folders(home: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()

    def at_one() -> FakeHost:
        host = FakeHost()
        host.project = [str(tmp_path / "one")]
        return host

    with served(at_one) as server:
        controls = server.app.controls
        kept = KeptRoots(controls)

        def shown() -> Snapshot:
            return controls.status.snapshot

        # The code inside Blender does this, too.
        controls.status.watch(lambda _: server.host.post(lambda: kept.follow(shown())))

        def opened(name: str) -> None:
            server.host.project = [str(tmp_path / name)]
            kept.opened()
            server.on_main(lambda: server.host.announce("project"))

        def has(policy: str, project: str, *own: Path) -> None:
            roots = [("artist", str(each)) for each in own]
            roots.append(("project", str(tmp_path / project)))
            until(
                lambda: (
                    shown().roots_policy == policy
                    and [(root.source, root.path) for root in shown().roots] == roots
                ),
                lambda: f"{policy} and {roots} instead of {shown().roots}",
            )

        controls.set_roots_policy("strict")
        has("strict", "one")
        root = parse_root(str(library))
        assert server.on_main(lambda: kept.keep([root], shown())) is None
        has("strict", "one", library)
        opened("other")
        has("advisory", "other")
        opened("one")
        has("strict", "one", library)
