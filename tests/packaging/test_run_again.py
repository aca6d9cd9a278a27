"""Tests that fail in a CI run while other tests share the machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("CI is run by bash", allow_module_level=True)

pytestmark = pytest.mark.timeout(300)

PROJECT = Path(__file__).parents[2]
TEST = r"""
from pathlib import Path
import pytest

@pytest.mark.parametrize("name", {names})
def test(name):
    times = Path(__file__).with_name("times")
    with times.open("a") as file:
        file.write("x")
    assert {condition}, "as it was"

def test_that_always_passes():
    pass
"""
#: A run like those of `.ci/run`, with a command that is a function, and without pytest's plug-ins.
RUN = """
set -uo pipefail
python=$1 logs=$2
. .ci/stages.sh
export PYTEST_DISABLE_PLUGIN_AUTOLOAD=1
beside "a check" 300 true
joined
stage "some tests" 300 --tests bash -c '"$0" -m pytest "$@"' "$python" -q -p xdist \\
    -c /dev/null --rootdir "$3" "$3" -n 2
finish
"""


def ci(folder: Path, condition: str, names: list[str]) -> tuple[int, str]:
    """Run ``RUN`` over a test for each of the names. Return the exit code and the output."""
    (folder / "tests").mkdir()
    (folder / "tests" / "test_it.py").write_text(TEST.format(names=names, condition=condition))
    (folder / "logs").mkdir()
    words = [sys.executable, str(folder / "logs"), str(folder / "tests")]
    done = subprocess.run(
        ["bash", "-c", RUN, "ci", *words], cwd=PROJECT, capture_output=True, encoding="utf-8"
    )
    return done.returncode, done.stdout + done.stderr


def test_one_that_passes_alone_is_named_and_is_no_failure(tmp_path: Path) -> None:
    names = ["a b\\'\"$ - c", "\u00e9"]
    code, output = ci(tmp_path, "len(times.read_text()) > 2", names)
    *_, told, more, how_many, _, counted = output.splitlines()
    assert code == 0, output
    assert told.startswith("failed beside others, passed alone: ")
    assert more.startswith("failed beside others, passed alone: ")
    assert told.endswith("] (some tests)")
    assert how_many == "2 failed beside others and passed alone"
    assert counted == "3 passed, 0 failed"
    assert "as it was" in output
    assert "ok (2 only alone)" in output


def test_one_that_fails_again_is_a_failure(tmp_path: Path) -> None:
    code, output = ci(tmp_path, "False", ["always"])
    assert code == 1
    assert "passed alone" not in output
    assert output.splitlines()[-1] == "1 passed, 1 failed"
    assert (tmp_path / "tests" / "times").read_text() == "xx"


def test_one_that_skips_when_it_is_alone_is_a_failure(tmp_path: Path) -> None:
    condition = "len(times.read_text()) == 2 and pytest.skip('not here')"
    code, output = ci(tmp_path, condition, ["skips"])
    assert code == 1, output
    assert "passed alone" not in output


def test_more_than_three_are_not_run_again(tmp_path: Path) -> None:
    code, output = ci(tmp_path, "len(times.read_text()) > 4", ["a", "b", "c", "d"])
    assert code == 1
    assert "4 tests failed; more than 3 are not run again" in output
    assert (tmp_path / "tests" / "times").read_text() == "xxxx"
