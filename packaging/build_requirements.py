"""The third-party packages in bundles. pip fetches them by name, at the versions in
constraints.txt. It fetches only wheels, so none of the packages' code runs."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

try:
    from packaging.requirements import Requirement
    from packaging.tags import Tag
    from packaging.utils import canonicalize_name, parse_wheel_filename
except ModuleNotFoundError:
    sys.exit("this Python lacks packages that a build needs; use `bootstrap.py build` or `release`")

PROJECT = Path(__file__).resolve().parent.parent
CACHE = PROJECT / "build" / "wheels"


class BuildError(Exception):
    """The artifact can't be built as intended. The message gives the reason."""


@dataclass(frozen=True)
class Target:
    """A version of Python on one kind of machine. ``platforms`` are wheel tags, any of which will
    do."""

    python: str
    platforms: tuple[str, ...]
    system: str
    machine: str


_LINUX = tuple(
    f"manylinux{which}_x86_64" for which in ("_2_34", "_2_28", "_2_17", "2014", "_2_5", "1")
)
_MAC = tuple(f"macosx_{which}" for which in ("13_0", "11_0", "10_13", "10_9"))


def targets(python: str) -> list[Target]:
    """Return the machines for which a bundle with compiled parts is made."""
    return [
        Target(python, _LINUX, "linux", "x86_64"),
        Target(python, ("win_amd64",), "win32", "AMD64"),
        *(
            Target(
                python,
                tuple(f"{mac}_{kind}" for mac in _MAC for kind in (machine, "universal2")),
                "darwin",
                machine,
            )
            for machine in ("arm64", "x86_64")
        ),
    ]


def pinned(name: str, target: Target) -> str:
    """Return the version of ``name`` in constraints.txt for ``target``."""
    environment = {
        "python_version": target.python,
        "python_full_version": f"{target.python}.0",
        "sys_platform": target.system,
        "platform_machine": target.machine,
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    for line in (PROJECT / "constraints.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        requirement = Requirement(line)
        if canonicalize_name(requirement.name) == canonicalize_name(name) and (
            requirement.marker is None or requirement.marker.evaluate(environment)
        ):
            return str(requirement.specifier).removeprefix("==")
    raise BuildError(f"constraints.txt doesn't pin {name} for Python {target.python}")


def wheels(names: Sequence[str], target: Target, cache: Path = CACHE) -> list[Path]:
    """Return one wheel for each of the packages, fetched if the cache doesn't have it. Raises
    BuildError."""
    cache.mkdir(parents=True, exist_ok=True)
    wheels_here: list[Path] = []
    missing: list[str] = []
    for name in names:
        version = pinned(name, target)
        here = _cached(name, version, target, cache)
        if here is None:
            missing.append(f"{name}=={version}")
        else:
            wheels_here.append(here)
    if not missing:
        return wheels_here
    command = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--no-input"]
    command += ["--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
    command += ["--implementation", "cp", "--python-version", target.python, "--dest", str(cache)]
    for platform in target.platforms:
        command += ["--platform", platform]
    if subprocess.run([*command, *missing], stdin=subprocess.DEVNULL, stdout=2).returncode:
        raise BuildError(f"pip could not fetch {', '.join(missing)}: its output is above")
    wheels_here = [_cached(name, pinned(name, target), target, cache) or cache for name in names]
    if cache in wheels_here:
        raise BuildError(f"pip fetched wheels that don't fit {target}")
    return wheels_here


def _cached(name: str, version: str, target: Target, cache: Path) -> Path | None:
    for path in sorted(cache.glob("*.whl")):
        distribution, release, _, tags = parse_wheel_filename(path.name)
        if (
            distribution == canonicalize_name(name)
            and str(release) == version
            and _fits(tags, target)
        ):
            return path
    return None


def _fits(tags: frozenset[Tag], target: Target) -> bool:
    wanted = tuple(map(int, target.python.split(".")))
    for tag in tags:
        number = re.fullmatch(r"(?:cp|py)(\d)(\d*)", tag.interpreter)
        if number is None or tag.platform not in ("any", *target.platforms):
            continue
        version = (int(number[1]), int(number[2] or 0))
        stable = tag.abi in ("abi3", "none")
        if version == wanted or (stable and version[0] == wanted[0] and version <= wanted):
            return True
    return False


@dataclass(frozen=True)
class Bundled:
    """The facts about one bundled distribution, for a notice. ``digest`` is the SHA-256 of its
    wheel."""

    name: str
    version: str
    license: str
    texts: dict[str, bytes]
    file: str
    digest: str


def described(wheel: Path) -> Bundled:
    """Return a wheel's name, version and license, with the license's own text. Raises BuildError if
    it names no license."""
    with zipfile.ZipFile(wheel) as archive:
        about = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(archive.read(about).decode("utf-8"))
        license = metadata["License-Expression"] or metadata["License"] or _classified(metadata)
        texts = {
            name.rpartition("/")[2]: archive.read(name)
            for name in archive.namelist()
            if ".dist-info/" in name and re.search(r"(?i)/[^/]*(licen[cs]e|copying|notice)", name)
        }
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    first = license.splitlines()[0]
    return Bundled(metadata["Name"], metadata["Version"], first, texts, wheel.name, digest)


def _classified(metadata: object) -> str:
    assert hasattr(metadata, "get_all")
    licences = [
        c.rpartition(" :: ")[2] for c in metadata.get_all("Classifier", []) if "License" in c
    ]
    if not licences:
        raise BuildError("a wheel declares no license")
    return ", ".join(licences)


def notices(bundled: Sequence[Bundled]) -> Iterator[tuple[str, bytes]]:
    """Yield the files that list the bundled packages and their licenses. A license's text stands
    once, even if several packages have it word for word."""
    unique = {(one.name, one.version): one for one in bundled}
    lines = ["callboard includes these packages. Files that it changed say so at their end.", ""]
    stands: dict[bytes, str] = {}
    for one in sorted(unique.values(), key=lambda one: (one.name.lower(), one.version)):
        places = []
        for name, text in one.texts.items():
            place = f"{one.name}-{one.version}/{name}"
            if stands.setdefault(text, place) == place:
                yield f"licenses/{place}", text
            places.append(stands[text])
        lines.append(f"{one.name} {one.version}: {one.license} ({', '.join(places)})")
    yield "licenses/THIRD_PARTY.txt", ("\n".join(lines) + "\n").encode()
    yield "licenses/LICENSE", (PROJECT / "LICENSE").read_bytes()
