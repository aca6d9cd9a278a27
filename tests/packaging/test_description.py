"""The description that PyPI shows is README.md, without the project's other files."""

from __future__ import annotations

import re
import sys
from importlib import import_module

import pytest

from build_distribution import metadata
from build_requirements import PROJECT


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a wheel is made by Python 3.11 or later")
def test_nothing_on_the_index_leads_to_a_page_that_isnt_there() -> None:
    project = import_module("tomllib").loads((PROJECT / "pyproject.toml").read_text("utf-8"))
    shown = metadata(project["project"]).decode().partition("\n\n")[2]
    readme = (PROJECT / "README.md").read_text("utf-8")
    assert [to for to in re.findall(r"\]\(([^)]*)\)", shown) if not to.startswith("https:")] == []
    assert "<img" not in shown
    assert "Blender (docs/blender.md)" in shown
    assert [block for block in readme.split("```")[1::2] if block not in shown] == []
    assert {to for to in re.findall(r"\]\(([\w./]+\.md)", readme) if to not in shown} == set()
