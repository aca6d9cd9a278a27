"""The checks of the self-test, in their order. Importing and exporting are tested first, because
some plug-ins fail only the first time that they are used in a session."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from callboard.content import Json
from callboard.errors import CallboardError
from callboard.ports import capability_names as names
from callboard.ports.edit import DIMENSIONS, NotOffered
from callboard.ports.exchange import UNSTATED, Axes, FileFormat
from callboard.ports.host import Work
from callboard.ports.look import Look
from callboard.selftest.pictures import figures, figures_of, why_blank, why_not_gray
from callboard.selftest.trial import GONE, Findings, Trial

#: Seconds that the simulated actions of the artist last, and that a dialog may take to open.
ACTING, OPENING = 1.5, 5.0
#: Seconds: the maximum delay of an undo that is considered reported in time, the maximum delay of
#: one that is considered reported at all, and the longest visit to the main thread that isn't
#: considered slow.
REPORTED, LATE, SLOW = 0.25, 3.0, 1.0
#: The number of measurements, the seconds between two of them, and the size of the picture in
#: pixels.
TIMES, PAUSE, WIDE, HIGH = 60, 0.02, 160, 120
#: A linear gray, and its usual value in a picture.
GRAY, GRAY_SHOWN = 0.18, 118


@dataclass(frozen=True)
class SelfCheck:
    """One check. ``use`` describes the purpose of its findings."""

    name: str
    title: str
    use: str
    run: Callable[[Trial, Findings], Awaitable[None]]


async def _exchange(trial: Trial, into: Findings) -> None:
    port = trial.port(names.EXCHANGE)
    for one in await trial.main(port.formats):
        if not one.reads or not one.writes:
            can = "is only read" if one.reads else "is only written" if one.writes else "isn't here"
            into.absent.append(f"{one.name} {can}: {one.missing or 'no reason is given'}")
            continue
        both = [suffix for suffix in one.writes if suffix in one.reads]
        outcome = into.data[one.name] = {"suffix": (both or one.writes)[0]}
        with _noting(into, one.name):
            outcome.update(await _round_trip(trial, port, one, outcome["suffix"]))
            objects, faces = outcome["objects"], outcome["faces"]
            if not objects:
                into.faults.append(f"{one.name}: nothing came back from the file")
            elif faces not in (None, 6, 12):
                into.faults.append(f"{one.name}: a cube came back with {faces} faces")
            else:
                into.good.append(f"{one.name}: a cube was written and read back")


async def _round_trip(trial: Trial, port: Any, one: FileFormat, suffix: str) -> Json:
    reader, editor = trial.port(names.SCENE_READ), trial.port(names.SCENE_MUTATE)
    checks: Any = trial.host.ports.get(names.CHECK)
    path = str(trial.folder / f"cube{suffix}")
    axes = Axes(one.meters_per_unit, one.up_axis) if one.name in UNSTATED else None
    cube, _ = await trial.step("cube", lambda: editor.create("cube", "Cube", {"size": 2.0}))
    await trial.main(lambda: port.export_file(path, [cube], axes), "files")
    await trial.step("delete", lambda: editor.delete([cube]))
    before = set(await trial.main(reader.names))
    await trial.step("import", lambda: port.import_file(path, None, axes))

    def arrived() -> Json:
        new = [each for each in reader.names() if each not in before]
        meshes = set() if checks is None else {*checks.meshes()}
        faces = sum(checks.face_count(each) for each in new if each in meshes) if checks else None
        if new:
            editor.delete(new)
        return {"objects": len(new), "faces": faces}

    answer, _ = await trial.step("delete", arrived)
    return dict(answer)


async def _plug_ins(trial: Trial, into: Findings) -> None:
    for capability, plug_in in trial.host.plug_ins.items():
        if capability in trial.host.ports:
            into.good.append(f"{plug_in.name} is loaded")
        elif plug_in.load is None:
            into.absent.append(f"{plug_in.name}: {plug_in.advice}")
        else:
            with _noting(into, plug_in.name):
                await trial.main(plug_in.load, "change")
                into.good.append(f"{plug_in.name} wasn't loaded, and could be loaded")
    if not trial.host.plug_ins:
        raise NotOffered("no tool needs a plug-in here")


async def _loop(trial: Trial, into: Findings) -> None:
    for what, measured in (("heartbeat", partial(asyncio.sleep, PAUSE)), ("hop", _hop(trial))):
        taken = []
        for _ in range(TIMES):
            began = perf_counter()
            await measured()
            taken.append(1000 * (perf_counter() - began) - 1000 * PAUSE * (what == "heartbeat"))
        into.data[what] = _spread(taken)
    beat, hop = into.data["heartbeat"], into.data["hop"]
    into.good.append(f"the server's loop is late by {beat['p50']} ms (p95 {beat['p95']} ms)")
    into.good.append(f"a call reaches the main thread in {hop['p50']} ms (p95 {hop['p95']} ms)")
    if hop["p95"] > 1000 * SLOW:
        into.faults.append(f"one call in twenty waited {hop['p95']} ms or more for the main thread")


def _hop(trial: Trial) -> Callable[[], Awaitable[Any]]:
    return lambda: trial.main(lambda: None)


def _spread(milliseconds: list[float]) -> Json:
    ordered = sorted(milliseconds)
    return {
        f"p{share}": round(ordered[min(len(ordered) * share // 100, len(ordered) - 1)], 2)
        for share in (50, 95)
    }


async def _primitives(trial: Trial, into: Findings) -> None:
    reader, editor, undo = (
        trial.port(names.SCENE_READ),
        trial.port(names.SCENE_MUTATE),
        trial.host.undo,
    )
    for kind, sizes in DIMENSIONS.items():

        def make(kind: Any = kind, sizes: dict[str, float] = sizes) -> tuple[str, str, float]:
            began = perf_counter()
            path = editor.create(kind, f"Test{kind.title()}", sizes)
            return path, reader.get(path)["type"], perf_counter() - began

        with _noting(into, kind):
            (path, type, seconds), id = await trial.step(kind, make)
            into.data[kind] = {"type": type, "seconds": round(seconds, 3), "undone": None}
            if seconds > SLOW:
                into.faults.append(f"{kind}: making it held the main thread for {seconds:.1f} s")
            if type != kind:
                into.faults.append(f"{kind}: the application calls it '{type}'")
            if undo is None:
                into.absent.append(f"{kind}: {trial.host.identity.name} has no undo")
                continue
            undone = await trial.main(partial(undo.undo, id), "change") if id else False
            gone = path not in await trial.main(reader.names)
            into.data[kind]["undone"] = bool(undone and gone)
            if not id:
                into.faults.append(f"{kind}: making it left no undo step")
            elif not (undone and gone):
                into.faults.append(f"{kind}: its undo {'left it there' if undone else 'failed'}")
            else:
                into.good.append(f"{kind}: made, and undone")


async def _undo_reports(trial: Trial, into: Findings) -> None:
    reader, editor = trial.port(names.SCENE_READ), trial.port(names.SCENE_MUTATE)
    if trial.host.undo is None:
        raise NotOffered(f"{trial.host.identity.name} has no undo")
    by_hand, reports = trial.act("undo"), []
    path, _ = await trial.step("cube", lambda: editor.create("cube", "Undone", {"size": 2.0}))
    await asyncio.sleep(2 * REPORTED)  # The reports of the new cube arrive first.
    # Some applications don't report which step was undone, but all report that the scene changed.
    unwatch = [
        trial.host.watch(lambda event: reports.append(perf_counter())),
        trial.host.undo.stepped.watch(lambda ids, undone: reports.append(perf_counter())),
    ]

    def undone() -> tuple[float, bool]:
        began = perf_counter()
        by_hand()
        return began, bool(reports)

    try:
        began, at_once = await trial.main(undone, "change")
        while not reports and perf_counter() - began < LATE:
            await asyncio.sleep(PAUSE)
    finally:
        for each in unwatch:
            each()
    delay = round(1000 * (reports[0] - began), 1) if reports else None
    into.data.update(at_once=at_once, milliseconds=delay)
    if path in await trial.main(reader.names):
        into.faults.append("the application's own undo left a new cube there")
    if delay is not None and delay < 1000 * REPORTED:
        when = "at once" if at_once else "by an event"
        into.good.append(f"the artist's undo is reported {when}, after {delay} ms")
    elif reports:
        into.faults.append(f"the artist's undo is reported late, after {delay} ms")
    else:
        into.faults.append(f"the artist's undo isn't reported within {LATE:g} s")


async def _playback(trial: Trial, into: Findings) -> None:
    await trial.main(partial(trial.act("play"), ACTING))
    waits, words = await _calls_for(trial, ACTING, "read")
    into.data.update(calls=len(waits), longest=max(waits), held_by=words)
    how = f"; it waited for '{words}'" if words else ""
    into.good.append(f"{len(waits)} calls were answered, the slowest in {max(waits):.0f} ms{how}")


async def _dialog(trial: Trial, into: Findings) -> None:
    await trial.main(partial(trial.act("dialog"), "Self-test", ACTING))
    waits, words = await _calls_for(trial, ACTING, "change", until_held=True)
    into.data.update(longest=max(waits), held_by=words)
    if words:
        into.good.append(f"a change waited until '{words}' was closed ({max(waits):.0f} ms)")
    else:
        into.faults.append("a change ran while a dialog of the application's was open")


async def _calls_for(
    trial: Trial, seconds: float, kind: Work, *, until_held: bool = False
) -> tuple[list[float], str]:
    """Make calls that do nothing, for that many seconds. If ``until_held`` is true, continue for
    longer if no call has been held up. Return the duration of each call in milliseconds, and the
    cause of the delay in the artist's words."""
    waits: list[float] = []
    words, began = "", perf_counter()
    while perf_counter() - began < (OPENING if until_held and not words else seconds):
        start = perf_counter()
        turn, answer = trial.begin(lambda: None, kind)
        answered = asyncio.ensure_future(trial.answer(turn, answer))
        while not answered.done():
            await asyncio.wait([answered], timeout=PAUSE)
            if not answered.done() and perf_counter() - start > 2 * PAUSE:
                words = trial.held_by(turn) or words
        await answered
        waits.append(1000 * (perf_counter() - start))
        await asyncio.sleep(PAUSE)
    return waits, words


