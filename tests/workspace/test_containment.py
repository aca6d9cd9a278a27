from __future__ import annotations

import ntpath
import os
import socket
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.errors import INVALID_PARAMS, NoWorkspaceRoots, WorkspaceResolveError
from callboard.workspace import same_folder
from callboard.workspace.containment import Root, RootsPolicy, WorkspaceRoots, parse_root

HERO = "/projects/hero"
C_HERO = "C:\\projects\\hero"


def posix(*roots: str | Root, policy: RootsPolicy = "advisory") -> WorkspaceRoots:
    return WorkspaceRoots(roots, policy=policy, flavour="posix")


def windows(*roots: str | Root, policy: RootsPolicy = "advisory") -> WorkspaceRoots:
    return WorkspaceRoots(roots, policy=policy, flavour="windows", realpath=ntpath.normpath)


def test_resolves_on_posix() -> None:
    for path, expected in [
        ("workspace://char/bob.usd", "/projects/hero/char/bob.usd"),
        ("WORKSPACE://char/bob.usd", "/projects/hero/char/bob.usd"),
        ("workspace:/char/bob.usd", "/projects/hero/char/bob.usd"),
        ("workspace:///etc/passwd", "/projects/hero/etc/passwd"),
        ("workspace://char\\bob.usd", "/projects/hero/char/bob.usd"),
        ("workspace://char/./x/../bob.usd", "/projects/hero/char/bob.usd"),
        ("workspace://char//bob.usd/", "/projects/hero/char/bob.usd"),
        ("workspace://.", "/projects/hero"),
        ("workspace://h%C3%A9ros/my%20file.usd", "/projects/hero/héros/my file.usd"),
        ("workspace://a%2Fb.usd", "/projects/hero/a/b.usd"),
        ("workspace://%252e%252e/x", "/projects/hero/%2e%2e/x"),
        ("workspace://100%25.usd", "/projects/hero/100%.usd"),
        ("workspace://beauty.####.exr", "/projects/hero/beauty.####.exr"),
        ("workspace://skin.<UDIM>.exr?", "/projects/hero/skin.<UDIM>.exr?"),
        ("workspace://~/x", "/projects/hero/~/x"),
        ("workspace://CON.../x.", "/projects/hero/CON.../x."),
        ("char/bob.usd", "/projects/hero/char/bob.usd"),
        ("~/x", "/projects/hero/~/x"),
        ("my%20file", "/projects/hero/my%20file"),
        ("/abs/path/scene.ma", "/abs/path/scene.ma"),
        ("/abs/../x", "/abs/../x"),
        ("C:\\Users\\me\\scene.max", "C:\\Users\\me\\scene.max"),
        ("C:/Users/me/scene.max", "C:/Users/me/scene.max"),
        ("\\\\server\\share\\x", "\\\\server\\share\\x"),
        ("file:///abs/my%20scene.ma", "/abs/my scene.ma"),
        ("file://localhost/abs/x", "/abs/x"),
        ("FILE:/abs/x", "/abs/x"),
        ("file:///C:/p/x", "C:\\p\\x"),
        ("file://server/share/p", "\\\\server\\share\\p"),
    ]:
        assert posix(HERO).resolve(path) == expected


def test_resolves_on_windows() -> None:
    for path, expected in [
        ("workspace://char/bob.usd", "C:\\projects\\hero\\char\\bob.usd"),
        ("workspace://char\\bob.usd", "C:\\projects\\hero\\char\\bob.usd"),
        ("workspace:///etc/passwd", "C:\\projects\\hero\\etc\\passwd"),
        ("workspace://a/../b", "C:\\projects\\hero\\b"),
        ("workspace://console.txt/comet.usd", "C:\\projects\\hero\\console.txt\\comet.usd"),
        ("workspace://skin.<UDIM>.exr", "C:\\projects\\hero\\skin.<UDIM>.exr"),
        ("char/bob.usd", "C:\\projects\\hero\\char\\bob.usd"),
        ("char\\bob.usd", "C:\\projects\\hero\\char\\bob.usd"),
        ("~\\x", "C:\\projects\\hero\\~\\x"),
        ("/abs/path/scene.ma", "/abs/path/scene.ma"),
        ("C:\\Users\\me\\scene.max", "C:\\Users\\me\\scene.max"),
        ("D:/x", "D:/x"),
        ("\\\\server\\share\\x", "\\\\server\\share\\x"),
        ("file:///C:/p", "C:\\p"),
        ("file:///c%3A/my%20p", "c:\\my p"),
        ("file://localhost/C:/p", "C:\\p"),
        ("file://C:/p", "C:\\p"),
        ("file:///C:", "C:\\"),
        ("file://server/share/p", "\\\\server\\share\\p"),
    ]:
        assert windows(C_HERO).resolve(path) == expected


