"""The examples and exit codes that ``--help`` shows below each command's options."""

from __future__ import annotations

import argparse

#: For each command, examples: the words after ``callboard``, and their effect.
EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "setup": (
        ("setup --dry-run", "show what it would do here, and do nothing"),
        ("setup --yes", "everything on this machine, without asking"),
        ("setup --host blender --client cursor --client codex", "only these"),
        ("setup --undo", "undo all of it"),
    ),
    "serve": (
        ("serve --scene shot.usda --root .", "an OpenUSD stage, and this folder for files"),
        ("serve --host blender --skills ./skills", "Blender without a window, and your skills"),
        ("serve --deny script.execute --port 8765", "no scripts; always the same port"),
    ),
    "list": (
        ("list", "what is running, and where"),
        ("list --json", "the same for programs"),
    ),
    "tools": (
        ("tools", "of the running instance"),
        (
            "tools scene__create_primitive --instance blender",
            "one tool's description and arguments",
        ),
    ),
    "call": (
        ("call scene__scene_info", "in the running instance"),
        (
            'call scene__create_primitive --json \'{"kind": "cube"}\' --instance blender',
            "in Blender",
        ),
        ("call viewport__look --out look.png", "the picture, too"),
        (
            "call studio__publish --json @publish.json --wait",
            "arguments from a file; wait for the job",
        ),
    ),
    "stop": (
        ("stop", "end the calls that are running in the only instance"),
        ("stop --instance blender", "in that application"),
    ),
    "selftest": (
        ("selftest blender", "in Blender, with a report in this folder"),
        ("selftest --read callboard-self-test-maya-2026.json", "a report as data for our tests"),
    ),
    "gateway": (
        ("gateway", "one address for every instance here"),
        ("gateway --open", "its page in the browser"),
        ("gateway --listen 10.0.0.5", "for other machines, too"),
    ),
    "run": (
        ("run scene__scene_info --host blender --scene shot.blend", "what is in the file"),
        ("run studio__clean --scene shot.usda --save", "change the file"),
    ),
    "batch": (
        ("batch scene__scene_info --each '*.usda' --report out.jsonl", "continue from it later"),
        ("batch studio__clean --host blender --each 'a/**/*.blend' -j 2 --save", "on two hosts"),
    ),
    "farm": (
        ("farm run scene__scene_info --over '*.usda' -n 4", "on four hosts of this machine"),
        ("farm run --help", "the options of one part"),
    ),
    "farm local": (("farm local -n 4", "a scheduler and four hosts"),),
    "farm worker": (
        ("farm worker --scheduler tcp://10.0.0.5:8786 --host blender --offer gpu", "join a farm"),
    ),
    "farm run": (
        ("farm run scene__scene_info --over 'a/*.usda' -n 4", "over files"),
        ("farm run render__still --over 1-100x2 --scheduler tcp://10.0.0.5:8786", "over frames"),
    ),
    "farm export": (
        ("farm export scene__scene_info --over '*.usda' --openjd ./job", "for a render manager"),
        ("farm export scene__scene_info --over '*.usda' --flamenco ./job --chunk 20", "Blender's"),
    ),
    "farm session": (("farm session enter ./session --host openusd", "a job's own first step"),),
    "stdio": (
        ("stdio", "the command in a client's configuration"),
        ("stdio --instance blender", "always that application"),
    ),
    "connect": (
        (
            "connect 'https://10.0.0.5:8765/mcp#sha256=…' --token-file token",
            "the address that the gateway printed",
        ),
    ),
    "config": (
        ("config claude-code", "what to write, and where"),
        ("config cursor --write", "write it"),
        ("config other --name alice --gateway", "address and token for any client"),
    ),
    "clients": (
        ("clients", "the clients that have a token"),
        ("clients revoke cursor", "stop it from connecting"),
        ("clients approve alice", "also from other machines"),
    ),
    "capabilities": (
        ("capabilities", "what the instance offers"),
        ("capabilities withdraw filesystem.write", "until it is restored"),
    ),
    "lint": (
        ("lint skills/studio-publish", "file, line and fix of each mistake"),
        ("lint skills --strict --json", "a check before a merge"),
    ),
    "vendor": (
        ("vendor skills/studio-publish", "for this Python"),
        ("vendor studio-publish --python 3.10 --python mayapy", "for others"),
    ),
    "new-skill": (
        ("new-skill shot-tools --in skills", "a skill with a tool and its test"),
        ("new-skill shot-tools --from-calls --since 1h", "of the newest conversation"),
    ),
    "new-bundle": (("new-bundle shot-notes", "a bundle with a server of its own"),),
    "pack": (("pack shot-notes --out shot-notes.mcpb", "check it, and make the file"),),
    "report": (
        ("report", "of the last seven days"),
        ("report --since 24h --html report.html", "as a page"),
        ("report --call ID", "one call in full, with its traceback"),
    ),
    "doctor": (
        ("doctor", "what is wrong, and how to fix it"),
        ("doctor --settings", "the settings of a server started here, and their sources"),
    ),
    "install": (
        ("install blender", "into every version that is found"),
        ("install maya --dry-run", "only show what would be done"),
    ),
    "uninstall": (("uninstall blender", "out of every version"),),
    "install-skill": (
        ("install-skill shot-notes.mcpb", "for you"),
        ("install-skill ./shot-notes --scope project", "for this project"),
    ),
    "uninstall-skill": (("uninstall-skill shot-notes", "and its settings"),),
    "skills": (
        ("skills", "what is found here, with versions"),
        ("skills --installed --json", "the bundles, for programs"),
    ),
    "manual": (
        ("manual add blender_manual_html.zip", "from docs.blender.org"),
        ("manual add ./MayaHelp --for maya --version 2026", "a folder that doesn't say what it is"),
        ("manual list", "the manuals that are there"),
        ("manual remove blender-5.1-manual", "and its index"),
    ),
    "completion": (
        ("completion bash", 'in ~/.bashrc: eval "$(callboard completion bash)"'),
        ("completion zsh", 'in ~/.zshrc: eval "$(callboard completion zsh)"'),
        ("completion fish", "into ~/.config/fish/completions/callboard.fish"),
        (
            "completion powershell",
            "in $PROFILE: callboard completion powershell | Out-String | iex",
        ),
    ),
}

