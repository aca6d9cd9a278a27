"""The machine's policy is read only from a location to which only an administrator may write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from callboard.ground import machine_policy
from callboard.ground.folders import site_folder
from callboard.ground.machine_policy import PolicyError, place, written_policy
from machine_policies import MachinePolicy, machine

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there, the registry holds the policy")


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MachinePolicy:
    return machine(monkeypatch, tmp_path / "machine")


def refused(policy: MachinePolicy) -> str:
    with pytest.raises(PolicyError) as error:
        written_policy()
    assert str(policy.base) in error.value.message
    return error.value.message


def test_most_machines_have_none(policy: MachinePolicy) -> None:
    assert written_policy() is None
    policy.file.parent.rmdir()
    assert written_policy() is None


def test_the_place_is_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_CONFIG_DIRS", "CALLBOARD_HOME", "CALLBOARD_SITE", "PROGRAMDATA"):
        monkeypatch.setenv(name, "/elsewhere")
    assert place() in (
        "/etc/callboard/policy.yaml",
        f"/{'/'.join(machine_policy._MAC)}/policy.yaml",
    )


def test_what_the_administrator_wrote_is_read(policy: MachinePolicy) -> None:
    policy.write("# The studio's.\ndeny: [render]\nenabled: true\n")
    written = written_policy()
    assert written is not None
    assert written.values == {"deny": ["render"], "enabled": True}
    assert (written.place, written.lines["enabled"]) == (str(policy.file), 3)


@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666])
def test_a_file_that_others_may_write_is_refused(policy: MachinePolicy, mode: int) -> None:
    policy.write("deny: [render]\n")
    policy.file.chmod(mode)
    assert f"may write to {policy.file}" in refused(policy)


@pytest.mark.parametrize("mode", [0o775, 0o777, 0o1777])
def test_so_is_a_folder_even_an_empty_one(policy: MachinePolicy, mode: int) -> None:
    policy.file.parent.chmod(mode)
    assert f"may write to {policy.file.parent}" in refused(policy)
    policy.file.parent.chmod(0o755)
    policy.file.parent.parent.chmod(mode)
    assert f"may write to {policy.file.parent.parent}" in refused(policy)


def test_and_what_another_user_owns(policy: MachinePolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    policy.write("deny: [render]\n")
    monkeypatch.setattr(machine_policy, "_ADMINISTRATOR", os.getuid() + 1)
    assert "not to the administrator" in refused(policy)


def test_links_are_refused(policy: MachinePolicy, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("enabled: true\n")
    policy.file.symlink_to(own)
    assert f"{policy.file} can't be opened" in refused(policy)
    policy.file.unlink()
    folder = policy.file.parent
    folder.rename(folder.with_name("other"))
    folder.symlink_to(folder.with_name("other"))
    assert f"{folder} can't be opened" in refused(policy)


def test_no_other_kind_of_file_blocks(policy: MachinePolicy) -> None:
    os.mkfifo(policy.file, 0o644)
    assert "isn't a file" in refused(policy)
    policy.file.unlink()
    policy.file.mkdir()
    refused(policy)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "must contain settings"),
        ("# deny: [render]\n", "must contain settings"),
        ("- deny\n", "must contain settings"),
        ("deny: [render", "policy.yaml:"),
        ("enabled: false\nenabled: true\n", ":2: 'enabled' is written twice"),
        ("#" * 2**20 + "\nenabled: true\n", "is over 1048576 bytes"),
    ],
)
def test_a_half_written_file_starts_nothing(policy: MachinePolicy, text: str, says: str) -> None:
    policy.write(text)
    assert says in refused(policy)


def test_a_file_that_is_no_text_starts_nothing(policy: MachinePolicy) -> None:
    policy.write("enabled: true\n")
    policy.file.write_bytes(b"\xff\xfe\x00")
    assert "isn't UTF-8" in refused(policy)


def test_the_policy_names_the_site(
    policy: MachinePolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_SITE", str(tmp_path / "mine"))
    assert site_folder() == tmp_path / "mine"
    policy.write(f"site: {tmp_path / 'studio'}\n")
    assert site_folder() == tmp_path / "studio"
    monkeypatch.delenv("CALLBOARD_SITE")
    assert site_folder() == tmp_path / "studio"
    policy.write("site: ~/studio\n")
    with pytest.raises(PolicyError):
        site_folder()
