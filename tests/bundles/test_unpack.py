"""Archives that would write outside their folder, or fill the disk, are refused."""

from __future__ import annotations

import io
import os
import stat
import struct
import warnings
import zipfile
from pathlib import Path

import bundle_files
import pytest

from callboard.bundles.installed.unpack import UnpackError, unpack
from callboard.errors import HostError
from callboard_programs.install.archive import contents
from hostile.archives import package_of


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "outer" / "target"
    folder.mkdir(parents=True)
    return folder


def pack(
    path: Path, *entries: tuple[str, bytes], mode: int = 0o644, kind: int = stat.S_IFREG
) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries:
            info = zipfile.ZipInfo("placeholder")
            info.filename = name  # set here, because the constructor would correct it
            info.create_system = 3
            info.external_attr = (kind | mode) << 16
            archive.writestr(info, data)
    return path


def everything_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.mark.parametrize("kind", ["folder", "archive"])
def test_a_good_bundle_arrives_whole(tmp_path: Path, target: Path, kind: str) -> None:
    make = getattr(bundle_files, kind)
    unpack(make(tmp_path / "source"), target)
    for name, text in bundle_files.files().items():
        assert (target / name).read_text() == text


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "a/../../evil",
        "a/..",
        "..",
        "/etc/evil",
        "//server/share",
        "C:/evil",
        "C:evil",
        "a\\..\\..\\evil",
        "\\evil",
        "a/./b",
        "a//b",
        "./a",
        "nul",
        "NUL.txt",
        "a/con",
        "com1.py",
        "COM¹",
        "trailing.",
        "trailing ",
        "a. /b",
        "new\nline",
        "ques?tion",
        "a:stream",
        "x" * 201,
        "../folder/",
    ],
)
def test_a_name_that_leads_out_or_not_everywhere_is_refused(
    tmp_path: Path, target: Path, name: str
) -> None:
    with pytest.raises(UnpackError):
        unpack(pack(tmp_path / "a.zip", ("good", b"1"), (name, b"2")), target)
    assert everything_in(tmp_path / "outer") == ["target"]


GOOD, EVIL = ("a.txt", b"good"), ("b.txt", b"evil")


@pytest.mark.parametrize(
    "listed",
    [[("a.txt", 0)], [("a.txt", 0), ("b.txt", 0)], [("a.txt", 1), ("b.txt", 0)]],
    ids=["one isn't listed", "one is listed twice", "names are exchanged"],
)
def test_an_archive_of_two_readings_is_refused(
    tmp_path: Path, target: Path, listed: list[tuple[str, int]]
) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(package_of([GOOD, EVIL], [("a.txt", 0), ("b.txt", 1)]))
    unpack(path, target)
    assert everything_in(target) == ["a.txt", "b.txt"]
    path.write_bytes(package_of([GOOD, EVIL], listed))
    with pytest.raises(UnpackError, match="entr"):
        unpack(path, target / "other")
    with pytest.raises(HostError, match="entr"):
        contents(path)


def test_an_archive_that_was_written_as_a_stream_is_fine(tmp_path: Path, target: Path) -> None:
    """The sizes of the entries come after their content."""

    class Stream(io.BytesIO):
        def seekable(self) -> bool:
            return False

    stream = Stream()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (GOOD, EVIL):
            archive.writestr(name, data)
    (tmp_path / "a.zip").write_bytes(stream.getvalue())
    unpack(tmp_path / "a.zip", target)
    assert everything_in(target) == ["a.txt", "b.txt"]


def test_a_name_cut_by_a_null_is_refused(tmp_path: Path, target: Path) -> None:
    path = pack(tmp_path / "a.zip", ("good.txtXevil", b"1"))
    path.write_bytes(path.read_bytes().replace(b"good.txtX", b"good.txt\x00"))
    with pytest.raises(UnpackError):
        unpack(path, target)
    assert everything_in(target) == []


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_links_and_devices_in_an_archive_are_refused(
    tmp_path: Path, target: Path, kind: int
) -> None:
    with pytest.raises(UnpackError, match="link"):
        unpack(pack(tmp_path / "a.zip", ("link", b"/etc/passwd"), kind=kind), target)
    assert everything_in(target) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes")
