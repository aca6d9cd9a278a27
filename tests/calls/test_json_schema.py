from __future__ import annotations

import contextlib
import copy
import urllib.request
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from callboard.calls.json_schema import (
    BadSchema,
    SchemaViolation,
    UnsupportedSchema,
    Validator,
)
from needed import need
from serving import served, text_of

SPHERE = {
    "type": "object",
    "properties": {
        "radius": {"type": "number", "exclusiveMinimum": 0, "default": 1.0},
        "name": {"type": "string", "minLength": 1, "pattern": "^[a-z]+$"},
        "axis": {"enum": ["x", "y", "z"]},
        "count": {"type": "integer"},
        "points": {
            "type": "array",
            "items": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]},
        },
        "parent": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "path": {"type": "string", "format": "workspace-path"},
    },
    "required": ["radius"],
    "additionalProperties": False,
}


def violation(schema: Any, value: Any, name: str = "arguments") -> SchemaViolation:
    with pytest.raises(SchemaViolation) as caught:
        Validator(schema, name=name).check(value)
    return caught.value


def test_a_violation_names_the_field_and_the_rule() -> None:
    for value, path, rule, message in [
        ({"radius": 0}, "arguments.radius", "exclusiveMinimum", "must be bigger than 0"),
        ({"radius": "1"}, "arguments.radius", "type", "must be number"),
        ({"radius": True}, "arguments.radius", "type", "must be number"),
        ({}, "arguments", "required", "must have 'radius'"),
        ({"radiu": 1}, "arguments", "required", "must have 'radius', and not 'radiu'"),
        (
            {"radius": 1, "nmae": "a"},
            "arguments",
            "additionalProperties",
            "'nmae'; it takes 'radius'",
        ),
        ({"radius": 1, "name": ""}, "arguments.name", "minLength", "at least|longer than"),
        ({"radius": 1, "name": "A\n"}, "arguments.name", "pattern", "match pattern"),
        ({"radius": 1, "axis": "w"}, "arguments.axis", "enum", "one of"),
        ({"radius": 1, "count": True}, "arguments.count", "type", "must be integer"),
        ({"radius": 1, "count": 1.5}, "arguments.count", "type", "must be integer"),
        ({"radius": 1, "points": [{"x": 1}, {}]}, "arguments.points[1]", "required", "'x'"),
        ({"radius": 1, "points": [{"x": None}]}, "arguments.points[0].x", "type", "number"),
        ({"radius": 1, "parent": 3}, "arguments.parent", "anyOf", "a valid string or null"),
        ([], "arguments", "type", "must be object"),
    ]:
        broken = violation(SPHERE, value)
        assert (broken.path, broken.rule) == (path, rule)
        assert broken.message.startswith(f"{path} ")
        assert broken.message.endswith(f" ({rule})")
        assert str(broken) == broken.message
        with pytest.raises(SchemaViolation, match=message):
            Validator(SPHERE).check(value)


def test_the_message_reads_as_a_sentence() -> None:
    assert violation(SPHERE, {"radius": 0}).message == (
        "arguments.radius must be bigger than 0 (exclusiveMinimum)"
    )
    assert violation(SPHERE, {"radius": 0}, name="result").path == "result.radius"


def test_a_good_value_passes_and_stays_as_it_is() -> None:
    for value in (
        {"radius": 1},
        {"radius": 1.5, "count": 2.0, "parent": None, "path": "workspace://x", "axis": "y"},
        {"radius": 1, "points": [{"x": 1, "note": "kept"}]},
    ):
        before = copy.deepcopy(value)
        Validator(SPHERE).check(value)
        assert value == before