BAD_EVERYWHERE = [
    ("", "empty"),
    ("workspace://", "doesn't name a file"),
    ("workspace:///", "doesn't name a file"),
    ("workspace:x", "workspace://<path>"),
    ("workspace://../../etc/passwd", "leaves the workspace"),
    ("workspace://../hero/x", "leaves the workspace"),
    ("workspace://a/../../hero/x", "leaves the workspace"),
    ("workspace://..\\x", "leaves the workspace"),
    ("workspace://%2e%2e/%2e%2e/etc/passwd", "percent-encoding"),
    ("workspace://a/.%2E/b", "percent-encoding"),
    ("workspace://a%2f..%2f..%2fb", "percent-encoding"),
    ("workspace://a%5c..%5c..%5cb", "percent-encoding"),
    ("../../etc/passwd", "leaves the workspace"),
    ("workspace://a\0b", "NUL"),
    ("workspace://a%00b", "control character"),
    ("a\0b", "NUL"),
    ("/a\0b", "NUL"),
    ("workspace://frame.%04d.exr", "%25"),
    ("workspace://100%.usd", "%25"),
    ("workspace://%ff", "UTF-8"),
    ("workspace://%ed%a0%80", "UTF-8"),
    ("workspace://\ud800", "Unicode"),
    ("a\udc80", "Unicode"),
    ("https://example.com/x.usd", "isn't a path on this machine"),
    ("file:relative", "file:///path"),
    ("file://", "file:///path"),
    ("file://server", "no share"),
    ("workspace://" + "a/" * 40_000, "characters long"),
]


def test_refuses() -> None:
    for path, reason in BAD_EVERYWHERE:
        for roots in [posix(HERO), windows(C_HERO)]:
            with pytest.raises(WorkspaceResolveError) as caught:
                roots.resolve(path)
            assert reason in caught.value.message
            assert len(caught.value.message) < 500
            assert caught.value.message.encode()
            assert caught.value.code == INVALID_PARAMS
            assert isinstance(caught.value, ValueError)
            assert not roots.contains(path)


def test_what_applications_on_posix_read_differently_is_refused() -> None:
    for path, reason in [
        ("..\\..\\x", "write /"),
        ("x\\..\\..\\out\\a.usda", "write /"),
        ("/projects/hero/a\\b", "write /"),
        ("file:///projects/hero/a%5Cb", "write /"),
        ("//projects/hero/a", "two slashes"),
        ("//nas/home/a", "two slashes"),
        ("shots/" + "\u00e9" * 128, "more than 255 bytes"),
    ]:
        for roots in [posix(HERO), posix()]:
            with pytest.raises(WorkspaceResolveError, match=reason):
                roots.resolve(path)
            assert not roots.contains(path)


@pytest.mark.skipif(os.name == "nt", reason="symlinks need a privilege there")
@pytest.mark.parametrize("policy", ["strict", "advisory"])
def test_dots_behind_a_link_count_both_ways(tmp_path: Path, policy: RootsPolicy) -> None:
    """The system resolves the dots from the link's target, and applications from the link
    itself."""
    root, guarded = tmp_path / "root", tmp_path / "root" / "guarded"
    for folder in (guarded, root / "a" / "b", tmp_path / "out"):
        folder.mkdir(parents=True, exist_ok=True)
    (root / "link").symlink_to(root / "a" / "b")
    roots = posix(str(root), Root("", "guarded", str(guarded), read_only=True), policy=policy)
    for path in (f"{root}/link/../../out/x", f"{root}/a/../../out/x"):
        assert not roots.contains(path)
        if policy == "strict":
            with pytest.raises(WorkspaceResolveError, match="outside the workspace"):
                roots.resolve(path)
    with pytest.raises(WorkspaceResolveError, match="read-only"):
        roots.admit(f"{root}/link/../guarded/x", write=True)
    assert roots.resolve(f"{root}/link/../x") == f"{root}/link/../x"


