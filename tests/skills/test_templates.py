import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.skills.prompts.prompt import as_text, fill, placeholders


def test_only_bare_identifiers_are_replaced():
    for template, text in [
        ("{{foo}}", "F"),
        ("{{ foo }}", "F"),
        ("{{\tfoo\n}}", "F"),
        ("a{{foo}}b{{foo}}", "aFbF"),
        ('{"k": {{foo}}}', '{"k": F}'),
        ("{{ 1 + 1 }}", "{{ 1 + 1 }}"),
        ("{{1}}", "{{1}}"),
        ("{{}}", "{{}}"),
        ("{{{foo}}}", "{{{foo}}}"),
        ("{{ unclosed", "{{ unclosed"),
        ("stray }}", "stray }}"),
        ("{{ a b {{foo}}", "{{ a b F"),
        ("{foo}", "{foo}"),
    ]:
        assert fill(template, {"foo": "F"}.__getitem__) == text


@pytest.mark.parametrize("name", ["a", "_a", "a.b", "a-b", "A1"])
def test_identifiers(name):
    assert placeholders(f"{{{{{name}}}}} and {{{{{name}}}}}") == [name]


def test_values_are_not_expanded_again():
    assert fill("{{foo}}", lambda _: "{{foo}}") == "{{foo}}"


@given(st.text(st.sampled_from("{} ab1.\n")))
def test_text_without_placeholders_is_left_alone(text):
    if not placeholders(text):
        assert fill(text, lambda _: "X") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [("é", "é"), (1, "1"), (1.5, "1.5"), (True, "true"), ({"a": [1]}, '{"a":[1]}')],
)
def test_values_become_text(value, text):
    assert as_text(value) == text
