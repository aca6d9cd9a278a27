"""Workflows on a complete server: results, retries, questions, cancellation, undo, and the remains
of a killed process."""

from __future__ import annotations

import gc
import json
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from callboard_programs.cli import main
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE
from serving import served, text_of
from skills.skill_tree import write_skill
from stateless_client import Stateless
from waiting import job_ended, until

TOOLS = """\
tools:
- {name: add, description: Adds an object., required_capabilities: [scene.mutate]}
- {name: shaky, description: Fails at first., required_capabilities: [scene.mutate]}
- {name: half, description: "Changes the scene, says no.", required_capabilities: [scene.mutate]}
- {name: wait, description: Waits until it is cancelled., required_capabilities: [scene.mutate]}
- name: names
  description: What there is.
  required_capabilities: [scene.read]
  annotations: {read_only_hint: true}
- {name: double, description: Doubles., affinity: any}
- {name: forever, description: Never ends., affinity: any}
- {name: missing, description: Needs what is not there., required_capabilities: [hologram]}
"""
SCRIPTS = {
    "scripts/add.py": """\
        def main(ctx, name):
            return {"path": ctx.port("scene.mutate").create("cube", name, {"size": 1})}
        """,
    "scripts/shaky.py": """\
        tries = []
        def main(ctx, name):
            tries.append(name)
            path = ctx.port("scene.mutate").create("cube", name, {"size": 1})
            if len(tries) < 3:
                raise RuntimeError("not yet")
            return {"path": path, "tries": len(tries)}
        """,
    "scripts/half.py": """\
        def main(ctx, name):
            ctx.port("scene.mutate").create("cube", name, {"size": 1})
            return {"success": False, "message": "half done"}
        """,
    "scripts/wait.py": """\
        def main(ctx, name):
            ctx.port("scene.mutate").create("cube", name, {"size": 1})
            while True:
                yield
        """,
    "scripts/names.py": """\
        def main(ctx):
            return {"names": ctx.port("scene.read").names()}
        """,
    "scripts/double.py": "def main(n):\n    return {'n': 2 * n}\n",
    "scripts/forever.py": """\
        import asyncio
        async def main():
            await asyncio.Event().wait()
        """,
    "scripts/missing.py": "def main():\n    raise AssertionError('the gate let it pass')\n",
}


def add(name: str, more: str = "") -> str:
    return f"  - {{id: {name}, tool: s__add, args: {{name: {name}}}{more}}}\n"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    for variable in ("CALLBOARD_SKILL_PATHS", "DCC_MCP_SKILL_PATHS"):
        monkeypatch.delenv(variable, raising=False)


@contextmanager
def server(tmp_path, text, **options):
    skills = tmp_path / "skills"
    if not skills.exists():
        write_skill(
            skills,
            "s",
            block="tools: tools.yaml\nworkflows: '*.workflow.yaml'",
            files={"tools.yaml": TOOLS, "w.workflow.yaml": f"name: w\n{text}", **SCRIPTS},
        )
    with served(skills=True, skill_paths=[skills], **options) as running:
        yield running


def objects(running):
    return running.on_main(lambda: running.host.ports["scene.read"].names())


def start(client, **inputs):
    handle = client.call("workflows__run", {"name": "s.w", "inputs": inputs})
    return handle["structuredContent"]["job_id"]


def poll(client, id, ready):
    """Poll the run's status, as any client does. Return the run once ``ready`` is true for it."""
    latest = []

    def ready_run():
        result = client.call("workflows__status", {"run_id": id})
        latest[:] = [result["structuredContent"]]
        if not result["isError"] and ready(latest[0]):
            return latest[0]
        client.call("s__names")  # This call runs on the main thread, so the run gets its turn too.
        return None

    return until(ready_run, lambda: f"the run to get on: {latest}", seconds=60)


def ended(client, id):
    return poll(client, id, lambda run: run["status"] not in ("running", None))


def begun(step):
    return lambda run: any(s["step"] == step for s in run["steps"])