@pytest.mark.parametrize("kind", ["file link", "folder link", "pipe"])
def test_links_and_pipes_in_a_folder_are_refused(tmp_path: Path, target: Path, kind: str) -> None:
    source = bundle_files.folder(tmp_path / "source")
    if kind == "pipe":
        os.mkfifo(source / "odd")
    else:
        (source / "odd").symlink_to("/etc/passwd" if kind == "file link" else "/etc")
    with pytest.raises(UnpackError, match="odd"):
        unpack(source, target)
    assert everything_in(target) == []


@pytest.mark.parametrize(
    "names",
    [
        ("a", "a"),
        ("a", "A"),
        ("a", "a/b"),
        ("a/b", "a"),
        ("A/b", "a"),
        ("é", "e\u0301"),
        ("ß", "SS"),
    ],
)
def test_names_that_meet_on_some_system_are_refused(
    tmp_path: Path, target: Path, names: tuple[str, ...]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns about the duplicate name
        path = pack(tmp_path / "a.zip", *((name, b"1") for name in names))
    with pytest.raises(UnpackError, match="twice"):
        unpack(path, target)
    assert everything_in(target) == []


def test_too_many_files_are_refused(tmp_path: Path, target: Path) -> None:
    unpack(pack(tmp_path / "a.zip", *((str(n), b"") for n in range(3))), target, max_files=3)
    with pytest.raises(UnpackError, match="more than 3 files"):
        unpack(pack(tmp_path / "b.zip", *((str(n), b"") for n in range(4))), target, max_files=3)


def test_a_bomb_is_stopped_by_what_it_unpacks_to_not_by_what_it_says(
    tmp_path: Path, target: Path
) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", b"\0" * (64 * 2**20))
    with pytest.raises(UnpackError, match="larger than 3 MiB"):
        unpack(bomb, target, max_total=3 * 2**20)
    assert (target / "a").stat().st_size <= 4 * 2**20
    # An archive that understates its size is refused too.
    lying = tmp_path / "lying.zip"
    lying.write_bytes(
        bomb.read_bytes().replace(struct.pack("<L", 64 * 2**20), struct.pack("<L", 9))
    )
    with pytest.raises(UnpackError):
        unpack(lying, target.parent, max_total=3 * 2**20)


def test_what_is_no_archive_is_refused(tmp_path: Path, target: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(UnpackError, match="damaged"):
        unpack(tmp_path / "a.zip", target)
    good = bundle_files.archive(tmp_path / "b.zip").read_bytes()
    (tmp_path / "b.zip").write_bytes(good[:60] + bytes(len(good[60:200])) + good[200:])
    with pytest.raises(UnpackError):
        unpack(tmp_path / "b.zip", target)
    with pytest.raises(UnpackError, match="no folder or archive called 'none'"):
        unpack(tmp_path / "none", target)


def test_damage_in_any_compression_is_refused(tmp_path: Path, target: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a", bytes(range(256)) * 8)
    data = bytearray(path.read_bytes())
    data[45:75] = b"\xff" * 30
    path.write_bytes(data)
    with pytest.raises(UnpackError, match="damaged"):
        unpack(path, target)


def test_a_name_that_is_not_the_utf8_it_claims_is_refused(tmp_path: Path, target: Path) -> None:
    path = pack(tmp_path / "a.zip", ("é.txt", b"1"))
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xfe"))
    with pytest.raises(UnpackError, match="damaged"):
        unpack(path, target)
    assert everything_in(target) == []


def test_an_encrypted_archive_says_so(tmp_path: Path, target: Path) -> None:
    path = pack(tmp_path / "a.zip", ("a", b"1"))
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(UnpackError, match="password"):
        unpack(path, target)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no executable bits")
def test_programs_stay_programs_and_nothing_else_is_kept_of_the_mode(
    tmp_path: Path, target: Path
) -> None:
    unpack(pack(tmp_path / "a.zip", ("run", b"1"), mode=0o4777), target)
    unpack(pack(tmp_path / "b.zip", ("data", b"1"), mode=0o666), target)
    assert (target / "run").stat().st_mode & 0o7777 == 0o755
    assert not (target / "data").stat().st_mode & 0o111


def test_what_version_control_and_python_leave_lying_stays_behind(
    tmp_path: Path, target: Path
) -> None:
    source = bundle_files.folder(tmp_path / "source")
    for name in (".git", "scripts/__pycache__"):
        (source / name).mkdir()
        (source / name / "x").write_text("")
    unpack(source, target)
    assert everything_in(target) == sorted(
        {*bundle_files.files(), "scripts", "scripts/deep", "scripts/deep/er"}
    )
