"""Every block of every page is run by a test, or is listed below with the reason why it isn't. A
page in ``GRANTED`` of tests/docs/test_pages.py is followed as a whole; tests/docs/reader.py lists
the words that a block of such a page may have. Blocks elsewhere are claimed by ``RUN_BY`` or
``NOT_RUN``.
"""

from __future__ import annotations

import re
from pathlib import Path

from docs.blocks import PROJECT, Block, blocks, page_text, pages
from docs.test_commands_named import typed
from docs.test_pages import GRANTED

#: For each page, patterns for the text after a block's backticks, each with the file of the test
#: that covers such blocks.
RUN_BY: dict[str, dict[str, str]] = {
    "docs/apps.md": {"json": "tests/service/test_apps.py"},
    "docs/architecture.md": {"mermaid": "tests/docs/test_architecture.py"},
    "docs/assets.md": {"json assets__download elsewhere": "tests/skills/test_assets_online.py"},
    "docs/blender.md": {"console blender": "tests/docs/test_get_started.py"},
    "docs/bpy.md": {"console blender": "tests/docs/test_get_started.py"},
    "docs/connect.md": {"python elsewhere": "tests/e2e/test_connect_client.py"},
    "docs/commands.md": {
        "console elsewhere": "tests/cli/test_completion.py",
        "console manual elsewhere": "tests/cli/test_manual_command.py",
    },
    "docs/deployment.md": {
        r"(yaml|python) \S+|json elsewhere": "tests/docs/test_deployment_docs.py"
    },
    "docs/first-skill.md": {".*": "tests/docs/test_get_started.py"},
    "docs/host.md": {".*": "tests/docs/test_get_started.py"},
    "docs/host-qt.md": {".*": "tests/docs/test_get_started.py"},
    "docs/index.md": {r"\{toctree\}": "tests/docs/test_site.py"},
    "docs/openusd.md": {"console": "tests/docs/test_get_started.py"},
    "docs/records.md": {"yaml": "tests/docs/test_deployment_docs.py"},
    "docs/prompts.md": {r"yaml \S+": "tests/docs/test_skill_docs.py"},
    "docs/workflows.md": {r"yaml \S+": "tests/docs/test_skill_docs.py"},
    "docs/walkthrough.md": {".*": "tests/docs/test_walkthrough.py"},
    "examples/many/README.md": {"console": "tests/e2e/test_examples.py"},
}
#: The reason for Windows lines, and for lines that are meant for other programs' Pythons.
_READ = "its words are read by tests/docs/test_commands_named.py; "
#: The reason why no test runs a block, by the page and the beginning of the block.
NOT_RUN: dict[tuple[str, str], str] = {
    ("CONTRIBUTING.md", "python3 packaging/bootstrap.py test"): "it is what runs this",
    ("CONTRIBUTING.md", "debootstrap"): "it makes a Debian around all of CI",
    ("CONTRIBUTING.md", ".venv-test/bin/python -m pip install uv"): "it changes the pins",
    ("README.md", "python3 packaging/bootstrap.py release"): "tests/packaging/test_release.py",
    ("docs/platforms.md", "apt-get"): "it is a stage of .ci/run",
    (
        "docs/setup.md",
        "python3 packaging/bootstrap.py release",
    ): "tests/e2e/test_setup_blender.py sets up, from the same wheel",
    ("tests/hosts/README.md", "mayapy -m pytest"): "needs Maya",
    ("tests/hosts/README.md", "mayapy -m callboard_testing"): "needs Maya",
    ("tests/hosts/README.md", "python tests/hosts/make_facts"): "needs the public dumps",
    ("tests/hosts/README.md", "hython -m pytest"): "needs Houdini",
    ("tests/hosts/README.md", "hython -m callboard_testing"): "needs Houdini",
    ("tests/hosts/README.md", "3dsmaxbatch"): "needs 3ds Max",
    ("tests/hosts/README.md", "set CALLBOARD"): "needs 3ds Max",
    ("tests/hosts/README.md", "tests/hosts/blender_room"): "it is a stage of .ci/run",
    ("tests/hosts/first_run.md", "python3"): "bootstrap.py is what runs this; build.py has tests",
    ("tests/hosts/first_run.md", "py "): "Windows' words for the lines above",
    ("docs/blender.md", "$ python3 packaging"): "tests/packaging/test_release.py",
    (
        "docs/blender.md",
        "$ ~/callboard-venv/bin/callboard setup",
    ): "tests/e2e/test_setup_blender.py does",
    ("docs/maya.md", "$ callboard call"): _READ + "needs Maya",
    ("docs/houdini.md", "$ callboard call"): _READ + "needs Houdini",
    ("docs/3dsmax.md", "'{"): _READ + "needs 3ds Max",
    ("docs/3dsmax.md", "set "): _READ + "needs 3ds Max",
    ("docs/3dsmax.md", "$env:"): _READ + "needs 3ds Max",
    ("docs/houdini.md", "PYTHONPATH"): _READ + "needs Houdini",
    ("docs/houdini.md", "set "): _READ + "needs Houdini",
    ("docs/houdini.md", "$env:"): _READ + "needs Houdini",
    ("docs/maya.md", "PYTHONPATH"): _READ + "needs Maya",
    ("docs/maya.md", "set "): _READ + "needs Maya",
    ("docs/maya.md", "$env:"): _READ + "needs Maya",
    ("README.md", "git clone"): "it needs the address of a copy of this project",
    (
        "docs/deployment.md",
        "$ sudo install",
    ): "it writes to /etc as root; tests/ground/test_machine_policy.py has policies of its own",
    (
        "docs/deployment.md",
        "$ python3 packaging/bootstrap.py release",
    ): "it installs for everybody; tests/e2e/test_setup_blender.py sets up, from the same wheel",
    (
        "docs/deployment.md",
        "$ site=/studio/callboard version=0.1.0\n$ umask",
    ): "tests/packaging/test_blender_extension.py starts Blender with the script",
    (
        "docs/deployment.md",
        "$ echo 0.1.0",
    ): "tests/packaging/test_blender_extension.py switches the version",
    ("docs/connect.md", "echo "): _READ + "needs Windows",
    ("docs/connect.md", "'{"): _READ + "needs Windows",
    (
        "docs/records.md",
        "callboard report --from",
    ): "tests/cli/test_report_command.py reports on homes of its own",
    ("docs/rest.md", "$url"): "needs PowerShell; the same calls as by curl above",
    ("docs/commands.md", "callboard completion powershell"): _READ + "needs PowerShell",
}