def test_steps_see_inputs_and_earlier_results(tmp_path):
    text = """\
inputs:
  count: {type: integer}
  names: {type: array, default: [a, b]}
steps:
  - {id: twice, tool: s__double, args: {n: "{{count}}"}}
  - id: both
    parallel:
      - {id: left, tool: s__double, args: {n: "{{twice.n}}"}}
      - {id: right, tool: s__double, args: {n: 1}}
  - {id: sum, tool: s__double, args: {n: "{{left.n}}"}}
  - id: each
    foreach: "{{names}}"
    as: name
    steps: [{id: made, tool: s__add, args: {name: "{{name}}_{{sum.n}}"}}]
  - id: choose
    branch: "{{right.n}}"
    equals: 2
    then: [{id: then_made, tool: s__add, args: {name: "{{each.1.made.path}}_again"}}]
    else: [{id: else_made, tool: s__add, args: {name: never}}]
"""
    with server(tmp_path, text) as running, running.client() as client:
        run = ended(client, start(client, count=3))
        assert run["status"] == "completed", run
        results = {step["step"]: step["result"] for step in run["steps"]}
        assert [results[s]["n"] for s in ("twice", "left", "right", "sum")] == [6, 12, 2, 24]
        assert set(results) >= {"each[0].made", "each[1].made", "then_made"}
        assert "else_made" not in results
        assert {"a_24", "b_24"} <= {name.rsplit("/")[-1] for name in objects(running)}


CHECKED = """\
steps:
  - {id: a, tool: s__add, args: {name: a}}
  - {id: count, tool: s__double, args: {n: 0}}
  - id: check
    branch: "{{count.n}}"
    then: [{id: publish, tool: s__add, args: {name: published}}]
"""


def test_a_check_that_fails_without_else_is_no_completed_run(tmp_path):
    with server(tmp_path, CHECKED) as running, running.client() as client:
        before = objects(running)
        run = ended(client, start(client))
        assert run["status"] == "failed"
        assert "the check 'check' failed" in run["message"]
        assert "else: []" in run["message"]
        assert run["skipped"] == ["publish"]
        assert objects(running) == before


@pytest.mark.parametrize("branch", ["{{count.n}}", '{{count.n}}"\n    equals: "1'])
def test_a_branch_that_may_do_nothing_goes_on(tmp_path, branch):
    text = CHECKED.replace("{{count.n}}", branch)
    if "equals" not in branch:
        text += "    else: []\n"
    with server(tmp_path, text) as running, running.client() as client:
        run = ended(client, start(client))
        assert run["status"] == "completed", run
        assert run["skipped"] == ["publish"]


def test_a_fail_step_ends_the_run_in_its_own_words(tmp_path):
    text = CHECKED + '    else: [{id: stop, fail: "{{count.n}} things to publish"}]\n'
    with server(tmp_path, text + add("never")) as running, running.client() as client:
        before = objects(running)
        run = ended(client, start(client))
        assert run["status"] == "failed"
        assert "0 things to publish" in run["message"]
        assert run["steps"][-1]["status"] == "failed"
        assert objects(running) == before


def test_a_step_without_an_id_is_told_by_its_line(tmp_path):
    text = 'steps:\n  - {tool: s__add, args: {name: a}}\n  - fail: "nothing to publish"\n'
    with server(tmp_path, text) as running, running.client() as client:
        run = ended(client, start(client))
    name = run["steps"][-1]["step"]
    told = f"step '{name}' in line 4 of w.workflow.yaml failed: nothing to publish"
    assert run["message"].startswith(told)


def test_a_step_without_an_id_is_told_with_the_round_of_its_loop(tmp_path):
    text = """\
steps:
  - foreach: [1, 2]
    as: n
    steps:
      - branch: "{{n}}"
        equals: 1
        then: [{tool: s__add, args: {name: a}}]
        else: [{fail: "no {{n}}"}]
"""
    with server(tmp_path, text) as running, running.client() as client:
        told = ended(client, start(client))["message"]
    where = "line 9 of w.workflow.yaml, round 2 of the loop in line 3"
    assert told.startswith(f"step 'step_1[1].step_4' in {where} failed: no 2")


def test_a_check_without_an_id_is_told_by_its_line(tmp_path):
    text = CHECKED.replace("- id: check\n    branch", "- branch")
    with server(tmp_path, text) as running, running.client() as client:
        told = ended(client, start(client))["message"]
    assert told.startswith("the check 'step_3' in line 5 of w.workflow.yaml failed")


