"""``callboard farm export --flamenco``: the tasks that Flamenco's manager makes from the export,
and that its worker runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from callboard_programs.cli import main
from e2e.serving import callboard
from needed import need, needs
from shots import Shots

need("pxr")
NODE = shutil.which("node")

#: Everything that a job script of Flamenco 3 may use.
MANAGER = """
const fs = require("fs"), vm = require("vm");
const strict = (what, known) => new Proxy(known, {
  get: (from, name) => {
    if (!(name in from)) throw new Error(`${what} has no ${String(name)}`);
    return from[name];
  },
  set: (from, name) => { throw new Error(`${what}.${String(name)} is written`); },
});
const text = (value) => { if (typeof value !== "string" || !value) throw new Error("no text"); };
const author = strict("author", {
  Task: (name, type) => {
    text(name); text(type);
    const commands = [];
    const task = { addCommand: (one) => commands.push(one), addDependency: () => {} };
    return strict("task", { ...task, made: { name, type, commands } });
  },
  Command: (name, parameters) => { text(name); return { name, parameters }; },
});
const [script, job] = process.argv.slice(2).map((path) => fs.readFileSync(path, "utf8"));
const { name, type, priority, settings } = JSON.parse(job);
const context = vm.createContext({ author });
vm.runInContext(script, context);
const declared = vm.runInContext("JOB_TYPE", context);
const keys = declared.settings.map((setting) => setting.key);
for (const key in settings) if (!keys.includes(key)) throw new Error(`no setting ${key}`);
const tasks = [];
const addTask = (task) => tasks.push(task.made);
context.compileJob(strict("job", { name, type, priority, settings, addTask }));
console.log(JSON.stringify(tasks));
"""


def exported(shots: Shots, *options: str) -> Any:
    words = [*shots.called, *shots.skills, "--over", shots.scenes, *options]
    (told,) = shots.printed(callboard("farm", "export", *words))
    return told


@pytest.mark.slow
@needs("node")
def test_its_tasks_do_what_a_batch_does(tmp_path: Path) -> None:
    assert NODE is not None
    shots = Shots(tmp_path, 3)
    (tmp_path / "sc01.bad").write_text("nobody can look at that")
    job = tmp_path / "it's a\u2028job"
    told = exported(shots, "--flamenco", str(job), "--chunk", "2", "--timeout", "60")
    manager = tmp_path / "manager.js"
    manager.write_text(MANAGER)
    # The script's name is also the job type's.
    assert json.loads((job / "job.json").read_text())["type"] == "callboard"
    tasks = shots.printed([NODE, str(manager), str(job / "callboard.js"), told["job"]])[0]
    assert [task["type"] for task in tasks] == ["misc", "misc"]
    runs = []
    for task in tasks:
        (command,) = task["commands"]
        assert command["name"] == "exec"
        assert command["parameters"]["exe"] == "callboard"
        words = [sys.executable, "-m", "callboard", *command["parameters"]["args"]]
        runs.append(subprocess.Popen(words, env=shots.env, stdout=subprocess.DEVNULL))
    # For Flamenco, only an exit status of zero is a success.
    assert [run.wait(200) for run in runs] == [1, 0]
    hosts = dict(shots.visits())
    assert hosts["sc00"] == hosts["sc01"] != hosts["sc02"]
    *live, _ = shots.printed(
        callboard("batch", *shots.called, *shots.skills, "--each", shots.scenes), 1
    )
    kept = [json.loads((job / "results" / f"{index}.json").read_text()) for index in range(3)]
    for line in (*kept, *live):
        for name in ("key", "artefacts"):  # A line of ``farm run`` has more members.
            line.pop(name, None)
        line.get("error", {}).pop("call", None)
        line.get("result", {}).pop("pid", None)
    assert kept == live
    shots.none_runs()


def test_what_flamenco_cannot_say_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shots = Shots(tmp_path, 1)
    for name, value in shots.env.items():
        monkeypatch.setenv(name, value)
    export = ["farm", "export", *shots.called, *shots.skills, "--over", shots.scenes]
    for options, why in (
        (["--flamenco", str(tmp_path / "{odd}")], "variables"),
        (["--flamenco", str(tmp_path / "job"), "--need", "gpu"], "--need"),
        (["--openjd", str(tmp_path / "job"), "--chunk", "2"], "--chunk"),
    ):
        assert main([*export, *options]) == 2
        assert why in json.loads(capsys.readouterr().out)["error"]["message"]
    assert not (tmp_path / "job").exists()
