"""The tests that are picked for a change are related to it."""

from __future__ import annotations

from touched import MOST, PROJECT, TESTS, touched


def picked(name: str) -> dict[str, str]:
    chosen = touched([PROJECT / name])
    return {str(test.relative_to(TESTS).as_posix()): why for test, why in chosen.items()}


def test_a_modules_room_comes_first_then_what_imports_it() -> None:
    chosen = picked("core/callboard/calls/grants.py")
    assert chosen["calls/test_dispatcher.py"] == "room"
    assert chosen["calls/test_grants.py"] == "room"  # This test has the module's name.
    assert chosen["gateway/test_told.py"] == "by import"
    assert chosen["test_house.py"] == "always"
    assert "hosts/test_maya_geometry.py" not in chosen


def test_a_fixture_leads_to_what_it_serves() -> None:
    assert picked("tests/conftest.py")["cli/test_call_interrupted.py"] == "by import"


def test_of_a_host_those_with_its_name() -> None:
    chosen = picked("hosts/callboard_maya/__init__.py")
    assert {test for test, why in chosen.items() if why == "room"} >= {"hosts/test_maya_double.py"}
    assert not [test for test in chosen if "houdini" in test]


def test_a_module_of_which_much_is_made_touches_no_more_than_a_change_can_wait_for() -> None:
    assert len(picked("core/callboard/errors.py")) <= MOST + 10


def test_of_what_nobody_imports_its_room() -> None:
    assert picked("core/callboard/service/viewport.html")["service/test_apps.py"] == "room"


def test_of_a_shipped_skill_the_compliance_suite() -> None:
    chosen = picked("core/callboard/skills/bundled/materials/scripts/change.py")
    assert chosen["hosts/test_compliance.py"] == "skill"


def test_of_what_is_called_by_its_name_those_that_call_it() -> None:
    pick = picked("core/callboard/skills/bundled/viewport/scripts/pick.py")
    assert pick["hosts/test_maya_looks.py"] == "by import"
    assert pick["service/test_apps.py"] == "by import"
    command = picked("core/callboard_programs/cli/gateway_command.py")
    assert command["gateway/test_names.py"] == "by import"
    assert command["cli/test_commands.py"] == "room"


def test_a_changed_test_is_picked_though_it_is_slow() -> None:
    assert picked("tests/packaging/test_touched.py")["packaging/test_touched.py"] == "changed"
