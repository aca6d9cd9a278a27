"""URIs are matched against a resource's template."""

from __future__ import annotations

import pytest

from callboard.service.resources import ServedResource


def match(template: str, uri: str) -> dict[str, str] | None:
    return ServedResource(template, "name", lambda **_: "").match(uri)


@pytest.mark.parametrize(
    ("template", "uri", "variables"),
    [
        ("a://{x}", "a://b", {"x": "b"}),
        ("a://{x}", "a://b/c", None),
        ("a://{x}", "a://", None),
        ("a://{x}", "b://b", None),
        ("a://{+x}", "a://b/c%20d", {"x": "b/c d"}),
        ("a://{x}/{+y}", "a://b/c/d", {"x": "b", "y": "c/d"}),
        ("a://{x}/result", "a://b/result", {"x": "b"}),
        ("a://{x}/result", "a://b/results", None),
        ("a://{+x}/{y}", "a://b/c/d", {"x": "b/c", "y": "d"}),
        ("a://{+x}.{y}", "a://b.c/d.e", {"x": "b.c/d", "y": "e"}),
        ("a://{x}-{y}", "a://b-c-d", {"x": "b-c", "y": "d"}),
        ("a://{x}{y}", "a://bcd", {"x": "bc", "y": "d"}),
        ("a://b", "a://b", {}),
        ("a://b", "a://c", None),
    ],
)
def test_each_variable_takes_as_much_as_it_can(
    template: str, uri: str, variables: dict[str, str] | None
) -> None:
    assert match(template, uri) == variables


def test_a_uri_made_to_take_long_does_not() -> None:
    template = "a://" + "-".join(f"{{x{n}}}" for n in range(16)) + ".txt"
    # With a regular expression, this would outlast any test run.
    assert match(template, "a://" + "-" * 4000) is None
    assert match(template, "a://" + "-" * 10_000_000) is None
