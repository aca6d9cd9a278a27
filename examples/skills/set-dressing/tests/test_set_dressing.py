import json

import pytest

from callboard.errors import CapabilityMissing
from callboard_testing.skill_bench import ToolFailed

YES = {"action": "accept", "content": {}}
NO = {"action": "decline"}


@pytest.fixture
def prop_list(tmp_path):
    path = tmp_path / "props.csv"
    path.write_text("name,x,y,z\nlamp,1,0,0\nchair,0,0,2.5\n", encoding="utf-8")
    return str(path)


def test_it_is_well_made(callboard_skill):
    assert callboard_skill.lint() == []


def test_a_ring_is_placed_and_cleared(callboard_skill):
    placed = callboard_skill.call("ring", count=4, radius=2)["placed"]
    assert [step["progress"] for step in callboard_skill.progress] == [1, 2, 3, 4]
    assert callboard_skill.call("scene__get_object", name=placed[1])["translate"][2] == 2

    callboard_skill.answers["elicitation/create"] = NO
    assert callboard_skill.call("clear") == {"deleted": []}
    callboard_skill.answers["elicitation/create"] = YES
    assert len(callboard_skill.call("clear")["deleted"]) == 4


def test_a_stand_in_is_placed(callboard_skill):
    placed = callboard_skill.call("stand_in", name="lamp", position=[1, 2, 3], kind="sphere")
    there = callboard_skill.call("scene__get_object", name=placed["path"])
    assert (there["type"], there["translate"]) == ("sphere", [1, 2, 3])
    with pytest.raises(ToolFailed, match="kind"):
        callboard_skill.call("stand_in", name="lamp", kind="lamp")


def test_the_resources(callboard_skill):
    assert "prop_<name>" in callboard_skill.read("set-dressing://conventions")
    callboard_skill.call("place", name="lamp", position=[1, 2, 3])
    assert json.loads(callboard_skill.read("set-dressing://props/la")) == {"prop_lamp": [1, 2, 3]}


def test_a_list_with_other_columns(callboard_skill, tmp_path):
    path = tmp_path / "wrong.csv"
    path.write_text("prop\nlamp\n", encoding="utf-8")
    with pytest.raises(ToolFailed, match="columns name, x, y and z"):
        callboard_skill.call("read_list", path=str(path))


@pytest.mark.parametrize("callboard_withdrawn", [["scene.mutate"]])
def test_nothing_is_placed_where_the_artist_said_no(callboard_withdrawn, callboard_skill):
    with pytest.raises(CapabilityMissing, match=r"scene\.mutate"):
        callboard_skill.call("ring", count=4, radius=2)


def test_the_prompt(callboard_skill):
    assert "Dress the set for sh010, as in the brief." in callboard_skill.prompt(
        "dress", shot="sh010"
    )


@pytest.mark.parametrize(("answer", "left"), [(YES, 2), (NO, 0)])
def test_the_workflow_keeps_what_is_approved(callboard_skill, prop_list, answer, left):
    callboard_skill.answers["elicitation/create"] = answer
    if left:
        callboard_skill.workflow("dress_from_list", list=prop_list)
    else:
        with pytest.raises(ToolFailed, match="all 2 of its changes were undone"):
            callboard_skill.workflow("dress_from_list", list=prop_list)
    assert callboard_skill.call("scene__list_objects", pattern="prop_*")["total"] == left