def test_a_person_at_a_shell_can_see_what_each_step_did(tmp_path, capsys):
    """The error names the run, both on the command line and in the records."""
    text = CHECKED + '    else: [{fail: "{{count.n}} things to publish"}]\n'
    with server(tmp_path, text, announce=True, records=True) as running:
        arguments = json.dumps({"name": "s.w"})
        assert main(["call", "workflows__run", "--wait", "--json", arguments]) == 1
        error = json.loads(capsys.readouterr().out)["error"]
        assert "w.workflow.yaml failed: 0 things to publish" in error["message"]
        assert "all 1 of its changes were undone in the scene" in error["message"]
        running.app.records.flush()
        assert main(["report", "--call", error["call"]]) == 0
        kept = capsys.readouterr().out
        for told in (error["message"], kept):
            asked = re.search(r"workflows__status (\{.*?\})", told)
            assert asked is not None, told
            assert main(["call", "workflows__status", "--json", asked[1]]) == 0
            steps = json.loads(capsys.readouterr().out)["steps"]
            assert [step["step"] for step in steps] == ["a", "count", "step_5"]


def test_the_job_carries_the_result(tmp_path):
    with server(tmp_path, "steps:\n" + add("a")) as running, running.client() as client:
        id = start(client)
        ended(client, id)
        job = client.call("jobs__status", {"job_id": id})["structuredContent"]
        assert job["progress"]["total"] == 1
        job = job_ended(client, id)
        assert job["status"] == "completed"
        assert job["result"]["structuredContent"]["steps"][0]["status"] == "completed"


def test_a_failed_step_undoes_the_earlier_ones_as_a_group(tmp_path):
    text = "steps:\n" + add("a") + add("b") + "  - {id: c, tool: s__half, args: {name: c}}\n"
    with server(tmp_path, text) as running, running.client() as client:
        before = objects(running)
        run = ended(client, start(client))
        assert run["status"] == "failed"
        assert "half done" in run["message"]
        assert run["undone"] == {"steps": 2, "left": 0}
        assert [step["status"] for step in run["steps"]] == ["completed", "completed", "failed"]
        assert objects(running) == before
        # The panel shows these changes as undone too.
        assert [one.undone for one in running.app.dispatcher.changed.all()] == [True, True]


def test_a_retry_starts_from_a_clean_scene(tmp_path):
    text = (
        "steps:\n  - {id: a, tool: s__shaky, args: {name: a}, "
        "retry: {max_attempts: 3, backoff: fixed, initial_delay_ms: 1}}\n"
    )
    with server(tmp_path, text) as running, running.client() as client:
        before = objects(running)
        run = ended(client, start(client))
        assert run["status"] == "completed"
        assert run["steps"][0]["attempts"] == 3
        assert len(objects(running)) == len(before) + 1


def test_a_step_has_a_time_limit(tmp_path):
    text = "steps:\n" + add("a") + "  - {id: b, tool: s__forever, timeout_secs: 0.05}\n"
    with server(tmp_path, text) as running, running.client() as client:
        run = ended(client, start(client))
        assert run["status"] == "failed"
        assert run["steps"][1]["error"]["code"] == -31002
        assert run["undone"] == {"steps": 1, "left": 0}


@pytest.mark.parametrize("how", ["workflows__cancel", "jobs__cancel"])
def test_cancel_in_the_middle_of_ten_steps(tmp_path, how):
    steps = [add(f"o{n}") for n in range(10)]
    steps[5] = "  - {id: o5, tool: s__wait, args: {name: o5}}\n"
    with server(tmp_path, "steps:\n" + "".join(steps)) as running, running.client() as client:
        before = objects(running)
        id = start(client)
        poll(client, id, begun("o5"))
        key = "run_id" if how == "workflows__cancel" else "job_id"
        client.call(how, {key: id})
        run = ended(client, id)
        assert run["status"] == "cancelled"
        assert run["undone"] == {"steps": 5, "left": 0}
        assert [step["status"] for step in run["steps"]] == ["completed"] * 5 + ["cancelled"]
        assert objects(running) == before