async def _captures(trial: Trial, into: Findings) -> None:
    editor = trial.port(names.SCENE_MUTATE)
    pictures = {key: trial.host.ports.get(key) for key in (names.VIEWPORT, names.LOOK)}
    if not any(pictures.values()):
        raise NotOffered(f"{trial.host.identity.name} has no view here")
    # A view from anywhere nearby shows part of a ball of this size, and the picture then has more
    # than one color.
    await trial.step("ball", lambda: editor.create("sphere", "Shown", {"radius": 8.0}))
    states = ["as it was"]
    if "window" in trial.host.acts:
        states += ["covered", "minimized"]
    else:
        into.absent.append(
            f"a program can't cover or minimize {trial.host.identity.name}'s window: do it by "
            "hand, and start the self-test from a terminal"
        )
    for state in states:
        with _noting(into, f"window {state}"):
            if state != "as it was":
                await trial.main(partial(trial.act("window"), state))
                await asyncio.sleep(0.5)  # The window manager takes its time.
            for key, port in pictures.items():
                if port is not None:
                    await _capture(trial, into, f"{key}, window {state}", port)
        if state != "as it was":
            await trial.main(partial(trial.act("window"), "shown"))


async def _capture(trial: Trial, into: Findings, what: str, port: Any) -> None:
    def take() -> Json:
        if hasattr(port, "capture"):
            return figures(port.capture(WIDE, HIGH))
        picture, facts = port.picture(Look(WIDE, HIGH))
        return {**figures_of(picture), "doubt": facts.get("doubt")}

    with _noting(into, what):
        of = into.data[what] = await trial.main(take, "render")
        if (of["width"], of["height"]) != (WIDE, HIGH):
            into.faults.append(f"{what}: {of['width']}x{of['height']} instead of {WIDE}x{HIGH}")
        elif of.get("doubt") or why_blank(of):
            into.faults.append(f"{what}: {of.get('doubt') or why_blank(of)}")
        else:
            share = f"{of['share']:.0%} of it is {of['commonest']}"
            into.good.append(f"{what}: {WIDE}x{HIGH}, mean {of['mean']}, {share}")