#: The next step after each command.
NEXT = {
    "setup": "start the application, restart your client, and ask it what is in the scene",
    "serve": "callboard call scene__scene_info, or callboard config CLIENT --write",
    "list": "callboard tools --instance NAME",
    "tools": "callboard call TOOL",
    "stop": "callboard clients revoke NAME keeps a client out; Pause in the panel refuses all",
    "gateway": "callboard config CLIENT --gateway --write",
    "config": "restart the client",
    "new-skill": "callboard lint FOLDER, then callboard serve --skills FOLDER",
    "new-bundle": "callboard lint FOLDER --start, then callboard pack FOLDER",
    "lint": "callboard serve --skills FOLDER",
    "vendor": "callboard doctor",
    "pack": "callboard install-skill FILE",
    "install": "start the application, then callboard config CLIENT --write",
    "install-skill": "callboard skills --installed",
}

_EXITS = "exit codes: 0 done, 1 failed (stderr says why), 2 wrong arguments, 130 Ctrl+C"
#: The commands that call a tool, which have more exit codes.
_MORE_EXITS = ("call", "run", "batch", "farm run")


def show_examples(parser: argparse.ArgumentParser, command: str) -> None:
    """Put the examples below the parser's help."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    lines = [f"  callboard {written}\n      {what}" for written, what in EXAMPLES[command]]
    exits = f"{_EXITS}; 3 to 6: docs/commands.md" if command in _MORE_EXITS else _EXITS
    after = [f"next: {NEXT[command]}", ""] if command in NEXT else []
    parser.epilog = "\n".join(["examples:", *lines, "", *after, exits])
