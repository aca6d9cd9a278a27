"""Makes a real Windows Python on a Debian machine, under Wine, with everything that the tests need.

    python3.11 packaging/windows_python.py try
    python3.11 packaging/windows_python.py make FOLDER
    python3.11 packaging/windows_python.py run FOLDER -- -m pytest -q tests/workspace

It consists of CPython's own `python3xx.dll` and extension modules, which come with the Windows
wheel of panda3d, on top of the standard library of the Python that runs this program. `python.exe`
is one line of C. `make` takes about a minute and needs Debian's `wine`, `wine64` and
`gcc-mingw-w64-x86-64`. It keeps a folder that it made earlier from the same pins. `try` reports
which of these programs are missing.

Tests under Wine can't cover links and junctions, NTFS's refusals while a file is mapped, or Qt's
windows.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import zipfile
from collections.abc import Iterator, Sequence
from importlib.metadata import requires, version
from pathlib import Path
from typing import IO

from packaging.requirements import Requirement

PROJECT = Path(__file__).resolve().parent.parent
SHORT = "{}.{}".format(*sys.version_info)
DIGITS = SHORT.replace(".", "")
#: The wheel whose Windows build carries Python's own files.
CARRIER = "panda3d==1.10.16"
#: Packages that the tests need besides those in the project's pins. Qt isn't among them,
#: because Wine can't show its windows.
WANTED = ("pytest", "pytest-timeout", "pytest-xdist", "hypothesis", "mcp", "mcpeye")
#: Packages that those above need only on Windows. pip runs on Linux here, so it doesn't fetch them
#: as dependencies.
THERE = ("colorama", "pywin32")
LINKER = "x86_64-w64-mingw32-"
#: A file that records its folder's content, and marks the folder as one that this program may
#: remake.
MADE = "callboard-made"
#: The carrier's files that the library doesn't need.
_LEFT_OUT = re.compile(r"cp313t|api-ms|/python3|vcruntime|tcl|tk8|_tkinter|_wmi\.pyd", re.I)
#: C source of `python.exe`. Wine asks a driver for the number of a file's volume, which is most of
#: what an ``os.stat`` costs. So this program replaces the library's call for a file's facts by one
#: that gives every volume the same number.
_STARTER = r"""#include <windows.h>
#include <string.h>
int Py_Main(int, wchar_t **);
LONG NTAPI NtQueryInformationFile(HANDLE, void *, void *, ULONG, int);
static BOOL WINAPI facts(HANDLE file, BY_HANDLE_FILE_INFORMATION *info) {
    FILE_BASIC_INFO basic;
    FILE_STANDARD_INFO standard;
    LARGE_INTEGER index;
    void *status[2];
    if (!GetFileInformationByHandleEx(file, FileBasicInfo, &basic, sizeof basic) ||
        !GetFileInformationByHandleEx(file, FileStandardInfo, &standard, sizeof standard))
        return 0;
    if (NtQueryInformationFile(file, status, &index, sizeof index, 6)) index.QuadPart = 0;
    info->dwFileAttributes = basic.FileAttributes;
    memcpy(&info->ftCreationTime, &basic.CreationTime, 8);
    memcpy(&info->ftLastAccessTime, &basic.LastAccessTime, 8);
    memcpy(&info->ftLastWriteTime, &basic.LastWriteTime, 8);
    info->dwVolumeSerialNumber = 1;
    info->nFileSizeHigh = standard.EndOfFile.HighPart;
    info->nFileSizeLow = standard.EndOfFile.LowPart;
    info->nNumberOfLinks = standard.NumberOfLinks;
    info->nFileIndexHigh = index.HighPart;
    info->nFileIndexLow = index.LowPart;
    return 1;
}
static void replace(BYTE *library) {
    IMAGE_NT_HEADERS *head = (void *)(library + ((IMAGE_DOS_HEADER *)library)->e_lfanew);
    IMAGE_IMPORT_DESCRIPTOR *from =
        (void *)(library + head->OptionalHeader.DataDirectory[1].VirtualAddress);
    for (; from->Name; from++) {
        IMAGE_THUNK_DATA *name = (void *)(library + from->OriginalFirstThunk);
        IMAGE_THUNK_DATA *call = (void *)(library + from->FirstThunk);
        for (; name->u1.AddressOfData; name++, call++) {
            IMAGE_IMPORT_BY_NAME *named = (void *)(library + name->u1.AddressOfData);
            DWORD before;
            if (IMAGE_SNAP_BY_ORDINAL(name->u1.Ordinal) ||
                strcmp((char *)named->Name, "GetFileInformationByHandle")) continue;
            VirtualProtect(call, sizeof *call, PAGE_READWRITE, &before);
            call->u1.Function = (ULONG_PTR)facts;
            VirtualProtect(call, sizeof *call, before, &before);
        }
    }
}
int wmain(int count, wchar_t **words) {
    replace((BYTE *)GetModuleHandleA("LIBRARY"));
    return Py_Main(count, words);
}
""".replace("LIBRARY", f"python{DIGITS}.dll")
#: C source of a program that starts the Python named in pyvenv.cfg as the environment's own.
_LAUNCHER = r"""#include <stdio.h>
#include <wchar.h>
#include <windows.h>
int wmain(void) {
    static wchar_t own[MAX_PATH], config[MAX_PATH], line[MAX_PATH], home[MAX_PATH];
    STARTUPINFOW start = {sizeof start};
    PROCESS_INFORMATION child;
    DWORD code = 1;
    FILE *file;
    GetModuleFileNameW(NULL, own, MAX_PATH);
    wcscpy(config, own);
    *wcsrchr(config, L'\\') = 0;
    *wcsrchr(config, L'\\') = 0;
    file = _wfopen(wcscat(config, L"\\pyvenv.cfg"), L"r");
    while (file && fgetws(line, MAX_PATH, file))
        if (!wcsncmp(line, L"home = ", 7)) wcscpy(home, line + 7);
    home[wcscspn(home, L"\r\n")] = 0;
    SetEnvironmentVariableW(L"__PYVENV_LAUNCHER__", own);
    GetStartupInfoW(&start);
    if (!CreateProcessW(wcscat(home, L"\\python.exe"), GetCommandLineW(), NULL, NULL, TRUE, 0,
                        NULL, NULL, &start, &child)) return 103;
    WaitForSingleObject(child.hProcess, INFINITE);
    GetExitCodeProcess(child.hProcess, &code);
    return code;
}
"""
#: C source of the library that gives Rust extensions random bytes. Wine 8 lacks this library.
_RANDOM = """#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T left) {
    while (left) {
        ULONG part = left > 65536 ? 65536 : (ULONG)left;
        if (!SystemFunction036(bytes, part)) return 0;
        bytes += part;
        left -= part;
    }
    return 1;
}
"""


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="A Windows Python under Wine.")
    parser.add_argument("what", choices=["try", "make", "run"])
    parser.add_argument("folder", type=Path, nargs="?", default=Path())
    parser.add_argument("arguments", nargs="*", help="after --: the arguments for Python")
    asked = parser.parse_args(words)
    folder = asked.folder.resolve()
    if asked.what == "run":
        return run(folder, asked.arguments)
    missing = [name for name in ("wine", LINKER + "gcc") if shutil.which(name) is None]
    if missing:
        print(f"missing: {', '.join(missing)} (apt-get install wine wine64 gcc-mingw-w64-x86-64)")
        return 1
    if asked.what == "try":
        return 0
    if folder.exists() and any(folder.iterdir()) and not (folder / MADE).exists():
        print(f"{folder} contains something else, or is incomplete: move it away, or delete it")
        return 1
    if not _is_made(folder):
        make(folder)
    return run(folder, ["-c", "import sys, ssl, sqlite3, ctypes; print(sys.version)"])


def run(folder: Path, arguments: Sequence[str]) -> int:
    """Run Python in the current folder, and end it when this process gets a signal to end. Wine
    needs pipes for all three standard streams. Wine makes folders accessible to everyone unless the
    umask prevents it, so a strict one is set."""
    _lead_to_this_checkout(folder)
    # Almost every call of Windows asks Wine's server, which is a process. When both run on the same
    # processor, that costs a third less, and leaves the other processors to others.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    process = subprocess.Popen(
        ["wine", str(_python(folder)), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(folder),
        umask=0o077,
    )
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    assert process.stdout is not None
    assert process.stderr is not None
    errors = threading.Thread(target=_hand_on, args=(process.stderr, sys.stderr.buffer))
    with process:
        errors.start()
        _hand_on(process.stdout, sys.stdout.buffer)
        errors.join()
    return process.returncode


def _hand_on(source: IO[bytes], target: IO[bytes]) -> None:
    for line in source:
        target.write(line)
        target.flush()


def make(folder: Path) -> None:
    """Remove the folder and make everything again."""
    home = _python(folder).parent
    shutil.rmtree(folder, ignore_errors=True)
    (home / "DLLs").mkdir(parents=True)
    (folder / MADE).touch()
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        _unpack(work, home)
        _library(home / "Lib")
        _start_program(work, home)
        _environments_program(work, home / "Lib" / "venv" / "scripts" / "nt")
        _prefix(work, folder)
    _packages(home / "Lib" / "site-packages")
    (folder / MADE).write_text(_wanted(), "utf-8")


def _wanted() -> str:
    """Return a value that changes when the intended content changes."""
    files = (Path(__file__), PROJECT / "constraints.txt", PROJECT / "pyproject.toml")
    return hashlib.sha256(
        b"\0".join([SHORT.encode(), *(f.read_bytes() for f in files)])
    ).hexdigest()


def _is_made(folder: Path) -> bool:
    made = folder / MADE
    return made.is_file() and made.read_text("utf-8") == _wanted()


def _python(folder: Path) -> Path:
    return folder / f"Python{DIGITS}" / "python.exe"


def _environment(folder: Path) -> dict[str, str]:
    # Environment variables for the Python on Linux may be wrong for the Windows Python.
    mine = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    own = {"WINEPREFIX": str(folder / "prefix"), "WINEARCH": "win64", "WINEDEBUG": "-all"}
    return {**mine, **own}


def _do(*command: str, cwd: Path | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:4])} failed:\n{done.stdout}{done.stderr}"[-4000:])
    return done.stdout


def _pip(*words: str) -> None:
    target = ("--platform", "win_amd64", "--python-version", SHORT, "--only-binary=:all:")
    _do(sys.executable, "-m", "pip", words[0], "--quiet", *target, *words[1:])


def _unpack(work: Path, home: Path) -> None:
    """Unpack Python's own files from the carrier."""
    _pip("download", "--no-deps", "--dest", str(work), CARRIER)
    (wheel,) = work.glob("panda3d-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            file = name.rpartition("/")[2]
            if not name.startswith("deploy_libs/") or not file:
                continue
            beside = file == f"python{DIGITS}.dll" or re.match(r"vcruntime140.*\.dll", file, re.I)
            if beside:
                (home / file).write_bytes(archive.read(name))
            elif not _LEFT_OUT.search(name):
                (home / "DLLs" / file).write_bytes(archive.read(name))


def _library(target: Path) -> None:
    """Copy the standard library, without the files that were built for this system."""
    ignored = shutil.ignore_patterns(
        "__pycache__", "site-packages", "dist-packages", "lib-dynload", "test", "tests", "config-*"
    )
    shutil.copytree(sysconfig.get_path("stdlib"), target, ignore=ignored)
    (target / "site-packages").mkdir()
    # The carrier's 3.11.9 calls ``invalidate_caches`` as a class method, but it isn't one in a
    # library before 3.11.8.
    metadata = target / "importlib" / "metadata" / "__init__.py"
    alone = re.compile(r"(?<!@classmethod\n)(    def invalidate_caches\(cls\))")
    text = alone.sub(r"    @classmethod\n\1", metadata.read_text("utf-8"))
    metadata.write_text(text, "utf-8")


def _start_program(work: Path, home: Path) -> None:
    """Make `python.exe`, and `python3.dll`, which forwards everything to the library of this
    version."""
    (work / "py.def").write_text(f"LIBRARY python{DIGITS}.dll\nEXPORTS\nPy_Main\n")
    _do(LINKER + "dlltool", "-d", "py.def", "-l", "libpy.a", cwd=work)
    (work / "py.c").write_text(_STARTER)
    _do(
        LINKER + "gcc",
        "-O1",
        "-municode",
        "py.c",
        "-o",
        str(home / "python.exe"),
        "libpy.a",
        "-lntdll",
        cwd=work,
    )
    names = _exported(home / f"python{DIGITS}.dll")
    lines = [f"  {name} = python{DIGITS}.{name}" for name in names]
    (work / "p3.def").write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *lines, ""]))
    (work / "e.c").write_text("int DllMainCRTStartup(void *a, unsigned b, void *c) { return 1; }\n")
    bare = ("-shared", "-nostdlib", "-e", "DllMainCRTStartup", "e.c", "p3.def")
    _do(LINKER + "gcc", *bare, "-o", str(home / "python3.dll"), cwd=work)


