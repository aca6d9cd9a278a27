"""A studio's settings in variables and files. A site's file overrides all others."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from pathlib import Path

import pytest

from callboard.headless.serve import warn_of_folders
from callboard.settings import SETTINGS, SettingsError, config_from
from callboard.skills.file_stamps import tree_stamps
from callboard_programs.cli import main
from serving import served
from skills.skill_tree import write_files, write_skill


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for setting in SETTINGS:
        monkeypatch.delenv(setting.variable, raising=False)
    for name in ("CALLBOARD_SETTINGS", "CALLBOARD_PROJECT", "DCC_MCP_SKILL_PATHS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CALLBOARD_SITE", str(tmp_path / "site"))
    (tmp_path / "site").mkdir()
    return tmp_path / "site"


def test_who_stands_nearer_counts(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert config_from({}).port == 0
    write_files(site, {"settings.yaml": "port: 1\ncall_timeout: 60\nrecords: false\n"})
    assert config_from({}).port == 1
    write_files(tmp_path / "home", {"settings.yaml": "port: 2\n"})
    assert config_from({}).port == 2
    monkeypatch.setenv("CALLBOARD_PROJECT", "sh_010")
    assert config_from({}).port == 2  # Not every project has a file.
    write_files(site, {"projects/sh_010.yaml": "port: 3\n"})
    assert config_from({}).port == 3
    write_files(tmp_path, {"package.yaml": "port: 4\n"})
    monkeypatch.setenv("CALLBOARD_SETTINGS", str(tmp_path / "package.yaml"))
    assert config_from({}).port == 4
    monkeypatch.setenv("CALLBOARD_PORT", "5")
    assert config_from({}).port == 5
    config = config_from({"port": 6}, auth="none")
    assert (config.port, config.call_timeout, config.records) == (6, 60, False)
    assert config.auth == "none"


def test_what_a_site_forbids_nobody_allows(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(site, {"settings.yaml": "deny: [render]\nroots_policy: strict\n"})
    monkeypatch.setenv("CALLBOARD_ROOTS_POLICY", "advisory")
    monkeypatch.setenv("CALLBOARD_DENY", "usd, viewport")
    config = config_from({"deny": ["look"], "roots_policy": "advisory"})
    assert list(config.deny) == ["look", "usd", "viewport", "render"]
    assert config.roots_policy == "strict"
    assert (config.forbidden, config.always_strict) == (("render",), True)


def test_nor_does_the_artist() -> None:
    site = {"forbidden": ["scene.mutate"], "deny": ["usd"], "always_strict": True}
    with served(skills=True, **site) as running, running.client() as client:
        for capability in ("scene.mutate", "usd"):
            running.app.capabilities.restore(capability)
        running.app.roots.set_policy("advisory")
        tools = {one["name"]: one for one in client.request("tools/list")["result"]["tools"]}
        told = tools["scene__create_primitive"]["description"]
        assert "the studio's settings forbid scene.mutate" in told
        assert "usd" in running.app.capabilities.declared
        assert running.app.roots.policy == "strict"


def test_folders_in_a_file_lie_beside_it_and_skills_add_up(site: Path, tmp_path: Path) -> None:
    write_files(site, {"settings.yaml": "skill_paths: [more]\nroots: ../shows\n"})
    config = config_from({"skill_paths": ["/mine"]})
    assert list(config.skill_paths) == ["/mine", str(site / "more")]
    assert [Path(root).resolve() for root in config.roots] == [tmp_path / "shows"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("dney: [render]", "settings.yaml:1: 'dney' is not a setting; did you mean deny?"),
        ("port: 1\ncolour: red", "settings.yaml:2: 'colour' is not a setting; the settings are: "),
        ("port: high", "settings.yaml:1: port must be a port, 0 to 65535"),
        ("deny: 3", "deny must be a list of words"),
        ("records: 1", "records must be true, false or required"),
        ("call_timeout: .inf", "call_timeout must be a number of seconds"),
        ("roots_policy: lax", "roots_policy must be advisory or strict"),
        ("port: 1\nport: 2", "settings.yaml:2: 'port' is written twice"),
        ("- port", "must contain settings"),
        ("deny: [render", "settings.yaml:"),
        ("#" * 2**20 + "\ndeny: [render]", "is over 1048576 bytes; shorten it"),
    ],
)
def test_a_file_that_cannot_be_meant_starts_nothing(site: Path, text: str, says: str) -> None:
    write_files(site, {"settings.yaml": text})
    with pytest.raises(SettingsError) as refused:
        config_from({})
    assert says in refused.value.message


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no mode that keeps the owner out")
def test_a_users_own_file_that_cannot_be_read_starts_nothing(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file might forbid something. A link to itself can't be read by root either."""
    home = tmp_path / "own"
    home.mkdir()
    (home / "settings.yaml").symlink_to("settings.yaml")
    monkeypatch.setenv("CALLBOARD_HOME", str(home))
    with pytest.raises(SettingsError, match="might forbid something; make it readable, or delete"):
        config_from({})