async def _renderers(trial: Trial, into: Findings) -> None:
    port, cameras = trial.port(names.RENDER), trial.port(names.CAMERAS)
    acts = trial.host.acts
    known = await trial.main(acts["renderers"]) if "renderers" in acts else ["its own"]

    def prepare() -> None:
        lights: Any = trial.host.ports.get(names.LIGHTS)
        if lights is None:
            raise NotOffered("nothing can set the surroundings to gray here")
        lights.set_environment({"color": [GRAY] * 3, "strength": 1.0})
        cameras.set(cameras.create("TestCamera"), {"active": True})

    await trial.step("gray surroundings", prepare)
    for number, renderer in enumerate(known):
        path = trial.folder / f"gray{number}.png"
        with _noting(into, renderer):
            if "renderers" in acts:
                await trial.main(partial(trial.act("use_renderer"), renderer), "change")
            still = partial(port.still, str(path), 64, 48, None)
            answer = await trial.main(still, "render")
            of = into.data[renderer] = figures(await asyncio.to_thread(path.read_bytes))
            of["engine"] = answer.get("engine")
            if why := why_not_gray(of):
                into.faults.append(f"{renderer}: the surroundings are gray, but {why}")
            else:
                shown = f"gray {of['mean'][0]} ({GRAY_SHOWN} without a view transform)"
                into.good.append(f"{renderer}: {shown}")