GOOD_AND_BAD: list[tuple[Any, Any, Any]] = [
    (True, 1, ...),
    (False, ..., 1),
    ({}, None, ...),
    ({"type": ["integer", "null"]}, 1.0, True),
    ({"const": 1}, 1.0, True),
    (
        {"const": {"$ref": "http://x", "a": [1, {}]}},
        {"$ref": "http://x", "a": [1, {}]},
        {"$ref": ""},
    ),
    ({"enum": [1, "a", None, [], {"b": False}]}, {"b": False}, {"b": 0}),
    ({"enum": [False]}, False, 0),
    ({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, ["a", 1], ["a", "b"]),
    ({"prefixItems": [{"type": "string"}], "items": False}, ["a"], ["a", 1]),
    ({"prefixItems": [True, True], "unevaluatedItems": False}, [1, 2], [1, 2, 3]),
    ({"unevaluatedItems": False}, [], [1]),
    ({"items": [{"type": "string"}], "additionalItems": False}, ["a"], ["a", 1]),
    ({"properties": {"a": True}, "unevaluatedProperties": False}, {"a": 1}, {"b": 1}),
    ({"patternProperties": {"^x": {"type": "integer"}}}, {"x1": 1, "y": ""}, {"x1": ""}),
    ({"propertyNames": {"maxLength": 2}}, {"ab": 1}, {"abc": 1}),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1, "b": 1}, {"a": 1}),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"c": 1}, {"a": 1}),
    ({"dependencies": {"a": ["b"], "c": {"minProperties": 2}}}, {"a": 1, "b": 1}, {"c": 1}),
    ({"if": {"minimum": 5}, "then": {"multipleOf": 5}, "else": {"maximum": 2}}, 10, 3),
    ({"not": {"type": "string"}}, 1, "a"),
    ({"oneOf": [{"minimum": 3}, {"maximum": 5}]}, 1, 4),
    ({"contains": {"const": 1}}, [0, 1], [0]),
    ({"contains": {"const": 1}, "minContains": 0}, [0], ...),
    ({"uniqueItems": True}, [1, True, "1"], [{"a": 1}, {"a": 1}]),
    ({"multipleOf": 0.01}, 19.01, 0.005),
    ({"minItems": 1.0, "maxItems": 1}, [1], []),
    ({"$defs": {"a/b": {"type": "null"}}, "$ref": "#/$defs/a~1b"}, None, 1),
    ({"$defs": {"a": {"$anchor": "n", "type": "null"}}, "$ref": "#n"}, None, 1),
    ({"definitions": {"a": {"$id": "#n", "type": "null"}}, "$ref": "#n"}, None, 1),
    ({"$defs": {"n": {"type": "integer"}}, "$ref": "#/$defs/n", "minimum": 3}, 3, 2),
    (
        {"$id": "http://x/a", "$defs": {"n": {"$id": "b", "type": "null"}}, "$ref": "http://x/b"},
        None,
        1,
    ),
    (
        {"properties": {"next": {"$ref": "#"}, "v": {"type": "integer"}}, "required": ["v"]},
        {"v": 1, "next": {"v": 2, "next": {"v": 3}}},
        {"v": 1, "next": {"v": 2, "next": {}}},
    ),
    (
        {"properties": {"$ref": {"type": "integer"}, "$id": True, "type": {"const": "x"}}},
        {"$ref": 1, "$id": "#", "type": "x"},
        {"$ref": "#"},
    ),
    ({"properties": {'a"{0.__class__}\\\n{data}': {"type": "null"}}}, {"a": 1}, ...),
    ({"type": "string", "format": "email", "contentEncoding": "base64"}, "no email", 1),
    ({"x-vendor": 1, "title": 5, "examples": "?", "$comment": {}}, 1, ...),
]


def test_keywords() -> None:
    for schema, good, bad in GOOD_AND_BAD:
        if good is not ...:
            Validator(schema).check(good)
        if bad is not ...:
            assert violation(schema, bad).path.startswith("arguments")


def test_odd_property_names_are_data_in_messages_too() -> None:
    name = 'a"{0.__class__}\\\n{data}'
    broken = violation({"properties": {name: {"type": "null"}}}, {name: 1})
    assert broken.rule == "type"
    broken = violation({"additionalProperties": {"type": "null"}}, {name: 1})
    assert name in broken.path