def test_what_somebody_else_did_afterwards_is_kept_and_told(tmp_path):
    text = "steps:\n" + add("a") + "  - {id: b, tool: s__forever}\n"
    with server(tmp_path, text) as running, running.client() as client:
        id = start(client)
        poll(client, id, begun("b"))
        client.call("s__add", {"name": "theirs"})
        run = client.call("workflows__cancel", {"run_id": id})["structuredContent"]
        assert run["undone"] == {"steps": 0, "left": 1}
        assert "had to stay" in run["message"]
        assert {n.rsplit("/")[-1] for n in objects(running)} >= {"a", "theirs"}
        assert not any(one.undone for one in running.app.dispatcher.changed.all())


@pytest.mark.parametrize(("action", "status"), [("accept", "completed"), ("decline", "failed")])
def test_approval_is_asked_of_the_client(tmp_path, action, status):
    text = "steps:\n" + add("a") + '  - {id: ok, approve: "Keep {{a.path}}?"}\n'
    asked = []

    def answer(params):
        asked.append(params["message"])
        return {"action": action, "content": {}}

    answers = {"elicitation/create": answer}
    with server(tmp_path, text) as running, running.client({"elicitation": {}}, answers) as client:
        client.listen()
        run = ended(client, start(client))
        assert run["status"] == status
        (question,) = asked
        assert question.startswith("Keep ")
        if action == "decline":
            assert run["undone"] == {"steps": 1, "left": 0}


def test_a_client_that_cannot_be_asked_gets_no_approval(tmp_path):
    text = "steps:\n" + add("a") + "  - {id: ok, approve: Go on?}\n" + add("b")
    with server(tmp_path, text) as running, running.client() as client:
        before = objects(running)
        run = ended(client, start(client))
        assert run["status"] == "failed"
        assert "declare" in run["message"]
        assert objects(running) == before


TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}


@pytest.mark.parametrize(("action", "status"), [("accept", "completed"), ("decline", "failed")])
def test_a_stateless_client_approves_by_its_task(tmp_path, action, status):
    text = "steps:\n" + add("a") + "  - {id: ok, approve: Keep it?}\n"
    with server(tmp_path, text) as running:
        client = Stateless(running.client(), {"elicitation": {}, **TASKS})
        id = client.call("workflows__run", {"name": "s.w"})["taskId"]

        def asks():
            task = client.request("tasks/get", {"taskId": id})["result"]
            return task["status"] != "working" and task

        task = until(asks, "the question")
        ((key, asked),) = task["inputRequests"].items()
        assert asked["params"]["message"] == "Keep it?"
        answers = {key: {"action": action, "content": {}}}
        client.request("tasks/update", {"taskId": id, "inputResponses": answers})
        assert ended(client, id)["status"] == status


def test_a_stateless_client_without_tasks_is_not_waited_for(tmp_path):
    text = "steps:\n" + add("a") + "  - {id: ok, approve: Keep it?}\n"
    with server(tmp_path, text) as running:
        client = Stateless(running.client(), {"elicitation": {}})
        run = ended(client, start(client))
        assert run["status"] == "failed"
        assert "tasks extension" in run["message"]


@pytest.mark.parametrize(
    ("text", "inputs", "words"),
    [
        ("steps:\n" + add("a") + "  - {tool: s__nothing}\n", {}, "unknown tool"),
        ("steps:\n" + add("a") + "  - {tool: s__missing}\n", {}, "capability_missing"),
        ("inputs: {n: {type: integer}}\nsteps:\n" + add("a"), {"n": "x"}, "inputs.n"),
        ("inputs: {n: {type: integer}}\nsteps:\n" + add("a"), {}, "needs the input 'n'"),
        ("steps:\n" + add("a"), {"n": 1}, "no input 'n'"),
    ],
)
def test_what_cannot_end_does_not_start(tmp_path, text, inputs, words):
    with server(tmp_path, text) as running, running.client() as client:
        before = objects(running)
        run = ended(client, start(client, **inputs))
        assert (run["status"], run["steps"]) == ("failed", [])
        assert words in run["message"]
        assert objects(running) == before


