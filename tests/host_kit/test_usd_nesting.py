from __future__ import annotations

import random
from pathlib import Path

import pytest

from callboard.errors import HostError
from callboard.host_kit.usd_depth import MAX_DEPTH, _bound, _depth, check_usd_nesting

DEEP = MAX_DEPTH + 1


def check(folder: Path, body: str) -> None:
    path = folder / "a.usda"
    path.write_text("#usda 1.0\n" + body, encoding="utf-8")
    check_usd_nesting(str(path))


@pytest.mark.parametrize(
    "body",
    [
        'def "a" {\n' * DEEP,
        "double a = " + "(" * DEEP,
        "double[] a = " + "[ " * DEEP,
        "dictionary d = {\n dictionary e = {" * DEEP,
        'def "a#" {\n' * DEEP,
        "/* }}}} */ {\n" * DEEP,
        "asset a = @#@ {\n" * DEEP,
        'string s = "}}}" {\n' * DEEP,
        "string s = '}' {\n// }\n" * DEEP,
        '"""}\n}""" {\n' * DEEP,
        'def "a" {\nstring s = "\\"}\\""\n' * DEEP,
        "def 'a' {\nstring s = '\\'}\\''\n" * DEEP,
        'def "a" {\nasset a = @@@\\@@@@@@ {\nasset b = @@@a\\@@@@@@\n' * DEEP,
        'def "a" { asset a = @@@a@@@@ { asset b = @@ ' * DEEP,
    ],
)
def test_what_nests_too_deep_is_refused(tmp_path: Path, body: str) -> None:
    with pytest.raises(HostError, match="deeper than"):
        check(tmp_path, body)


@pytest.mark.parametrize(
    "body",
    [
        'def "a" {}\n' * 5000,
        "point3f[] p = [" + "(0, 1, 2), " * 5000 + "]",
        'string s = "' + "{" * 5000 + '"',
        "# " + "{" * 5000,
        'def "a" {\n' * 500 + "}\n" * 500,
        # A search that starts again at each possible start of a string would take hours.
        'string s = "' + '\\"' * 100_000,
        '\\"""' * 100_000,
    ],
)
def test_what_is_long_or_quoted_is_fine(tmp_path: Path, body: str) -> None:
    check(tmp_path, body)


def test_other_files_are_not_its_business(tmp_path: Path) -> None:
    for name, data in {"crate": b"PXR-USDC" + b"{" * 5000, "empty": b""}.items():
        (tmp_path / name).write_bytes(data)
        check_usd_nesting(str(tmp_path / name))


def test_the_quick_look_never_finds_less() -> None:
    dice = random.Random(3)
    alphabet = [*"([{}])\"'@#", '"""', "//", "@@@", "\\", "/*", "*/", "a", " ", *["\n"] * 3]
    for _ in range(3000):
        text = "".join(dice.choices(alphabet, k=dice.randint(1, 60))).encode()
        assert _bound(text) >= _depth(text), text