def test_a_bad_schema_says_what_is_wrong() -> None:
    for schema, reason in [
        (None, "an object or a boolean"),
        ([], "an object or a boolean"),
        ({"properties": {"a": 5}}, "an object or a boolean"),
        ({"properties": []}, "properties must be an object"),
        ({"properties": {1: {}}}, "properties must be an object"),
        ({"type": "float"}, "type 'float' doesn't exist"),
        ({"type": {}}, "type must be"),
        ({"minimum": "0"}, "minimum must be a number"),
        ({"minimum": float("nan")}, "minimum must be a number"),
        ({"exclusiveMinimum": True}, "exclusiveMinimum must be a number"),
        ({"multipleOf": 0}, "greater than 0"),
        ({"minimum": 10**5000}, "minimum must be a number within"),
        ({"const": 10**5000}, "can't be used"),
        ({"minLength": -1}, "minLength must be a whole number"),
        ({"minLength": "{data.__class__}"}, "minLength must be a number"),
        ({"required": "radius"}, "required must be an array of strings"),
        ({"required": [1]}, "required must be an array of strings"),
        ({"required": ["a"], "additionalProperties": False}, "required but not allowed"),
        ({"enum": []}, "enum must be"),
        ({"anyOf": {}}, "anyOf must be"),
        ({"pattern": "("}, "can't be used"),
        ({"pattern": "a{1,99999999999999999999}"}, "can't be used"),
        ({"pattern": "(" * 4000 + ")" * 4000}, "longer than"),
        ({"pattern": "(" * 2000 + ")" * 2000}, "can't be used"),
        ({"patternProperties": {"[": {}}}, "can't be used"),
        ({"$ref": 5}, "must be a string"),
        ({"$ref": "#/$defs/none"}, "doesn't lead to a schema"),
        ({"$ref": "#none"}, "doesn't lead to a schema"),
        ({"$ref": "#/required", "required": ["a"]}, "doesn't lead to a schema"),
        ({"$ref": "#/allOf/999999999999999999999"}, "doesn't lead to a schema"),
        ({"anyOf": [{"minimum": n} for n in range(30_000)]}, "make it smaller"),
    ]:
        with pytest.raises(BadSchema) as caught:
            Validator(schema).compile()
        assert reason in caught.value.message
        assert len(caught.value.message) < 800
        with pytest.raises(BadSchema):
            Validator(schema).check({})


def test_what_cannot_be_checked_is_listed() -> None:
    schema = {
        "allOf": [{"$dynamicRef": "#a"}],
        "unevaluatedProperties": False,
        "properties": {"a": {"contains": {}, "minContains": 2, "maxContains": 3}},
    }
    with pytest.raises(UnsupportedSchema) as caught:
        Validator(schema).compile()
    assert caught.value.keywords == [
        "$dynamicRef",
        "maxContains",
        "minContains",
        "unevaluatedProperties",
    ]
    assert "$dynamicRef, maxContains" in caught.value.message


@pytest.mark.parametrize(
    "ref",
    [
        "http://127.0.0.1:9/x",
        "https://example.com/s#/a",
        "file:///etc/passwd",
        "other.json",
        "urn:x:y",
    ],
)
def test_nothing_is_ever_fetched(ref: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(urllib.request, "urlopen", lambda *a, **k: asked.append(a))
    for schema in ({"$ref": ref}, {"$id": ref.partition("#")[0] + "2", "items": {"$ref": ref}}):
        with pytest.raises(BadSchema, match="nothing is fetched"):
            Validator(schema).compile()
    Validator({"const": {"$ref": ref}, "default": {"$ref": ref}}).check({"$ref": ref})
    assert asked == []


def test_deep_schemas_work() -> None:
    schema: dict[str, Any] = {"type": "integer"}
    value: Any = 1
    wrong: Any = "1"
    for _ in range(60):
        schema = {"type": "object", "properties": {"a": {"type": "array", "items": schema}}}
        value, wrong = {"a": [value]}, {"a": [wrong]}
    Validator(schema).check(value)
    assert violation(schema, wrong).path == "arguments" + ".a[0]" * 60


def test_schemas_that_contain_themselves_work() -> None:
    node: dict[str, Any] = {"type": "object", "required": ["v"]}
    node["properties"] = {"next": node}
    Validator(node).check({"v": 1, "next": {"v": 2}})
    assert violation(node, {"v": 1, "next": {}}).path == "arguments.next"


def test_recursion_without_end_is_a_violation_not_a_crash() -> None:
    assert violation({"$ref": "#"}, 1).rule == "depth"
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    assert violation({"properties": {"a": {"$ref": "#"}}}, deep).rule == "depth"
    while deep:
        deep = deep.pop("a")


def test_numbers_beyond_arithmetic_are_a_violation() -> None:
    assert violation({"multipleOf": 0.3}, 10**400).rule == "number"
    assert violation({"multipleOf": 0.3}, float("nan")).rule == "number"


def test_long_messages_are_cut() -> None:
    broken = violation({"enum": [str(n) for n in range(5000)]}, 1)
    assert len(broken.message) < 700
    broken = violation({"additionalProperties": False}, {"k" * 100_000: 1})
    assert len(broken.message) < 700


scalars = st.sampled_from([None, True, False, 0, 1, 1.0, 2.5, -3, "", "a", "xyz"])
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "$ref", "x{y}"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=3)
    small = st.integers(0, 3)
    named = st.dictionaries(st.sampled_from(["a", "b", "$ref", "x{y}"]), inner, max_size=2)
    names = st.lists(st.sampled_from(["a", "b"]), unique=True)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["integer", "number", "string", "object", "array", "null"]),
            "const": values,
            "enum": st.lists(values, min_size=1, max_size=3),
            "minimum": small,
            "exclusiveMaximum": small,
            "multipleOf": st.sampled_from([1, 2, 0.5]),
            "maxLength": small,
            "pattern": st.sampled_from(["^a", "z$"]),
            "prefixItems": some,
            "items": inner,
            "contains": inner,
            "uniqueItems": st.booleans(),
            "minItems": small,
            "properties": named,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b"]), inner, max_size=2),
            "additionalProperties": inner,
            "required": names,
            "propertyNames": inner,
            "dependentRequired": st.dictionaries(st.sampled_from(["a", "b"]), names, max_size=2),
            "dependentSchemas": named,
            "allOf": some,
            "anyOf": some,
            "oneOf": some,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "$ref": st.sampled_from(["#/$defs/one", "#two"]),
        },
    )