def _environments_program(work: Path, nt: Path) -> None:
    """Make the program that ``venv`` copies into an environment as ``python.exe``."""
    (work / "venv.c").write_text(_LAUNCHER)
    nt.mkdir(parents=True)
    for name in ("python.exe", "pythonw.exe"):
        _do(LINKER + "gcc", "-O1", "-municode", "venv.c", "-o", str(nt / name), cwd=work)


def _exported(library: Path) -> Iterator[str]:
    listing = _do(LINKER + "objdump", "-p", str(library))
    table = listing.partition("[Ordinal/Name Pointer] Table")[2]
    return (match[1] for match in re.finditer(r"^\s*\[ *\d+\].*?(\w+)$", table, re.M))


def _prefix(work: Path, folder: Path) -> None:
    env = _environment(folder)
    for command in (["wineboot", "-i"], ["wine", "winecfg", "-v", "win10"]):
        subprocess.run(command, env=env, capture_output=True, check=True, timeout=300)
    (work / "b.c").write_text(_RANDOM)
    library = folder / "prefix" / "drive_c" / "windows" / "system32" / "bcryptprimitives.dll"
    _do(LINKER + "gcc", "-shared", "-O1", "b.c", "-o", str(library), "-ladvapi32", cwd=work)


def _packages(target: Path) -> None:
    """Install the pinned packages that fit Windows."""
    marks = {
        "sys_platform": "win32",
        "platform_system": "Windows",
        "os_name": "nt",
        "platform_machine": "AMD64",
    }

    def fits(requirement: Requirement) -> bool:
        marker = requirement.marker
        return marker is None or any(
            marker.evaluate({**marks, "extra": extra}) for extra in ("", "usd")
        )

    lines = (PROJECT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [pin for pin in map(Requirement, filter(_is_pin, lines)) if fits(pin)]
    needed = map(Requirement, [*(requires("callboard") or ()), *WANTED, *THERE])
    names = [each.name for each in needed if fits(each)]
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as constraints:
        constraints.write("\n".join(f"{pin.name}{pin.specifier}" for pin in pins))
        constraints.flush()
        _pip("install", "--no-compile", "--target", str(target), "-c", constraints.name, *names)
    # This record exists in an editable installation too, and `callboard config` looks for it.
    record = target / f"callboard-{version('callboard')}.dist-info"
    record.mkdir()
    words = f"Metadata-Version: 2.1\nName: callboard\nVersion: {version('callboard')}\n"
    (record / "METADATA").write_text(words, "utf-8")


def _lead_to_this_checkout(folder: Path) -> None:
    """Write a file that lists the checkout's folders as paths on Wine's drive Z:, which is this
    machine's root."""
    folders = [PROJECT / name for name in ("core", "hosts", "ui", "tests", "packaging")]
    lines = "".join("Z:" + str(each).replace("/", "\\") + "\n" for each in folders)
    file = _python(folder).parent / "Lib" / "site-packages" / "callboard.pth"
    if not file.is_file() or file.read_text("utf-8") != lines:
        file.write_text(lines, "utf-8")


def _is_pin(line: str) -> bool:
    return bool(line) and not line.startswith("#")


if __name__ == "__main__":
    sys.exit(main())