async def _menus(trial: Trial, into: Findings) -> None:
    menus = await trial.main(trial.act("menus"))
    into.data.update(menus)
    count = sum(len(each) for each in menus.values())
    into.good.append(f"{count} menus of {len(menus)} kinds of things were read")


@contextmanager
def _noting(into: Findings, what: str) -> Iterator[None]:
    """Turn an error inside the block into a finding about ``what``. An application that doesn't
    answer ends the self-test."""
    try:
        yield
    except GONE:
        raise
    except NotOffered as why:
        into.absent.append(f"{what}: {why.message}")
    except Exception as error:
        into.faults.append(f"{what}: {sentence_of(error)}")


def sentence_of(error: Exception) -> str:
    """Return the error in words."""
    if isinstance(error, CallboardError):
        return error.message
    return f"{type(error).__name__}: {error}"


CHECKS = (
    SelfCheck(
        "exchange",
        "Files of other programs, as the session's first act",
        "A format that fails here needs its plug-in loaded, or its options set, in another way.",
        _exchange,
    ),
    SelfCheck(
        "plug_ins",
        "Plug-ins",
        "Tools whose plug-in is missing have to refuse, and to say how to get it.",
        _plug_ins,
    ),
    SelfCheck(
        "loop",
        "The server beside the application",
        "Slow figures show that the application wakes callboard too seldom.",
        _loop,
    ),
    SelfCheck(
        "primitives",
        "Each primitive, and its undo",
        "A wrong kind or a failed undo names the command that the adapter has to change.",
        _primitives,
    ),
    SelfCheck(
        "undo_reports",
        "Reports of the artist's undo",
        "Where reports come late, the adapter looks at the scene instead of waiting for them.",
        _undo_reports,
    ),
    SelfCheck(
        "playback",
        "Calls during playback",
        "This shows whether calls have to wait until playback ends.",
        _playback,
    ),
    SelfCheck(
        "dialog",
        "A call while a dialog is open",
        "A change that runs inside a dialog becomes part of the artist's work, so it must wait.",
        _dialog,
    ),
    SelfCheck(
        "captures",
        "Pictures of the view, with its window covered and minimized",
        "Where a view draws nothing, the adapter renders the picture or refuses.",
        _captures,
    ),
    SelfCheck(
        "menus",
        "The menus of what the adapter sets",
        "The test doubles answer with these words, so a word that is missing shows in our tests.",
        _menus,
    ),
    SelfCheck(
        "renderers",
        "Each renderer, in gray surroundings",
        "A black picture shows a renderer whose output the adapter doesn't find or can't light.",
        _renderers,
    ),
)
