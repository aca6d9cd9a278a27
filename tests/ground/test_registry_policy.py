"""On Windows the policy is a value in the registry. These tests run that code on other systems,
with a stand-in for the registry. It hasn't been run on Windows itself."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from callboard.config import McpHttpConfig
from callboard.ground import machine_policy
from callboard.ground.machine_policy import PolicyError, place, written_policy
from callboard.settings import under_policy
from ground.winreg_double import REG_BINARY, REG_DWORD, REG_EXPAND_SZ, REG_MULTI_SZ, Registry

KEY = r"SOFTWARE\Policies\callboard"


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    made = Registry()
    monkeypatch.setitem(sys.modules, "winreg", made.module())
    monkeypatch.setattr(machine_policy, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.setattr(machine_policy, "_text", machine_policy._from_registry)
    return made


def test_without_the_key_or_the_value_there_is_no_policy(registry: Registry) -> None:
    assert written_policy() is None
    registry.set(KEY, "other", "deny: [render]")
    assert written_policy() is None


def test_one_text_and_several_lines_are_read(registry: Registry) -> None:
    registry.set(KEY, "policy", "deny: [render]\r\nenabled: true\r\n")
    written = written_policy()
    assert written is not None
    assert (written.values["deny"], written.lines["enabled"]) == (["render"], 2)
    assert written.place == place() == rf"HKEY_LOCAL_MACHINE\{KEY}\policy"
    registry.set(KEY, "policy", ["deny: [usd]", "records: required"], REG_MULTI_SZ)
    written = written_policy()
    assert written is not None
    assert (written.values["deny"], written.lines["records"]) == (["usd"], 2)
    assert all(key.closed for key in registry.left_open)


def test_it_locks_as_a_file_does(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CALLBOARD_SITE", "CALLBOARD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    registry.set(KEY, "policy", "auth: token\nrecords: required\n")
    config = under_policy(McpHttpConfig(auth="none", records=False))
    assert (config.auth, config.records) == ("token", "required")
    registry.set(KEY, "policy", "auth: none")
    with pytest.raises(PolicyError, match="can't be locked at none"):
        under_policy(McpHttpConfig())


@pytest.mark.parametrize(
    ("value", "kind"), [(b"enabled: true", REG_BINARY), (1, REG_DWORD)], ids=["bytes", "number"]
)
def test_another_kind_of_value_starts_nothing(registry: Registry, value: object, kind: int) -> None:
    registry.set(KEY, "policy", value, kind)
    with pytest.raises(PolicyError, match="must be a string"):
        written_policy()


def test_variables_in_it_stay_as_they_are(registry: Registry) -> None:
    registry.set(KEY, "policy", "log_level: '%LEVEL%'", REG_EXPAND_SZ)
    written = written_policy()
    assert written is not None
    assert written.values["log_level"] == "%LEVEL%"


def test_a_key_that_cannot_be_read_starts_nothing(registry: Registry) -> None:
    registry.denied = PermissionError(13, "Access is denied")
    with pytest.raises(PolicyError, match="can't be read: Access is denied"):
        written_policy()
