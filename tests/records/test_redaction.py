"""Texts that a record must not contain, and texts that it must keep."""

from __future__ import annotations

import json
from typing import Any

import pytest
from call_records import a_call
from hypothesis import given
from hypothesis import strategies as st

from callboard.records.redaction import MAX_FIELD_BYTES, Redactor, names_a_secret
from callboard.records.schema import to_line, to_record, to_row

POSIX = Redactor(home="/home/jdoe", user="jdoe")
WINDOWS = Redactor(home=r"C:\Users\Jane Doe", user="Jane Doe")
UMLAUT = Redactor(home="/home/jürgen", user="jürgen")

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r"
SECRETS = [
    ("use sk-ant-" + "a1B2" * 8, "a1B2a1B2"),
    ("key is ghp_" + "a1B2" * 8, "a1B2a1B2"),
    ("github_pat_" + "a1B2" * 8, "a1B2a1B2"),
    ("Authorization: Bearer abcdefghijklmnop", "abcdefghijklmnop"),
    ("authorization: basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    ("AKIA" + "ABCD1234" * 2, "ABCD1234"),
    (JWT, "eyJzdWIiOiIxMjM0In0"),
    ("https://bob:hunter2@files.example/x", "hunter2"),
    ("https://x.example/a?api_key=hunter2&b=1", "hunter2"),
    ("os.environ['DB_PASSWORD'] = 'hunter2'", "hunter2"),
    ('{"password": "hunter2 with blanks"}', "hunter2"),
    (r"json.loads('{\"token\": \"hunter2\"}')", "hunter2"),
    ("set('secret', 'hunter2')", "hunter2"),
    ("render --token hunter2 --frames 10", "hunter2"),
    ("Cookie: theme=dark; sid=hunter2; x=1", "hunter2"),
    ("requests.get(u, headers={'Cookie': 'sid=hunter2'})", "hunter2"),
    ("mail jane.doe@studio.example about it", "jane.doe@studio"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "MIIEow"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEow cut off", "MIIEow"),
    ("{'auth': 'hunter2'}", "hunter2"),
    ("connect(auth=hunter2)", "hunter2"),
    ("log in, the password is hunter2, then export", "hunter2"),
    ("My token was  hunter2.", "hunter2"),
    ("https://b.s3.example/a.usd?X-Amz-Signature=hunter2&X-Amz-Date=1", "hunter2"),
    ("https://b.s3.example/a.usd?X-Amz-Date=1&X-Amz-Credential=hunter2%2F20260101", "hunter2"),
    ("https://b.s3.example/a.usd?X-Amz-Security-Token=hunter2%2F%2B", "hunter2"),
    ("https://s.example/a?X-Goog-Signature=hunter2", "hunter2"),
    ("https://a.blob.example/c/a.exr?sv=2024-01-01&se=2026&sp=r&sig=hunter2%2Bx%3D", "hunter2"),
    ("https://a.example/x?signature=hunter2", "hunter2"),
    ("https://a.example/x?Policy=hunter2&Key-Pair-Id=K", "hunter2"),
    ("https://maps.example/x?key=hunter2", "hunter2"),
    ("https://a.example/x?a=1&token=hunter2#part", "hunter2"),
    ("https://go.example/?to=https%3A%2F%2Fa.example%2Fx%3Fa%3D1%26sig%3Dhunter2", "hunter2"),
    ("https://go.example/?to=https%253A%252F%252Fa.example%252F%253Fsig%253Dhunter2", "hunter2"),
    ("https://go.example/?to=https%3A%2F%2Fa.example%2Fx%3Ftoken%3Dhunter2", "hunter2"),
]


def test_a_secret_in_a_text_goes() -> None:
    for text, secret in SECRETS:
        assert secret in text
        assert secret not in POSIX.text(text)


def test_what_a_scene_is_about_stays() -> None:
    for text in [
        "sphere1",
        "monkey_key_token",
        "|world|keys|geo",
        "/World/Characters/hero",
        "set 250 keyframes from 1001 to 1250",
        "pass 1 of 3",
        "4111111111111111",
        "1.0 2.0 3.0",
        "/Users/Shared/assets/hero.usd",
        r"C:\Users\Public\hero.max",
        "textures/home/wall.exr",
        "/World/home/table",
        "https://studio.example/home/page",
        "cookie cutter",
        "written by the author: Jane",
        "https://studio.example/find?q=lamp&page=2",
        "https%3A%2F%2Fstudio.example%2Fhome%2Fpage",
        "%2FWorld%2Fhome%2Ftable",
        "signal 5 of the design",
    ]:
        assert POSIX.text(text) == text


def test_homes_and_user_names_in_paths_go() -> None:
    for redactor, text, expected in [
        (POSIX, "/home/jdoe/shots/a.usd", "~/shots/a.usd"),
        (POSIX, "file:///home/jdoe/a.usd", "file://~/a.usd"),
        (POSIX, "open('/home/anna/x.ma')", "open('~/x.ma')"),
        (POSIX, "/Users/anna/x.ma and /home/bob", "~/x.ma and ~"),
        (POSIX, "/home/jdoe2/x", "~/x"),
        (POSIX, "/mnt/work/jdoe/shot.ma", "/mnt/work/<user>/shot.ma"),
        (POSIX, r"D:\work\JDOE\shot.max", r"D:\work\<user>\shot.max"),
        (POSIX, r"C:\Users\anna\x.max", r"~\x.max"),
        (WINDOWS, r"C:\Users\Jane Doe\x.max", r"~\x.max"),
        (WINDOWS, "C:/Users/Jane Doe/x.max", "~/x.max"),
        (WINDOWS, "file:///C:/Users/jane/x.max", "file:///~/x.max"),
        (WINDOWS, r"'C:\\Users\\Jane Doe\\x.max'", r"'~\\x.max'"),
        (WINDOWS, r"\\nas\homes\anna\x.max", r"~\x.max"),
        (WINDOWS, r"'\\\\nas\\Users$\\anna\\x.max'", r"'~\\x.max'"),
        (POSIX, "//nas/home/anna/x.ma", "~/x.ma"),
        (POSIX, "file://nas/home/anna/x.ma", "file:~/x.ma"),
        (POSIX, "/mnt/c/Users/anna/x.ma", "~/x.ma"),
        (POSIX, "/net/homes/anna/x.ma and /export/home/bob", "~/x.ma and ~"),
        (UMLAUT, "/home/jürgen/a.usd", "~/a.usd"),
        (UMLAUT, "file:///home/j%C3%BCrgen/a.usd", "file://~/a.usd"),
        (POSIX, "open?path=%2Fhome%2Fjdoe%2Fa.usd", "open?path=~%2Fa.usd"),
        (POSIX, "?path=%2fUsers%2fanna%2fa.usd&x=1", "?path=~%2fa.usd&x=1"),
        (POSIX, "?uri=file%3A%2F%2F%2Fhome%2Fanna%2Fa.usd", "?uri=file%3A%2F%2F~%2Fa.usd"),
        (POSIX, "?uri=%252Fhome%252Fanna%252Fa.usd", "?uri=~%252Fa.usd"),
        (POSIX, "%2Fmnt%2Fwork%2Fjdoe%2Fa.usd", "%2Fmnt%2Fwork%2F<user>%2Fa.usd"),
        (POSIX, "?p=C%3A%5CUsers%5Canna%5Cx.max", "?p=~%5Cx.max"),
        (POSIX, "?p=file%3A%2F%2F%2FC%3A%2FUsers%2Fanna%2Fx", "?p=file%3A%2F%2F%2F~%2Fx"),
        (WINDOWS, "file:///C:/Users/Jane%20Doe/x.max", "file:///~/x.max"),
        (
            Redactor(home="/srv/art/jd", user=""),
            "?p=file%3A%2F%2F%2Fsrv%2Fart%2Fjd%2Fx",
            "?p=file%3A%2F%2F~%2Fx",
        ),
    ]:
        assert redactor.text(text) == expected
        assert json.loads(redactor.json({"path": text})) == {"path": expected}


def test_names_of_secrets() -> None:
    for key, secret in [
        ("password", True),
        ("apiKey", True),
        ("API_KEY", True),
        ("x-api-key", True),
        ("dbPassword", True),
        ("access_token", True),
        ("Authorization", True),
        ("ssh_private_key", True),
        ("passwords", True),
        ("cookies", True),
        ("auth", True),
        ("key", False),
        ("keyframe", False),
        ("max_tokens", False),
        ("author", False),
        ("passes", False),
        ("tokenize", False),
    ]:
        assert names_a_secret(key) is secret
        kept = json.loads(POSIX.json({"a": [{key: "plain"}]}))
        assert (kept["a"][0][key] == "plain") is not secret


def test_a_hidden_text_goes_wherever_it_stands() -> None:
    """A token looks like any other text. Only the program that made the text knows that it is a
    token."""
    token = "kT3-x_9aPq" * 4
    redactor = Redactor(home="/home/jdoe", user="jdoe")
    redactor.hide(token)
    for value in ({"name": token}, {token: 1}, {"text": f"<{token}>"}, [f"a{token}b"]):
        assert token not in redactor.json(value)
        if isinstance(value, dict):
            assert token not in (redactor.plain(value) or "")


def test_a_field_over_the_limit_becomes_a_marker_and_one_at_the_limit_stays() -> None:
    room = MAX_FIELD_BYTES - len('{"a":""}')
    assert json.loads(POSIX.json({"a": "x" * room})) == {"a": "x" * room}
    assert json.loads(POSIX.json({"a": "x" * (room + 1)})) == {
        "[truncated]": True,
        "bytes": MAX_FIELD_BYTES + 1,
    }
    # Bytes are counted in UTF-8, not in the escapes that JSON may use.
    assert json.loads(POSIX.json({"a": "é" * (room // 2)})) == {"a": "é" * (room // 2)}


def test_a_long_message_is_cut_without_leaving_half_a_secret() -> None:
    secret = "sk-ant-" + "a" * 40
    message = "x " * ((MAX_FIELD_BYTES - 60) // 2) + secret + " y" * 5000
    kept = POSIX.line(message)
    assert kept is not None
    assert len(kept.encode()) <= MAX_FIELD_BYTES
    assert "sk-ant" not in kept
    assert "truncated" in kept


@pytest.mark.parametrize("value", [{"a": {1, 2}}, {"a": float("nan")}, object()])
def test_what_is_no_json_becomes_a_marker(value: Any) -> None:
    assert json.loads(POSIX.json(value)) == {"[unserializable]": True}


def test_a_circle_and_a_deep_value_do_no_harm() -> None:
    circle: list[Any] = []
    circle.append(circle)
    assert json.loads(POSIX.json(circle)) == {"[unserializable]": True}
    deep: Any = "/home/jdoe"
    for _ in range(200):
        deep = [deep]
    assert "jdoe" not in POSIX.json(deep)


HOSTILE = ["a_", "a.", "a@", "eyJ-", "token ", "token\\'", "key=", "-", "--", " ", "/", "sk-a "]
HOSTILE += ["C:\\Users\\a", "://a:", "-----BEGIN ", "bearer ", "/home/"]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.timeout(20)
def test_hostile_text_does_not_stop_the_host(piece: str) -> None:
    count = (MAX_FIELD_BYTES - 20) // len(piece)
    kept = POSIX.text("token@" + piece * count)
    assert len(kept) <= 2 * MAX_FIELD_BYTES
    POSIX.text("password" + piece * count + "\n")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values, st.text(max_size=40), st.text(max_size=40))
def test_any_call_makes_one_ascii_line_that_is_read_back(
    value: Any, tool: str, message: str
) -> None:
    line = to_line(a_call(arguments=value, tool=tool, error_message=message), POSIX)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert line.isascii()
    row = to_row(line)
    assert row is not None
    record = to_record(row)
    assert json.loads(json.dumps(record.arguments)) == json.loads(POSIX.json(value))


@given(json_values)
def test_a_home_never_survives_wherever_it_stands(value: Any) -> None:
    line = to_line(a_call(arguments={"v": value, "path": "/home/jdoe/x", "/home/jdoe": 1}), POSIX)
    assert b"jdoe" not in line