schemas: st.SearchStrategy[Any] = st.recursive(st.booleans() | st.just({}), keywords, max_leaves=5)
KEYWORDS = [
    *("type", "enum", "const", "minimum", "multipleOf", "maxLength", "pattern", "required"),
    *("items", "prefixItems", "additionalItems", "contains", "minContains", "uniqueItems"),
    *("properties", "patternProperties", "additionalProperties", "propertyNames", "dependencies"),
    *("allOf", "anyOf", "oneOf", "not", "if", "then", "$ref", "$id", "$anchor", "$defs", "$schema"),
    *("unevaluatedProperties", "unevaluatedItems", "default", "format", "#", "definitions"),
]
SHARED = {"one": {"type": ["integer", "string"]}, "two": {"$anchor": "two", "maxItems": 1}}


@pytest.mark.slow
@given(schema=keywords(schemas), value=values)
def test_agrees_with_the_reference_implementation(schema: Any, value: Any) -> None:
    need("jsonschema")
    import jsonschema

    schema = {**schema, "$defs": SHARED}
    validator = Validator(schema)
    try:
        validator.compile()
    except BadSchema:  # required and forbidden at once: legal but useless, so refused
        reject()
    try:
        validator.check(value)
        valid = True
    except SchemaViolation:
        valid = False
    assert valid == jsonschema.Draft202012Validator(schema).is_valid(value)


hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYWORDS) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(schema=hostile, value=hostile)
def test_any_json_at_all_is_a_schema_or_a_bad_schema(schema: Any, value: Any) -> None:
    with contextlib.suppress(BadSchema, SchemaViolation):
        Validator(schema).check(value)


@pytest.mark.parametrize("value", [{"name": "a\ud800"}, {"\udfff": 1}, {"names": ["ok", "\ud83d"]}])
def test_half_a_character_is_refused_where_an_application_would_get_it(value: Any) -> None:
    Validator({"type": "object"}).check(value)
    with pytest.raises(SchemaViolation, match="half a surrogate pair"):
        Validator({"type": "object"}, whole_characters=True).check(value)
    Validator({"type": "object"}, whole_characters=True).check({"name": "\U0001f600 é"})


def test_a_tool_that_ships_gets_whole_characters() -> None:
    with served(skills=True) as server, server.client() as client:
        answer = client.call("scene__duplicate", {"name": "\ud800"})
        assert answer["isError"]
        assert "half a surrogate pair" in text_of(answer)