def test_what_is_named_must_be_there(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable, value, says in (
        ("CALLBOARD_PORT", "high", "CALLBOARD_PORT must be a port"),
        ("CALLBOARD_SETTINGS", str(tmp_path / "gone.yaml"), "there is no such file"),
        ("CALLBOARD_SETTINGS", "~nobody-here/gone.yaml", "there is no such file"),
        ("CALLBOARD_SITE", "~nobody-here/unmounted", "which doesn't exist; mount it"),
        ("CALLBOARD_PROJECT", "../../etc/x", "CALLBOARD_PROJECT must be a name"),
        ("CALLBOARD_SITE", str(tmp_path / "unmounted"), "which doesn't exist; mount it"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(variable, value)
            assert main(["serve"]) == 1
        assert says in capsys.readouterr().err


@pytest.mark.parametrize("words", [["list"], ["call", "scene__scene_info"]])
def test_with_a_mistake_in_the_settings_a_search_says_why_nothing_is_running(
    site: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(site, {"settings.yaml": "# Ours\nprot: 1\n"})
    main(words)
    shown = capsys.readouterr()
    assert f"{site / 'settings.yaml'}:2: 'prot' is not a setting" in shown.out + shown.err
    assert "start Maya" not in shown.out + shown.err


def test_doctor_shows_who_decided(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(site, {"settings.yaml": "port: 1\ndeny: [render]\nroots_policy: strict\n"})
    monkeypatch.setenv("CALLBOARD_PORT", "5")
    monkeypatch.setenv("CALLBOARD_DENY", "usd")
    monkeypatch.setenv("CALLBOARD_ROOTS_POLICY", "advisory")
    assert main(["doctor", "--settings"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines.keys() == {setting.name for setting in SETTINGS}
    file = f"site ({site / 'settings.yaml'})"
    assert lines["port"].endswith(f" 5  (environment; not {file}: 1)")
    assert lines["deny"].endswith(f" usd, render  (environment: usd; {file}: render)")
    assert lines["roots_policy"].endswith(f" strict  ({file}; not environment: advisory)")
    assert lines["records"].endswith(" true  (default)")
    assert lines["site"].endswith(f" {site}  (environment)")
    main(["doctor"])
    out = capsys.readouterr().out
    assert f"the site's folder is {site}, which CALLBOARD_SITE names" in out
    assert f"logs are kept in {Path(os.environ['CALLBOARD_HOME'], 'logs')}" in out
    assert f"settings from environment, {file}: callboard doctor --settings shows them" in out
    assert str(site / "skills") not in out  # A site may have no skills.


def test_doctor_reports_a_folder_without_skills(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder that only contains the variants' folders holds no skill itself."""
    settings = "skill_paths: [variants]\n"
    variants = {
        f"variants/{dcc}/stamp/SKILL.md": f"---\nname: stamp\ndescription: Stamps.\nmetadata:\n"
        f"  dcc-mcp:\n    dcc: {dcc}\n---\n"
        for dcc in ("openusd", "blender")
    }
    write_files(site, {"settings.yaml": settings, **variants})
    main(["doctor"])
    told = (
        f"there is no skill in the skill path {site / 'variants'}; in the setting skill_paths name"
    )
    assert told in capsys.readouterr().out
    write_files(site, {"settings.yaml": "skill_paths: [variants/openusd, variants/blender]\n"})
    main(["doctor"])
    out = capsys.readouterr().out
    assert "skill path" not in out
    assert "stamp" not in out  # Each variant is for a different host.


PIN = "---\nname: intake\ndescription: Takes in.\nmetadata: {dcc-mcp: {version: VERSION}}\n---\n"


def test_a_missing_pinned_folder_is_reported_with_its_line(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Doctor reports the missing folder. So does the server, which uses the other version until the
    folder exists."""
    pin = "# The old one.\nskill_paths:\n  - ../pinned/intake/0.9.9\n"
    files = {"projects/otter.yaml": pin, "skills/intake/SKILL.md": PIN.replace("VERSION", "1.0")}
    write_files(site, files)
    monkeypatch.setenv("CALLBOARD_PROJECT", "otter")
    place = f"{site / 'projects' / 'otter.yaml'}:3: skill_paths names "
    for words in (["doctor"], ["doctor", "--settings"]):
        assert main(words) == 1
        assert f"WRONG {place}" in capsys.readouterr().out
        assert main([*words, "--json"]) == 1
        told = json.loads(capsys.readouterr().out)
        wrong = told["wrong"] if "--settings" in words else [one["message"] for one in told]
        assert [line for line in wrong if line.startswith(place)]
    with served(skills=True, announce=True, skill_paths=config_from({}).skill_paths) as server:
        (failure,) = server.app.catalog.failures
        assert (failure.skill, failure.kind) == ("intake/0.9.9", "missing")
        assert "this skill path doesn't exist" in failure.message
        monkeypatch.delenv("CALLBOARD_PROJECT")
        assert main(["doctor"]) == 1  # The variable that names the project isn't set in this shell.
        assert ": intake/0.9.9: this skill path doesn't exist" in capsys.readouterr().out


def test_a_project_without_a_file_is_told_with_those_that_have_one(
    site: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("CALLBOARD_PROJECT", "owll")
    arguments = Namespace(skills=[], roots=[])
    warn_of_folders(arguments)
    assert main(["doctor", "--settings"]) == 0  # The site has no settings for the project yet.
    write_files(site, {"projects/owl.yaml": "port: 3\n", "projects/otter.yaml": ""})
    says = "CALLBOARD_PROJECT is owll, for which the site has no file"
    capsys.readouterr()
    for words in (["doctor"], ["doctor", "--settings"]):
        assert main(words) == 1
        (told,) = (one for one in capsys.readouterr().out.splitlines() if says in one)
        assert told.startswith("WRONG ")
        assert "it has: otter, owl." in told
    with caplog.at_level("WARNING"):
        warn_of_folders(arguments)
    assert [one.getMessage().startswith(says) for one in caplog.records] == [True]
    monkeypatch.setenv("CALLBOARD_PROJECT", "otter")
    assert main(["doctor", "--settings"]) == 0


def test_a_pinned_version_is_nothing_wrong(
    site: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("CALLBOARD_PROJECT", "otter")
    write_files(
        site,
        {
            "settings.yaml": "skill_paths: [pinned/intake/1.4.0]\n",
            "projects/otter.yaml": "skill_paths: [../pinned/intake/1.3.2]\n",
            "pinned/intake/1.3.2/SKILL.md": PIN.replace("VERSION", "1.3.2"),
            "pinned/intake/1.4.0/SKILL.md": PIN.replace("VERSION", "1.4.0"),
        },
    )
    with served(skills=True, announce=True, skill_paths=config_from({}).skill_paths) as server:
        assert server.app.catalog.get("intake").version == "1.3.2"
        main(["doctor"])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "intake" in line and line.startswith("WRONG")] == []
    assert any("'intake/1.4.0' isn't used" in line for line in lines)
    assert not [one for one in caplog.records if "isn't used" in one.getMessage()]


def test_the_sites_skills_are_loaded_and_its_folder_is_only_read(site: Path) -> None:
    files = {
        "tools.yaml": "tools: [{name: first, description: d, affinity: any}]\n",
        "scripts/first.py": "import _common\ndef main():\n    return {'n': _common.N}\n",
        "scripts/_common.py": "N = 1\n",
    }
    skill = write_skill(site / "skills", "studio", files=files)
    before = tree_stamps(site)
    with served(skills=True) as running, running.client() as client:
        assert client.call("studio__first")["structuredContent"] == {"n": 1}
        known = {one.skill.name: one.scope for one in running.app.catalog.known}
        assert known["studio"] == "site"
    assert tree_stamps(site) == before
    assert sorted(os.listdir(skill / "scripts")) == ["_common.py", "first.py"]  # noqa: PTH208
