"""docs/deployment.md names only things that exist, and its files can be used as they are."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from callboard.records.sinks import sink_of
from callboard.settings import OTHER_VARIABLES, SETTINGS, config_from, under_policy
from machine_policies import machine
from skills.skill_tree import write_files

PROJECT = Path(__file__).resolve().parent.parent.parent
PAGE = (PROJECT / "docs" / "deployment.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
_VARIABLE = re.compile(r"(?:CALLBOARD|DCC_MCP)_[A-Z][A-Z_]*[A-Z]")
#: The beginning of Blender's class names.
_CLASSES = ("CALLBOARD_OT_", "CALLBOARD_PT_", "CALLBOARD_OT", "CALLBOARD_PT")


def test_every_variable_is_on_the_page() -> None:
    named = {setting.variable for setting in SETTINGS if not setting.policy_only}
    for root in ("core", "hosts", "ui", "packaging"):
        for pattern in ("*.py", "*.json", "*.ms"):
            for path in (PROJECT / root).rglob(pattern):
                named.update(_VARIABLE.findall(path.read_text(encoding="utf-8")))
    named = {name for name in named if not name.startswith(_CLASSES)}
    assert {"CALLBOARD_SITE", "CALLBOARD_TOKEN"} <= named
    assert sorted(named) == sorted(set(_VARIABLE.findall(PAGE)))


def test_doctor_knows_every_variable() -> None:
    known = {*OTHER_VARIABLES, *(one.variable for one in SETTINGS if not one.policy_only)}
    named = {name for name in _VARIABLE.findall(PAGE) if name.startswith("CALLBOARD_")}
    assert known == named


def test_every_setting_is_in_the_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \|.*\| `(\w+)` \|$", PAGE, re.MULTILINE)
    assert rows == [(one.name, one.variable) for one in SETTINGS if not one.policy_only]
    rows = re.findall(
        r"^\| `(\w+)` \|[^|]*\| *(?:at once|after a restart) *\|$", PAGE, re.MULTILINE
    )
    assert {one.name for one in SETTINGS if one.policy_only} < set(rows)


def test_the_pages_policy_locks_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CALLBOARD_SITE", "CALLBOARD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    site = tmp_path / "studio"
    site.mkdir()
    policy = machine(monkeypatch, tmp_path / "machine")
    policy.write(FILES["policy.yaml"].replace("/studio/callboard", str(site)))
    config = under_policy(config_from({"roots": ["/"], "records": False}, auth="none"))
    assert (config.auth, config.records, config.locks.roots_limit) == ("token", True, ("/shows",))
    assert config.locks.skills_from == (str(site),)
    assert {"script.execute", "network"} <= set(config.forbidden)


def test_the_pages_files_mean_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    write_files(site, {name: text for name, text in FILES.items() if name.endswith(".yaml")})
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CALLBOARD_SITE", str(site))
    monkeypatch.setenv("CALLBOARD_PROJECT", "sh_010")
    config = config_from({"roots_policy": "advisory"})
    folders = [Path(os.path.normpath(path)).relative_to(site) for path in config.skill_paths]
    assert [path.as_posix() for path in folders] == [
        "skills/studio-publish/1.3.2",
        "skills/studio-publish/1.4.0",
        "skills/studio-review/2.1.0",
    ]
    assert list(config.deny) == ["script.execute"]
    assert (config.roots_policy, config.poll_skills) == ("strict", True)


class _Variable(list[str]):
    def prepend(self, value: str) -> None:
        self.insert(0, value)


class _Environment(defaultdict[str, Any]):
    """Rez's ``env``."""

    def __getattr__(self, name: str) -> Any:
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def test_the_packages_for_rez_set_the_variables() -> None:
    environment = _Environment(_Variable)
    for name in ("callboard/package.py", "studio_publish/package.py"):
        package: dict[str, Any] = {"env": environment}
        exec(FILES[name], package)
        assert package["name"] == name.split("/")[0]
        package["commands"]()
    assert environment["CALLBOARD_SITE"] == "/studio/callboard"
    assert environment["CALLBOARD_SKILL_PATHS"] == ["{root}/skills"]


def test_the_environment_for_ayon_is_json() -> None:
    (text,) = re.findall(r"^```json elsewhere\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    environment = json.loads(text)
    assert environment.keys() <= set(_VARIABLE.findall(PAGE))
    assert environment["CALLBOARD_SITE"].keys() == {"windows", "linux", "darwin"}


def test_the_settings_of_the_page_on_records_are_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (PROJECT / "docs" / "records.md").read_text(encoding="utf-8")
    written = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    write_files(tmp_path / "site", {"settings.yaml": "".join(written)})
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CALLBOARD_SITE", str(tmp_path / "site"))
    config = config_from({})
    assert config.records == "required"
    file, syslog, otlp = config.records_to
    assert "{user}" not in sink_of(file).key
    assert sink_of(syslog).key == syslog
    assert otlp.startswith("otlp:http://")
