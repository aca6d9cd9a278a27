import json
from contextlib import suppress

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from callboard.ground import safe_yaml, yaml_events
from callboard.ground.safe_yaml import YamlError, load

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 10)}]\n" for i in range(8)
)


@pytest.fixture(params=["CSafeLoader", "SafeLoader"], autouse=True)
def _parser(request, monkeypatch):
    if not hasattr(yaml, request.param):
        pytest.skip("libyaml isn't built in")
    monkeypatch.setattr(yaml_events, "_PARSER", getattr(yaml, request.param))


def test_scalars_follow_the_core_schema():
    for text, value in [
        ("on", "on"),
        ("yes", "yes"),
        ("2024-01-01", "2024-01-01"),
        ("12:30:45", "12:30:45"),
        ("true", True),
        ("~", None),
        ("", None),
        ("0x1F", 31),
        ("0o17", 15),
        ("-3", -3),
        ("1.5e3", 1500.0),
        (".nan", ".nan"),
        ("'1'", "1"),
        ("!!str 1", "1"),
        ("!!float 1", 1.0),
        ("1.2.3", "1.2.3"),
    ]:
        assert load(f"k: {text}").value == {"k": value}


def test_refuses_with_a_line():
    for text, line, words in [
        (BOMB, 5, "values"),
        ("a: &a [1, *a]", 1, "itself"),
        ("\n" + "[" * 5000, 2, "deeper"),
        ("{a: " * 60 + "1" + "}" * 60, 1, "deeper"),
        ("a: 1\nb: *nowhere", 2, "unknown alias"),
        ("a: !!python/object/apply:os.system [id]", 1, "isn't allowed"),
        ("a: !mine x", 1, "isn't allowed"),
        ("a: !!int x", 1, "isn't a int"),
        ("? [a]\n: 1", 1, "plain text"),
        ("a: 1\n---\nb: 2", 2, "more than one document"),
        ("a:\n  - b\n c: d", 3, ""),
        ("a: 1e999", 1, "too large"),
        ("a: 1\nb: \x07", 2, ""),
        ("<<: 3", 1, "mapping"),
    ]:
        with pytest.raises(YamlError) as caught:
            load(text)
        assert words in caught.value.message
        assert caught.value.line == line


def test_size_is_limited():
    with pytest.raises(YamlError, match="larger"):
        load("a" * (safe_yaml.MAX_BYTES + 1))


@pytest.mark.slow
def test_number_of_values_is_limited():
    with pytest.raises(YamlError, match="values"):
        load("[" + "1," * (yaml_events.MAX_NODES + 1) + "]")


def test_keys_stay_text():
    assert load("1: a\ntrue: b\non: c").value == {"1": "a", "true": "b", "on": "c"}


def test_merge_keys_do_not_override():
    text = "base: &b {x: 1, y: 2}\nmine: {<<: *b, y: 3}"
    assert load(text).value["mine"] == {"x": 1, "y": 3}


def test_repeated_keys_are_told_with_their_place():
    document = load("tools:\n- name: a\n- name: b\n  x: 1\n  x: 2\n")
    assert document.value["tools"][1] == {"name": "b", "x": 1}
    assert document.duplicate_under("tools", 0) is None
    assert document.duplicate_under("tools", 1) == ("x", 5)


def test_lines_of_nested_values():
    document = load("tools:\n- name: a\n  deep:\n    er: {x: 1}\n", first_line=11)
    assert document.line("tools", 0, "deep") == 13
    assert document.line("tools", 0, "deep", "er", "x", "y", "z") == 14
    assert document.line("nothing") == 11


@given(st.text())
def test_any_text_is_json_or_an_error(text):
    with suppress(YamlError):
        json.dumps(load(text).value, allow_nan=False)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text("abc :-#'\"\n\té€"),
        lambda inner: st.lists(inner) | st.dictionaries(st.text("ab", min_size=1), inner),
        max_leaves=15,
    )
)
def test_json_reads_as_itself(value):
    assert load(json.dumps(value)).value == value