def runners(block: Block) -> list[str]:
    """Return the tests that run the block, and the listed reasons not to run it."""
    runs = [file for what, file in RUN_BY.get(block.page, {}).items() if fits(what, block)]
    if block.page in GRANTED and "elsewhere" not in block.words.split():
        runs.append("tests/docs/test_pages.py")
    for (page, start), reason in NOT_RUN.items():
        if page == block.page and block.text.startswith(start):
            runs.append(reason)
    return runs


def fits(pattern: str, block: Block) -> bool:
    return re.fullmatch(pattern, f"{block.language} {block.words}".strip()) is not None


ALL = [block for page in pages() for block in blocks(page)]


def test_every_block_is_run_or_says_why_not() -> None:
    assert len(ALL) > 130
    assert [str(block) for block in ALL if not runners(block)] == []


def test_every_block_says_what_it_is_written_in() -> None:
    assert [str(block) for block in ALL if not block.language] == []


def test_a_page_has_no_other_blocks() -> None:
    fences = {page: re.findall(r"^ *(?:```|~~~)", page_text(page), re.M) for page in pages()}
    assert [page for page, marks in fences.items() if len(marks) != 2 * len(blocks(page))] == []
    # Indented blocks have no language.
    indented = re.compile(r"^[^\s*-].*\n\n    \S.*$", re.MULTILINE)
    assert [(page, each) for page in pages() for each in indented.findall(page_text(page))] == []


def test_what_is_claimed_is_there() -> None:
    for page, taken in RUN_BY.items():
        for pattern, file in taken.items():
            assert any(fits(pattern, block) for block in blocks(page)), (page, pattern)
            test = (PROJECT / file).read_text("utf-8")
            assert Path(page).stem in test or file == "tests/docs/test_site.py", (page, file)
    for (page, start), reason in NOT_RUN.items():
        begun = [block for block in blocks(page) if block.text.startswith(start)]
        assert len(begun) == 1, (page, start)
        assert typed(begun[0]) or "its words are read" not in reason, (page, start)
