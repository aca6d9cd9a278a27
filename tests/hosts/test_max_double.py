"""The double is strict: it accepts nothing that 3ds Max would refuse."""

from __future__ import annotations

from typing import Any

import pytest
from max_rig import REAL, new_max, pymxs
from other_thread import elsewhere
from test_adapter_names import of_max, unsourced

if REAL:
    pytest.skip("there is no double inside 3ds Max", allow_module_level=True)

from pymxs import _runtime, _scene
from pymxs._session import session

rt = pymxs.runtime

#: Properties in the manual that the dump of 3ds Max 2021 leaves out.
UNSOURCED_OF_THE_DOUBLE = {"standardmaterial.diffuse", "standardmaterial.diffusemap"}


@pytest.fixture(autouse=True)
def new() -> None:
    new_max(windows=True)


def test_it_has_nothing_that_3ds_max_has_not() -> None:
    tables = (_runtime._NAMES, _runtime._VALUES, _runtime._FBX, _runtime._STRUCTS)
    named = {name for table in (*tables, _runtime._GLOBALS) for name in table}
    assert [n for n in named if of_max(n) is None and n.lower() not in unsourced("max")] == []
    classes = {name: parameters for name, (_, parameters) in _scene.OBJECTS.items()}
    classes |= {**_scene.MODIFIERS, **_scene.MATERIALS, **_scene.MAPS}
    more = {
        f"{name}.{each}".lower()
        for name, parameters in classes.items()
        for each in parameters
        if not each.startswith("_") and each.lower() not in (of_max(name) or ())
    }
    assert more == UNSOURCED_OF_THE_DOUBLE


def test_unknown_functions_events_parameters_and_properties() -> None:
    with pytest.raises(AttributeError):
        rt.noSuchFunction()
    with pytest.raises(AttributeError):
        rt.maxOps.noSuchMethod()
    with pytest.raises(RuntimeError, match="unknown callback"):
        rt.callbacks.addScript(rt.Name("noSuchEvent"), print, id=rt.Name("x"))
    with pytest.raises(RuntimeError, match="no parameter"):
        rt.Sphere(radus=2)
    ball = rt.Sphere(radius=2)
    with pytest.raises(AttributeError, match="Unknown property"):
        ball.colour  # noqa: B018
    with pytest.raises(AttributeError, match="Unknown property"):
        ball.colour = 3
    with pytest.raises(AttributeError, match="Unknown system global"):
        rt.sliderTimes = 4


def test_every_call_is_on_the_main_thread() -> None:
    ball = rt.Sphere()
    for call in (
        lambda: rt.objects,
        lambda: rt.callbacks.removeScripts(id=rt.Name("x")),
        lambda: ball.name,
        lambda: pymxs.undo(True, "x").__enter__(),
    ):
        with pytest.raises(RuntimeError, match="was called from"):
            elsewhere(call)


def test_calls_after_the_unload_raise() -> None:
    from callboard_max.application import names

    session.unloaded = True
    with pytest.raises(RuntimeError, match="after the bundle was unloaded"):
        names.objects()


def test_what_would_open_a_prompt_raises(tmp_path: Any) -> None:
    with pytest.raises(RuntimeError, match="modal prompt"):
        rt.loadMaxFile(str(tmp_path / "x.max"))
    with pytest.raises(RuntimeError, match="modal prompt"):
        rt.resetMaxFile(rt.Name("prompt"))
    with pytest.raises(RuntimeError, match="modal prompt"):
        rt.save(rt.bitmap(4, 4))


def test_windows_need_windows() -> None:
    new_max(windows=False)
    with pytest.raises(RuntimeError, match="without a GUI"):
        rt.gw.getViewportDib()


def test_what_python_does_outside_of_an_undo_block_is_recorded_nowhere() -> None:
    rt.Box(name="Unrecorded")
    with pymxs.undo(True, "recorded"):
        rt.Box(name="Recorded")
    assert [label for label, _ in session.undo] == ["recorded"]
    node = rt.getNodeByName("Recorded")
    rt.execute("max undo")
    assert [str(each.name) for each in rt.objects] == ["Unrecorded"]
    with pytest.raises(RuntimeError, match="deleted scene object"):
        node.name  # noqa: B018


def test_rendering_takes_known_arguments_a_camera_and_no_windows(tmp_path: Any) -> None:
    camera = rt.Freecamera(name="Shot")
    file = str(tmp_path / "a.png")
    with pytest.raises(TypeError):
        rt.render(camera=camera, path=file, vfb=False, quiet=True)
    with pytest.raises(RuntimeError, match="needs a camera"):
        rt.render(camera=rt.Box(), outputfile=file, vfb=False, quiet=True)
    with pytest.raises(RuntimeError, match="open a window"):
        rt.render(camera=camera, outputfile=file, quiet=True)
    with pytest.raises(RuntimeError, match="modal prompt"):
        rt.render(camera=camera, outputfile=file, vfb=False)


def test_what_is_done_with_undo_off_inside_a_block_is_not_recorded() -> None:
    with pymxs.undo(True, "block"), pymxs.undo(False):
        rt.delete(rt.Freecamera(name="Shot"))
    assert (session.undo, session.puts) == ([], 0)