def test_refuses_names_that_mean_something_else_on_windows() -> None:
    for path, reason in [
        ("workspace://file.txt:stream", "stream"),
        ("workspace://C:/Windows", "drive"),
        ("workspace://C:", "drive"),
        ("D:x", "drive"),
        ("a/b:c", "stream"),
        ("workspace://CON", "device"),
        ("workspace://tex/nul.exr", "device"),
        ("workspace://com1 .txt", "device"),
        ("lpt\u00b9", "device"),
        ("workspace://.../x", "drops the dot"),
        ("workspace://a./x", "drops the dot"),
        ("workspace://.. /.. /x", "drops the dot"),
        ("x ", "drops the dot"),
        ("..\\..\\x", "leaves the workspace"),
    ]:
        with pytest.raises(WorkspaceResolveError, match=reason):
            windows(C_HERO).resolve(path)


@pytest.mark.parametrize("value", [None, 5, b"workspace://x", ["x"]])
def test_refuses_what_is_no_string(value: object) -> None:
    with pytest.raises(WorkspaceResolveError, match="must be a string"):
        posix(HERO).resolve(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [posix, windows])
def test_without_roots(make: type[WorkspaceRoots]) -> None:
    roots = make()
    with pytest.raises(NoWorkspaceRoots, match="no workspace roots"):
        roots.resolve("workspace://x")
    assert roots.resolve("assets/hero.usd") == "assets/hero.usd"
    assert roots.resolve("/tmp/abs") == "/tmp/abs"
    assert roots.first is None
    assert not roots.contains("/tmp/abs")


def test_the_platforms_own_flavour_is_the_default(tmp_path: Path) -> None:
    roots = WorkspaceRoots([str(tmp_path)])
    assert roots.resolve("workspace://a/b") == str(tmp_path / "a" / "b")


def test_the_first_root_with_a_path_is_the_workspace() -> None:
    roots = posix("https://example.com/project", "file:///C:/elsewhere", "/one", "/two")
    assert roots.resolve("workspace://x") == "/one/x"
    assert [root.path for root in roots.roots] == [None, None, "/one", "/two"]
    assert roots.first == roots.roots[2]
    assert roots.contains("/two/x")
    assert roots.contains("workspace://x")
    assert not roots.contains("/twofold/x")
    assert not roots.contains("/one/../three")


def test_parses_roots() -> None:
    for text, flavour, path, uri, name in [
        ("/my p/hero/", "posix", "/my p/hero", "file:///my%20p/hero/", "hero"),
        ("/", "posix", "/", "file:///", "/"),
        ("file:///my%20p", "posix", "/my p", "file:///my%20p", "my p"),
        ("file://localhost/p", "posix", "/p", "file://localhost/p", "p"),
        ("file:///C:/p", "posix", None, "file:///C:/p", "file:///C:/p"),
        ("C:\\my p", "posix", None, "file:///C:/my%20p", "C:\\my p"),
        ("C:/my p/", "windows", "C:\\my p", "file:///C:/my%20p/", "my p"),
        ("D:\\", "windows", "D:\\", "file:///D:/", "D:\\"),
        ("file:///c%3A/p", "windows", "c:\\p", "file:///c%3A/p", "p"),
        ("\\\\srv\\sh\\p", "windows", "\\\\srv\\sh\\p", "file://srv/sh/p", "p"),
        ("file://srv/sh/p", "windows", "\\\\srv\\sh\\p", "file://srv/sh/p", "p"),
        ("/home/me", "windows", None, "file:///home/me", "/home/me"),
        ("asset://library", "posix", None, "asset://library", "asset://library"),
    ]:
        assert parse_root(text, flavour=flavour) == Root(uri=uri, name=name, path=path)


@pytest.mark.parametrize(
    "text", ["", "projects/hero", "file://", "file:///%zz", "/a\0b", "/\ud800"]
)
def test_a_root_that_names_no_folder_is_an_error(text: str) -> None:
    with pytest.raises(WorkspaceResolveError):
        posix(text)
    with pytest.raises(WorkspaceResolveError):
        posix(Root("file:///x", "x", "relative"))


