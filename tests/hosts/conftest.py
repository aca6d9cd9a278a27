"""Puts the doubles at the end of the path, so that inside an application its own Python modules
come first."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from callboard_testing.fake_client import FakeClient
    from hosts.blender_gui_rig import Display, Gui

sys.path.append(str(Path(__file__).parent / "doubles"))


#: The Python versions of Maya, Houdini and 3ds Max. On other versions, tests of the doubles would
#: prove nothing.
if sys.version_info[:2] not in {(3, 10), (3, 11), (3, 13)}:
    collect_ignore_glob = [
        "test_maya*.py",
        "test_houdini*.py",
        "test_max*.py",
        "test_qt_plugin*.py",
    ]

if room := os.environ.get("CALLBOARD_BLENDER_ROOM"):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", f"{room}/tmp")


#: Checks that use names of the application that no other quick test uses. The double refuses wrong
#: ones.
IN_QUICK = {
    "houdini": """
        CheckingFiles.test_a_picture_that_is_gone_is_told
        ExchangedFiles.test_what_is_imported_is_below_its_parent
        Geometry.test_uvs_are_told
        Materials.test_what_others_share_changes_only_where_that_is_said
        SavedStructure.test_it_is_in_the_file
        Structure.test_a_group_gathers_objects_and_moves_none
        Structure.test_bad_input_changes_nothing
        Textures.test_the_change_is_one_step_read_back_and_rolled_back
        Undo.test_what_was_undone_is_gone_after_a_change
        UsdFile.test_units_and_axes_are_converted
        UsdFile.test_what_is_exported_is_imported
    """,
    "max": """
        CheckingFiles.test_a_picture_that_is_gone_is_told
        Geometry.test_it_is_rounded_and_edged_again
        Geometry.test_light_runs_over_edges_or_stops
        Geometry.test_uvs_are_told
        Materials.test_faces_can_have_one_of_their_own
        SavedCameras.test_they_are_in_the_file
        SavedLights.test_they_are_in_the_file
        SavedStructure.test_it_is_in_the_file
        Selecting.test_the_selection_is_replaced
        Textures.test_every_slot_takes_a_picture
        Textures.test_one_channel_drives_a_number
    """,
    "maya": """
        Assets.test_each_kind_needs_only_what_it_uses
        Attributes.test_a_change_is_one_step_read_back_and_rolled_back
        CheckingFiles.test_a_picture_that_is_gone_is_told
        ExchangedFiles.test_units_are_said_of_files_that_say_none
        ExchangedFiles.test_what_is_imported_is_below_its_parent
        Geometry.test_faces_look_where_they_should
        Keys.test_keys_are_deleted_in_a_range
        Lights.test_every_kind_has_its_values
        SavedCameras.test_they_are_in_the_file
        SavedStructure.test_it_is_in_the_file
        SceneFile.test_what_tools_call_verified_is_there_after_the_next_load
        Structure.test_a_group_gathers_objects_and_moves_none
        Undo.test_what_was_undone_is_gone_after_a_change
    """,
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the doubles' compliance suite to the sweep tier, apart from ``IN_QUICK``. The suite is
    the same in every host, and the quick tier runs it in OpenUSD."""
    for item in items:
        if item.name.startswith(("test_compliance[", "test_the_checks_of_")):
            quick = IN_QUICK.get(item.path.stem.removeprefix("test_"), "").split()
            if item.name.removeprefix("test_compliance[").removesuffix("-windows]") not in quick:
                item.add_marker("sweep")


@pytest.fixture(scope="session")
def blender_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the light add-on for Blender 3.4 to 4.1. It comes from the folder
    ``CALLBOARD_ARCHIVES``, if that is set."""
    from build_requirements import BuildError
    from hosts.blender_gui_rig import build_addon

    folder = tmp_path_factory.mktemp("archive")
    try:
        if built := os.environ.get("CALLBOARD_ARCHIVES"):
            (addon,) = Path(built).glob("callboard-blender-*-legacy.zip")
            # A Blender in a different Debian system has access to this folder only.
            return Path(shutil.copy(addon, folder))
        return build_addon(folder)
    except BuildError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def display() -> Iterator[Display]:
    """Yield the tests' own display."""
    from hosts.blender_gui_rig import screen

    with screen() as name:
        yield name


@pytest.fixture(scope="module")
def new_window(
    blender_archive: Path, display: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Gui]]:
    """Yield a function that starts a Blender with the add-on installed."""
    from hosts.blender_gui_rig import blender_gui, install

    with ExitStack() as stack:

        def new() -> Gui:
            gui = stack.enter_context(blender_gui(tmp_path_factory.mktemp("gui"), display))
            install(gui, blender_archive)
            return gui

        yield new


@pytest.fixture(scope="module")
def windows() -> list[Gui]:
    """Return the Blenders that this module's tests have started. The last one is in use."""
    return []


#: Blender can refuse every change after a render and the drawing of a panel have overlapped.
_WRITES = """
try:
    bpy.context.scene.frame_start = bpy.context.scene.frame_start
    answer = True
except AttributeError:
    answer = False
"""


def _works(window: Gui) -> bool:
    try:
        return bool(window.run(_WRITES))
    except (AssertionError, TimeoutError):
        return False


@pytest.fixture
def gui(windows: list[Gui], new_window: Callable[[], Gui]) -> Iterator[Gui]:
    """Yield Blender's window with a new scene, the cube selected, and a server. All tests of a
    module share one Blender, as long as it works."""
    if not windows or not _works(windows[-1]):
        windows.append(new_window())
    window = windows[-1]
    window.run("bpy.ops.wm.read_homefile(use_factory_startup=False, load_ui=False)")
    window.enable()
    yield window
    window.run("bpy.ops.preferences.addon_disable(module='callboard_addon')")


@pytest.fixture
def client(gui: Gui) -> Iterator[FakeClient]:
    with gui.client() as client:
        yield client
