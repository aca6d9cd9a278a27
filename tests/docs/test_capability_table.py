"""The table on the page about skills that lists the capabilities of each host."""

from __future__ import annotations

from pathlib import Path

from callboard.ports import capability_names

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs" / "skills.md"
#: The hosts' folders, with their names on the page.
HOSTS = {
    "openusd": "OpenUSD",
    "blender": "Blender",
    "maya": "Maya",
    "houdini": "Houdini",
    "max": "3ds Max",
}
#: The modules of the ports that aren't named after their capability.
MODULES = {
    "scene.read": "scene",
    "scene.mutate": "edit",
    "filesystem.read": "files",
    "filesystem.write": "files",
    "script.execute": "script",
}
#: Capabilities that the server offers in every host.
EVERYWHERE = {"network"}
#: Capabilities that need something from the machine besides the host.
CONDITIONS = {
    "usd": "with the application's USD plug-in, or in a build that includes USD",
    "viewport": "with a window",
    "script.execute": "while somebody can be asked (in Blender with a window, elsewhere with the "
    "panel open), or with `--allow`",
    "network": "once the artist allows it",
}


def table() -> list[str]:
    """Return the lines of the table, computed from the hosts' folders of ports."""
    lines = [f"| capability | {' | '.join(HOSTS.values())} | offered |", "|---" * 7 + "|"]
    words = [value for name, value in vars(capability_names).items() if name.isupper()]
    for word in words:
        if word == capability_names.FARM:
            continue
        module = MODULES.get(word, word)
        marks = [
            "yes"
            if word in EVERYWHERE
            or (PROJECT / "hosts" / f"callboard_{host}" / "ports" / f"{module}.py").is_file()
            else "–"
            for host in HOSTS
        ]
        lines.append(f"| `{word}` | {' | '.join(marks)} | {CONDITIONS.get(word, 'always')} |")
    return lines


def test_the_page_has_the_table_that_the_hosts_define() -> None:
    wanted = table()
    written = PAGE.read_text("utf-8").splitlines()
    begin = written.index(wanted[0]) if wanted[0] in written else len(written)
    assert written[begin : begin + len(wanted)] == wanted, "the table is now:\n" + "\n".join(wanted)