def test_client_roots_keep_what_is_good_and_say_what_is_not() -> None:
    roots = WorkspaceRoots.from_client_roots(
        [
            {"uri": "file:///one", "name": "One"},
            {"uri": "file:///%ff"},
            {"name": "no uri"},
            "file:///two",
            {"uri": 5},
            {"uri": "https://example.com"},
            {"uri": "file:///three", "name": 3},
            {"uri": "/four"},
            {"uri": "C:\\five"},
        ],
        flavour="posix",
    )
    assert [(root.name, root.path, root.source) for root in roots.roots] == [
        ("One", "/one", "client"),
        ("https://example.com", None, "client"),
        ("three", "/three", "client"),
    ]
    assert [problem.split(":")[0] for problem in roots.problems] == [
        "root 2",
        "root 3 has no uri",
        "root 4 has no uri",
        "root 5 has no uri",
        "root 6",
        "root 8",
        "root 9",
    ]


@pytest.mark.parametrize("answer", [None, {}, "file:///x", 5, {"roots": []}])
def test_a_client_answer_that_is_no_list_means_no_roots(answer: object) -> None:
    roots = WorkspaceRoots.from_client_roots(answer)
    assert roots.roots == ()
    assert roots.problems == ("the client's roots aren't a list",)


def test_a_flood_of_client_roots_is_cut() -> None:
    roots = WorkspaceRoots.from_client_roots(
        [{"uri": f"file:///{n}"} for n in range(5000)], flavour="posix"
    )
    assert len(roots.roots) == 100
    assert "5000" in roots.problems[0]


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "file:///etc/passwd", "/projects/hero/../x", "C:\\x", "\\\\srv\\sh\\x"]
)
def test_strict_refuses_absolute_paths_outside(path: str) -> None:
    with pytest.raises(WorkspaceResolveError, match="use a workspace:// path"):
        posix(HERO, policy="strict").resolve(path)
    with pytest.raises(WorkspaceResolveError, match="use a workspace:// path"):
        windows(C_HERO, policy="strict").resolve(path)


def test_strict_lets_paths_inside_any_root_pass() -> None:
    roots = posix(HERO, "/library", policy="strict")
    assert roots.resolve("/library/x.usd") == "/library/x.usd"
    assert roots.resolve("workspace://x.usd") == "/projects/hero/x.usd"
    with pytest.raises(WorkspaceResolveError):
        posix(policy="strict").resolve("relative.usd")


def test_case_matters_as_the_platform_says() -> None:
    assert windows(C_HERO, policy="strict").resolve("c:/PROJECTS/Hero/x") == "c:/PROJECTS/Hero/x"
    with pytest.raises(WorkspaceResolveError):
        posix(HERO, policy="strict").resolve("/projects/Hero/x")


def test_containment_never_looks_at_a_share_no_root_is_on() -> None:
    looked: list[str] = []

    def realpath(path: str) -> str:
        looked.append(path)
        return ntpath.normpath(path)

    roots = WorkspaceRoots(
        [C_HERO, "\\\\srv\\sh"], policy="strict", flavour="windows", realpath=realpath
    )
    for path in ("\\\\evil\\sh\\x", "//evil/sh/x", "file://evil/sh/x", "\\\\srv\\sh2\\x"):
        with pytest.raises(WorkspaceResolveError):
            roots.resolve(path)
    assert set(looked) == {C_HERO, "\\\\srv\\sh"}
    assert roots.resolve("//SRV/sh/x") == "//SRV/sh/x"


def test_a_read_only_root_takes_no_writes() -> None:
    library = Root("file:///projects/hero/lib", "lib", "/projects/hero/lib", read_only=True)
    roots = posix(HERO, library)
    assert roots.admit("workspace://lib/x.usd", write=False) == "/projects/hero/lib/x.usd"
    assert roots.admit("workspace://x.usd", write=True) == "/projects/hero/x.usd"
    assert roots.admit("/elsewhere/x.usd", write=True) == "/elsewhere/x.usd"
    for path in (
        "workspace://lib/x.usd",
        "lib/x.usd",
        "/projects/hero/lib",
        "file:///projects/hero/lib/x",
    ):
        with pytest.raises(WorkspaceResolveError, match="read-only root 'lib'"):
            roots.admit(path, write=True)
        with pytest.raises(WorkspaceResolveError, match="read-only"):
            roots.for_writing().resolve(path)


