"""Files' suffixes are recognized in upper and lower case."""

from __future__ import annotations

import pytest

from callboard.errors import HostError
from callboard.host import checked_suffix


@pytest.mark.parametrize("path", ["a.fcstd", "a.FCStd", "a.FCSTD"])
def test_the_suffix_is_the_allowed_one_however_it_is_written(path: str) -> None:
    assert checked_suffix(path, [".FCStd", ".step"]) == ".FCStd"


def test_another_suffix_is_refused() -> None:
    with pytest.raises(HostError, match=r"must end in \.FCStd"):
        checked_suffix("a.txt", [".FCStd"])
