"""Checks that the open file and the saved file are described in the same way, and that nothing
changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from callboard.errors import HostError
from callboard.host import FILE, FILESYSTEM_READ, FILESYSTEM_WRITE, SCENE_MUTATE, SCENE_READ
from callboard_testing.checks.objects import raised

if TYPE_CHECKING:
    from callboard_testing.bench import Bench


class UnderstandingFiles:
    needs = (SCENE_READ, SCENE_MUTATE, FILE, FILESYSTEM_READ, FILESYSTEM_WRITE)

    def test_the_open_file_and_the_saved_one_are_explained_alike(self, bench: Bench) -> None:
        for name in ("Crate", "Barrel"):
            bench.cube(name)
        suffix = bench.port(FILESYSTEM_READ).suffixes[0]
        path = bench.port(FILESYSTEM_WRITE).save(str(bench.folder / f"shot{suffix}"))["path"]
        with bench.step():  # Unused data isn't saved.
            bench.port(FILESYSTEM_READ).open(path)
        before = bench.everything()
        here = bench.call("file__overview", {})
        there = bench.call("file__overview", {"path": path})
        assert Path(here["file"]) == Path(there["file"]) == Path(path)
        assert here["kinds"]["meshes"] == there["kinds"]["meshes"] == 2
        assert here["types"] == there["types"]
        assert here["purpose"] == there["purpose"] != []
        named, saved = (
            {each["path"] for each in bench.call("file__references", which)["files"]}
            for which in ({}, {"path": path})
        )
        assert saved == named
        assert bench.everything() == before

    def test_history_finds_backups(self, bench: Bench) -> None:
        suffix = bench.port(FILESYSTEM_READ).suffixes[0]
        with bench.step():
            path = bench.port(FILESYSTEM_WRITE).save(str(bench.folder / f"shot_v2{suffix}"))["path"]
        others = [f"{path}.bak", str(bench.folder / f"shot_v1{suffix}")]
        for each in others:
            Path(each).write_bytes(b"earlier")
        Path(bench.folder / f"other{suffix}").write_bytes(b"another")
        answer = bench.call("file__history", {})
        assert Path(answer["file"]) == Path(path)
        assert answer["bytes"] == Path(path).stat().st_size
        assert sorted(each["path"] for each in answer["backups"]) == sorted(others)
        assert answer["modified"] is False

    def test_a_file_that_is_none_is_refused(self, bench: Bench) -> None:
        suffix = bench.port(FILESYSTEM_READ).suffixes[0]
        broken = bench.folder / f"broken{suffix}"
        broken.write_bytes(b"nothing of the kind")
        for tool in ("file__overview", "file__references"):
            raised(HostError, bench.call, tool, {"path": str(broken)})
            raised(HostError, bench.call, tool, {"path": str(bench.folder / f"gone{suffix}")})