def test_unknown_names_are_answered_with_what_there_is(tmp_path):
    with server(tmp_path, "steps:\n" + add("a")) as running, running.client() as client:
        handle = client.call("workflows__run", {"name": "s.v"})["structuredContent"]
        assert "s.w" in ended(client, handle["job_id"])["message"]
        response = client.request(
            "tools/call", {"name": "workflows__status", "arguments": {"run_id": "../../x"}}
        )
        assert "no such run" in response["error"]["message"]


def test_a_workflow_that_cannot_be_read_is_told_with_its_line(tmp_path):
    broken = "steps:\n  - branch: {when: true, then: []}\n"
    with server(tmp_path, broken) as running, running.client() as client:
        handle = client.call("workflows__run", {"name": "s.w"})["structuredContent"]
        told = ended(client, handle["job_id"])["message"]
    assert "unknown workflow 's.w'" in told
    assert "not read: s/w.workflow.yaml:3: " in told
    assert "needs a reference" in told


def test_every_step_is_recorded_like_any_call(tmp_path):
    text = "steps:\n" + add("a") + add("b")
    with server(tmp_path, text, records=True) as running, running.client() as client:
        ended(client, start(client))
        running.app.records.flush()
        tools = [call.tool for call in running.app.records.reader().recent().calls]
        assert tools.count("s__add") == 2


def test_a_workflow_does_not_run_itself(tmp_path):
    text = "steps:\n  - {tool: workflows__run, args: {name: s.w}}\n"
    with server(tmp_path, text) as running, running.client() as client:
        run = ended(client, start(client))
        assert run["status"] == "failed"
        assert "another" in run["message"]


@pytest.mark.parametrize("parallel", [False, True])
def test_a_stopped_server_leaves_an_interrupted_run(tmp_path, caplog, parallel):
    text = "steps:\n" + add("a")
    if parallel:
        text += "  - id: both\n    parallel:\n      - {id: b, tool: s__forever}\n"
        text += "      - {id: c, tool: s__forever}\n"
    else:
        text += "  - {id: b, tool: s__forever}\n"
    with server(tmp_path, text) as running, running.client() as client:
        id = start(client)
        poll(client, id, begun("b"))
    gc.collect()
    assert "never retrieved" not in caplog.text
    with server(tmp_path, text) as running, running.client() as client:
        run = client.call("workflows__status", {"run_id": id})["structuredContent"]
        assert run["status"] == "interrupted"
        (listed,) = client.call("workflows__status")["structuredContent"]["runs"]
        assert (listed["run_id"], listed["status"]) == (id, "interrupted")


SERVE = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from serving import served
with served(skills=True, skill_paths=[Path(sys.argv[1])]) as running:
    print(running.app.url, running.app.token, flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_after_a_killed_process_the_run_is_interrupted_not_running(tmp_path):
    text = "steps:\n" + add("a") + "  - {id: b, tool: s__forever}\n"
    with server(tmp_path, text):
        """Writes the skill."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(tmp_path / "skills"), *sys.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        url, token = process.stdout.readline().split()
        with server(tmp_path, text) as running, running.client() as client:
            with FakeClient(url, token) as theirs:
                id = start(theirs)
                poll(theirs, id, begun("b"))
                other = client.call("workflows__status", {"run_id": id})["structuredContent"]
                assert other["status"] == "running"
                process.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
                process.wait(DEADLINE)
            run = client.call("workflows__status", {"run_id": id})["structuredContent"]
            assert run["status"] == "interrupted"
            assert "look at the scene" in run["message"]
    finally:
        process.kill()
        process.wait(DEADLINE)
        process.stdin.close()
        process.stdout.close()


def test_a_damaged_file_loses_only_itself(tmp_path):
    with server(tmp_path, "steps:\n" + add("a")) as running, running.client() as client:
        ended(client, start(client))
        folder = Path(tmp_path / "home" / "workflows")
        (folder / "broken.json").write_text("{")
        (folder / "odd.json").write_text(json.dumps({"run_id": "odd", "process": "../..", "x": 1}))
        runs = client.call("workflows__status")["structuredContent"]["runs"]
        assert "completed" in {run.get("status") for run in runs}
        assert text_of(client.call("s__names"))
