"""Tests every tool on scenes like those of studios. ``python tests/hosts/sweep_usd.py FOLDER`` does
the same with a folder of files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from needed import need

need("pxr")

from pxr import Sdf

from hosts.sweep_usd import Checker, Sweep
from hosts.usd_corpus import CORPUS


@pytest.fixture(scope="module")
def checker() -> Iterator[Checker]:
    with Checker() as started:
        yield started


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("shape", "form"),
    # Once it is open, a layer behaves the same in both file formats, so only one form goes through
    # the whole sweep.
    [*((shape, "text") for shape in CORPUS), (next(iter(CORPUS)), "binary")],
)
def test_every_change_is_right_or_refused_and_undone_exactly(
    checker: Checker, tmp_path: Path, shape: str, form: str
) -> None:
    for name, text in CORPUS[shape].items():
        (tmp_path / "show" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "show" / name).write_text(text, encoding="utf-8")
    shot = tmp_path / "show" / "shot.usda"
    if form == "binary":
        shot = shot.with_suffix(".usdc")
        assert Sdf.Layer.OpenAsAnonymous(str(shot.with_suffix(".usda"))).Export(str(shot))
    (tmp_path / "elsewhere").mkdir()
    sweep = Sweep(str(shot), tmp_path / "elsewhere")
    sweep.run()
    assert sweep.counts["opened"] == sweep.counts["saved"] == 1, sweep.refused
    assert sweep.failed + checker.wrong(sweep) == []
