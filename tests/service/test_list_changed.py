"""A thousand changes to the served tools and prompts, each followed by a list. No list is stale,
and no listener misses a change."""

from __future__ import annotations

import itertools

import pytest

from serving import served
from skills.skill_tree import write_files, write_skill
from stateless_client import Stateless

ROUNDS = 1000
TOPICS = {"toolsListChanged": True, "promptsListChanged": True}


def names(response, key):
    return {entry["name"] for entry in response["result"][key]}


def skill_files(tool):
    prompts = f"prompts: [{{name: p_{tool}, description: d, template: t}}]\n"
    return {
        "tools.yaml": f"tools: [{{name: {tool}, description: d, affinity: any}}]\n",
        "prompts.yaml": prompts,
    }


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))


@pytest.mark.slow
def test_a_list_asked_for_after_a_change_shows_it_and_both_eras_hear(tmp_path):
    block = "tools: tools.yaml\nprompts: prompts.yaml"
    one = write_skill(tmp_path, "one", block=block, files=skill_files("first"))
    write_skill(tmp_path, "two", block=block, files=skill_files("other"))
    with served(skills=True, skill_paths=[tmp_path]) as running, running.client() as session:
        session.listen()
        stateless = Stateless(running.client())
        stateless.listen(**TOPICS)
        app = running.app
        expected = {
            "tools": {"one__first", "two__other"},
            "prompts": {"one.p_first", "two.p_other"},
        }

        def put(key, present, *names):
            expected[key] = (expected[key] | set(names)) if present else expected[key] - set(names)

        def edit(round):
            tool = f"edited_{round}"
            write_files(one, skill_files(tool))
            app.catalog.refresh()
            for key, begin in (("tools", "one__"), ("prompts", "one.")):
                expected[key] = {n for n in expected[key] if not n.startswith(begin)}
            put("tools", True, f"one__{tool}")
            put("prompts", True, f"one.p_{tool}")

        def load_or_unload(round):
            loaded = "two__other" in expected["tools"]
            session.call("skills__unload" if loaded else "skills__load", {"name": "two"})
            put("tools", not loaded, "two__other")
            put("prompts", not loaded, "two.p_other")

        def register(round):
            app.tools.register(f"dynamic_{round}", lambda: None, "Does nothing.")
            app.prompts.register_prompt(name=f"dynamic_{round}", template="t")
            put("tools", True, f"dynamic_{round}")
            put("prompts", True, f"dynamic_{round}")

        def unregister(round):
            app.tools.replace([f"dynamic_{round - 1}"], [])
            app.prompts.unregister_prompt(f"dynamic_{round - 1}")
            put("tools", False, f"dynamic_{round - 1}")
            put("prompts", False, f"dynamic_{round - 1}")

        changes = (load_or_unload, edit, register, unregister)
        known = {key: names(session.request(f"{key}/list"), key) for key in expected}
        always = {key: known[key] - expected[key] for key in expected}
        assert all(expected[key] <= known[key] for key in expected)
        for round, change in zip(range(ROUNDS), itertools.cycle(changes)):
            change(round)
            # The two clients take turns. Each turn covers one change of every kind.
            client = session if round // len(changes) % 2 else stateless
            for key in expected:
                listed = names(client.request(f"{key}/list"), key)
                assert listed - always[key] == expected[key], (round, change.__name__)
        for key in expected:
            for client in (session, stateless.raw):
                client.wait_for(f"notifications/{key}/list_changed", ROUNDS)


def test_an_edited_file_is_heard_of_without_asking(tmp_path):
    folder = write_skill(tmp_path, "one", files=skill_files("first"))
    with served(skills=True, skill_paths=[tmp_path]) as running, running.client() as session:
        session.listen()
        stateless = Stateless(running.client())
        stateless.listen(**TOPICS)
        write_files(folder, skill_files("second"))
        for client in (session, stateless.raw):
            client.wait_for("notifications/tools/list_changed")
        for client in (session, stateless):
            assert "one__second" in names(client.request("tools/list"), "tools")
