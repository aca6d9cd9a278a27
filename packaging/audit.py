"""Checks the packages pinned in constraints.txt for known vulnerabilities, with pip-audit.

    python packaging/audit.py

Exits with 0 if no vulnerability is known, with 1 if one is known, and with 2 and the reason if no
service could be asked. A failing service usually reports no vulnerabilities, so each service is
first asked about a package known to be vulnerable.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from build_requirements import PROJECT

#: The tool's package. The tool gets a separate environment, because it needs packages that nothing
#: else in this project needs.
TOOL = "pip-audit==2.10.1"
HOME = PROJECT / "build" / "audit"
#: A package with a vulnerability that has been known since 2021. A service that doesn't report that
#: vulnerability can't be relied on.
CANARY = "pyyaml==5.3"
SERVICES = ("pypi", "osv")
_SECONDS = 300

Finding = dict[str, Any]


class CantTell(Exception):
    """No service could be asked. The message gives the reason."""


def main() -> int:
    try:
        tool = installed()
        service = answering(tool)
        flawed = [each for group in groups(pins()) for each in asked(tool, service, group)]
    except CantTell as why:
        print(f"audit.py: not audited: {why}", file=sys.stderr)
        return 2
    for each in flawed:
        ids = ", ".join(hole["id"] for hole in each["vulns"])
        print(f"{each['name']} {each['version']}: {ids}")
    print(f"{len(flawed)} of {len(pins())} pinned packages have known vulnerabilities ({service})")
    return 1 if flawed else 0


def pins() -> list[str]:
    """Return every ``name==version`` in constraints.txt, for all machines."""
    lines = (PROJECT / "constraints.txt").read_text("utf-8").splitlines()
    wanted = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return sorted({f"{each.name}{each.specifier}" for each in wanted})


def groups(pinned: Sequence[str]) -> Iterator[list[str]]:
    """Yield the pins in groups that contain each package at most once, because some packages have
    two versions."""
    left = list(pinned)
    while left:
        group = {pin.partition("==")[0]: pin for pin in reversed(left)}
        yield sorted(group.values())
        left = [pin for pin in left if pin not in group.values()]


def installed() -> Path:
    """Install the tool if it isn't installed yet, and return its program. Raises CantTell."""
    folder = HOME / ("Scripts" if sys.platform == "win32" else "bin")
    tool = folder / "pip-audit"
    if not (HOME / "made").is_file():
        venv.create(HOME, with_pip=True, clear=True)
        install = [str(folder / "python"), "-m", "pip", "install", "--quiet", TOOL]
        done = subprocess.run(install, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CantTell(f"{TOOL} could not be installed: {_last(done.stderr)}")
        (HOME / "made").write_text(TOOL, encoding="utf-8")
    return tool


def answering(tool: Path) -> str:
    """Return the first service that reports the canary's vulnerability. Raises CantTell."""
    reasons = []
    for service in SERVICES:
        try:
            if asked(tool, service, [CANARY]):
                return service
            reasons.append(f"{service} doesn't report the vulnerability of {CANARY}")
        except CantTell as why:
            reasons.append(f"{service}: {why}")
    raise CantTell("; ".join(reasons))


def asked(tool: Path, service: str, pinned: Sequence[str]) -> list[Finding]:
    """Return the findings about pins with known vulnerabilities. Raises CantTell if any pin can't
    be checked."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "pins.txt")
        listed.write_text("\n".join(pinned) + "\n", encoding="utf-8")
        command = [str(tool), "--no-deps", "--disable-pip", "--progress-spinner=off"]
        command += ["--format=json", f"--vulnerability-service={service}", "-r", str(listed)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=_SECONDS
            )
            answers: list[Finding] = json.loads(done.stdout)["dependencies"]
        except subprocess.TimeoutExpired:
            raise CantTell(f"no answer within {_SECONDS} s") from None
        except (ValueError, KeyError):
            raise CantTell(_last(done.stderr)) from None
    for each in answers:
        if "skip_reason" in each:
            raise CantTell(each["skip_reason"])
    if len(answers) != len(pinned):
        raise CantTell(f"{service} answered about {len(answers)} of {len(pinned)} packages")
    return [each for each in answers if each["vulns"]]


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it printed nothing"


if __name__ == "__main__":
    sys.exit(main())