def test_a_folder_listed_twice_is_read_only_if_either_says_so() -> None:
    roots = posix(Root("file:///a", "a", "/a", read_only=True), "/a")
    with pytest.raises(WorkspaceResolveError, match="read-only"):
        roots.admit("/a/x", write=True)


needs_links = pytest.mark.skipif(os.name == "nt", reason="making symlinks needs a special right")


def build_tree(folder: Path) -> Path:
    """Build a root with every kind of link out of it. Every file outside contains ``secret``."""
    root, outside = folder / "root", folder / "outside"
    (root / "in" / "deep").mkdir(parents=True)
    (outside / "deep").mkdir(parents=True)
    for place in (folder, outside, outside / "deep"):
        (place / "f").write_text("secret")
    for place in (root, root / "in", root / "in" / "deep"):
        (place / "f").write_text("public")
    (root / "out").symlink_to(outside)
    (root / "up").symlink_to("..")
    (root / "file_out").symlink_to(outside / "f")
    (root / "dangling").symlink_to(outside / "not" / "there")
    (root / "loop").symlink_to("loop")
    (root / "in" / "sideways").symlink_to("../out/deep")
    (root / "in" / "home").symlink_to(root)
    return root


@pytest.fixture(scope="module")
def tree() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield build_tree(Path(folder))


@needs_links
@pytest.mark.parametrize(
    "path",
    [
        "out",
        "out/f",
        "out/new/file",
        "up/f",
        "up/root/../f",
        "file_out",
        "dangling",
        "in/sideways/f",
    ],
)
def test_links_out_of_the_root_are_refused(tree: Path, path: str) -> None:
    roots = WorkspaceRoots([str(tree)])
    for spelling in (f"workspace://{path}", path):
        with pytest.raises(WorkspaceResolveError, match="leaves the workspace") as caught:
            roots.resolve(spelling)
        assert "outside" not in caught.value.message
    strict = WorkspaceRoots([str(tree)], policy="strict")
    with pytest.raises(WorkspaceResolveError):
        strict.resolve(str(tree / path))


@needs_links
def test_links_that_stay_inside_are_fine(tree: Path) -> None:
    linked = tree.parent / "linked_root"
    linked.symlink_to(tree)
    roots = WorkspaceRoots([str(linked)], policy="strict")
    assert roots.resolve("workspace://in/home/in/f") == str(linked / "in/home/in/f")
    assert roots.resolve("workspace://not/there/yet") == str(linked / "not/there/yet")
    assert roots.resolve(str(tree / "f")) == str(tree / "f")
    linked.unlink()


@needs_links
def test_a_read_only_root_is_protected_from_links_into_it(tree: Path) -> None:
    roots = WorkspaceRoots([str(tree), parse_root(str(tree.parent / "outside"), read_only=True)])
    with pytest.raises(WorkspaceResolveError, match="read-only"):
        roots.admit(str(tree / "out" / "f"), write=True)


parts = st.one_of(
    st.sampled_from(["f", "in", "deep", "out", "up", "file_out", "dangling", "loop", "sideways"]),
    st.sampled_from(["home", "root", "outside", "new", "é", "..", ".", "...", "~", "", "..\\.."]),
    st.sampled_from(["%2e%2e", "%2E.", "..%2f..", "%252e%252e", "%00", "..\\", "%5c..", "\\"]),
)
spellings = st.builds(
    lambda prefix, names, separator: prefix + separator.join(names),
    st.sampled_from(["workspace://", "workspace:/", "workspace:///", "WORKSPACE://", ""]),
    st.lists(parts, min_size=1, max_size=8),
    st.sampled_from(["/", "//", "\\", "%2f", "/./"]),
)
anything = st.builds(str.__add__, st.sampled_from(["workspace://", ""]), st.text(max_size=40))


