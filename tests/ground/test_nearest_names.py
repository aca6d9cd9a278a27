"""Suggestions for wrong names, whatever the names are."""

from __future__ import annotations

from callboard.ground.nearest_names import close_matches, nearest_names


def test_a_wrong_name_of_any_length_is_compared() -> None:
    # Comparing the entire text would take minutes and gigabytes.
    assert close_matches("x" * 30_000_000, ["scene__create"], 3) == []
    assert close_matches("creat", ["create", "delete"], 3) == ["create"]


def test_of_many_long_names_the_most_alike_are_still_found() -> None:
    names = [f"set_dressing_of_the_long_street_by_night_{n:04}_prop" for n in range(2000)]
    wrong = "set_dressing_of_the_long_street_by_nigth_1234_prop"
    assert nearest_names(wrong, names)[0] == names[1234]
