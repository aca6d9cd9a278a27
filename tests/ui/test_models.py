from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from needed import need

need("qt")

from qtpy.QtCore import QPersistentModelIndex, Qt

from callboard_ui.calls_model import CallRow, CallsModel
from callboard_ui.rows import Row, RowsModel

QUIET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
names = st.lists(st.sampled_from("abcdef"), unique=True, max_size=5)
trees = st.dictionaries(st.sampled_from("uvwxyz"), st.tuples(names, st.integers(0, 2)), max_size=5)


def rows(tree: dict[str, Any]) -> list[Row]:
    return [
        Row(key, (key, str(n)), rows=tuple(Row(c, (c, str(n)), "check", "bad") for c in children))
        for key, (children, n) in tree.items()
    ]


def texts(model: RowsModel) -> list[Any]:
    rows = []
    for number in range(model.rowCount()):
        at = model.index(number, 0)
        inner = [model.index(n, 1, at).data() for n in range(model.rowCount(at))]
        rows.append((at.data(), model.index(number, 1).data(), inner))
    return rows


@QUIET
@given(steps=st.lists(trees, min_size=1, max_size=6))
def test_rows_follow_whatever_they_are_set_to(qtbot: Any, qtmodeltester: Any, steps: Any) -> None:
    model = RowsModel(("One", "Two"))
    qtmodeltester.check(model, force_py=False)
    for tree in steps:
        model.set_rows(rows(tree))
        assert texts(model) == [(k, str(n), [str(n)] * len(c)) for k, (c, n) in tree.items()]


def test_rows_in_groups_are_a_sound_model(qtbot: Any, qtmodeltester: Any) -> None:
    model = RowsModel(("One", "Two"))
    model.set_rows([Row("g", ("G",), rows=(Row("a", ("A", "1"), checked=True),)), Row("h", ("H",))])
    qtmodeltester.check(model)
    told = []
    model.on_check = lambda row, wanted: told.append((row.key, wanted))
    index = model.find("a", "g")
    assert model.setData(index, Qt.CheckState.Unchecked, Qt.ItemDataRole.CheckStateRole)
    assert told == [("a", False)]
    assert not model.find("a", "h").isValid()


def test_what_is_selected_in_a_group_stays_when_groups_above_it_go_and_come(qtbot: Any) -> None:
    model = RowsModel(("One", "Two"))
    upper, middle, lower = rows({"u": ("ab", 0), "v": ("c", 0), "w": ("cd", 0)})
    model.set_rows([upper, middle, lower])
    selected = QPersistentModelIndex(model.find("d", "w"))
    for shown in ([lower], [middle, lower], [upper, middle, lower], [upper, lower]):
        model.set_rows(shown)
        assert selected.isValid()
        row = model.row(selected)
        assert row is not None
        assert row.key == "d"
        assert selected.parent().data() == "w"
    model.set_rows([upper])
    assert not selected.isValid()


def call(number: int, state: str = "ok") -> CallRow:
    return CallRow(f"id{number}", f"tool{number}", "agent", state, 1000.0 + number, 5.0, 1.0, 2.0)


def ids(model: CallsModel) -> list[str]:
    return [model.row(model.index(n, 0)).id for n in range(model.rowCount())]


def test_calls_are_a_sound_model_while_they_come_and_end(qtbot: Any, qtmodeltester: Any) -> None:
    model = CallsModel()
    qtmodeltester.check(model)
    model.set_running([call(1, "running"), call(2, "waiting")])
    assert ids(model) == ["id2", "id1"]
    # The call has ended, but its record hasn't been read yet, so it stays.
    model.set_running([call(2, "running")])
    assert ids(model) == ["id2", "id1"]
    assert not model.set_newest([call(1)])
    assert ids(model) == ["id2", "id1"]
    assert model.row(model.index(1, 0)).state == "ok"
    assert model.set_newest([call(4), call(3), call(1)])
    model.add_older([call(1), call(0)])
    assert ids(model) == ["id2", "id4", "id3", "id1", "id0"]
    # Too many calls were added at once, so the list would have a gap before the calls that it had.
    assert not model.set_newest([call(9), call(8)])
    assert ids(model) == ["id2", "id9", "id8"]
    model.drop_running(set())
    model.clear()
    assert ids(model) == []


def test_a_call_reads_the_same_for_eyes_and_screen_readers(qtbot: Any) -> None:
    model = CallsModel()
    model.set_newest([call(1, "refused")])
    index = model.index(0, 0)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "tool1, refused, 5 ms"
    assert [model.index(0, n).data() for n in (0, 1, 2, 3, 5, 6)] == [
        *("tool1", "refused", "5 ms", "agent", "1 ms", "2 ms")
    ]