@needs_links
@given(path=spellings | anything)
def test_nothing_outside_the_root_can_be_reached(tree: Path, path: str) -> None:
    try:
        resolved = WorkspaceRoots([str(tree)]).resolve(path)
    except WorkspaceResolveError:
        return
    if path.startswith("/") or path[1:3] in (":/", ":\\") or path.startswith("\\\\"):
        assert resolved == path
        return
    assert resolved == str(tree) or resolved.startswith(f"{tree}/")
    assert Path(resolved).parts == Path(os.path.normpath(resolved)).parts
    real, base = os.path.realpath(resolved), os.path.realpath(tree)
    assert os.path.commonpath([real, base]) == base
    if Path(resolved).is_file():
        assert Path(resolved).read_text() == "public"


@given(path=spellings | anything, root=st.sampled_from([C_HERO, "D:\\", "\\\\srv\\sh\\p"]))
def test_nothing_outside_the_root_can_be_named_on_windows(path: str, root: str) -> None:
    try:
        resolved = windows(root).resolve(path)
    except WorkspaceResolveError:
        return
    if path.startswith(("/", "\\")) or path[1:3] in (":/", ":\\"):
        assert resolved == path
        return
    assert ntpath.normpath(resolved) == resolved
    assert resolved == root or resolved.startswith(root.rstrip("\\") + "\\")
    assert ":" not in resolved[2:]


@needs_links
@given(names=st.lists(parts, max_size=8))
def test_strict_reaches_nothing_outside_by_absolute_paths(tree: Path, names: list[str]) -> None:
    path = "/".join([str(tree), *names])
    try:
        resolved = WorkspaceRoots([str(tree)], policy="strict").resolve(path)
    except WorkspaceResolveError:
        return
    assert resolved == path
    base = os.path.realpath(tree)
    assert os.path.commonpath([os.path.realpath(resolved), base]) == base


@pytest.mark.parametrize(
    "path",
    [
        r"\\?\C:\projects\hero\a.usd",
        r"\\.\C:\projects\hero\a.usd",
        r"\??\C:\projects\hero\a.usd",
        "//?/C:/projects/hero/a.usd",
        "file://./C:/projects/hero/a.usd",
        "file://%3F/C:/projects/hero/a.usd",
        r"\\localhost\C$\projects\hero\a.usd",
        r"\\127.0.0.1\hero\a.usd",
        r"\\0--1.ipv6-literal.net\hero\a.usd",
        r"\\anybody\c$\projects\hero\a.usd",
        "//anybody//ADMIN$/a.usd",
        rf"\\{socket.gethostname()}\hero\a.usd",
        "file://localhost./C$/projects/hero/a.usd",
    ],
)
def test_no_way_round_leads_into_a_read_only_root_on_windows(path: str) -> None:
    root = parse_root(C_HERO, read_only=True, flavour="windows")
    with pytest.raises(WorkspaceResolveError, match="C:"):
        windows(root).admit(path, write=True)


@pytest.mark.parametrize("path", [r"\\?\C:\hero", r"\\localhost\C$\hero", "file://./C:/hero"])
def test_a_root_is_named_by_its_drive_on_windows(path: str) -> None:
    with pytest.raises(WorkspaceResolveError, match="C:"):
        parse_root(path, flavour="windows")


@pytest.mark.skipif(sys.platform == "win32", reason="the paths have no drives")
def test_a_read_only_root_is_the_same_folder_in_every_spelling_of_macos(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On macOS's disks "RO" is the same as "ro", and "é" may be one character or two."""
    folder = tmp_path / "ro" / "h\u00e9ros"
    folder.mkdir(parents=True)
    real_stat = os.stat

    def stat(path: str, **options: Any) -> os.stat_result:
        start, inside, rest = str(path).partition(str(tmp_path))
        return real_stat(start + inside + unicodedata.normalize("NFC", rest.lower()), **options)

    monkeypatch.setattr(same_folder, "FOLDS", True)
    monkeypatch.setattr(same_folder.os, "stat", stat)
    root = parse_root(str(folder), read_only=True, flavour="posix")
    for spelling in ("RO/h\u00e9ros/a.usd", "ro/he\u0301ros/sub/a.usd", "Ro/HE\u0301ROS"):
        with pytest.raises(WorkspaceResolveError, match="read-only"):
            posix(root).admit(f"{tmp_path}/{spelling}", write=True)
    beside = f"{tmp_path}/RO/other/a.usd"
    assert posix(root).admit(beside, write=True) == beside
