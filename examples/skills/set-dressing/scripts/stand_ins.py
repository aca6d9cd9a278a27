from typing import Annotated, Literal, TypedDict

Vector = tuple[float, float, float]
SIZES = {"cube": {"size": 1}, "sphere": {"radius": 0.5}}


class Placed(TypedDict):
    path: str


def stand_in(
    ctx,
    name: Annotated[str, {"minLength": 1}],
    position: Vector | None = None,
    kind: Literal["cube", "sphere"] = "cube",
) -> Placed:
    """Places a plain shape as a stand-in until the prop is ready.

    Args:
        position: In scene units. Defaults to the origin.
    """
    editor = ctx.port("scene.mutate")
    path = editor.create(kind, f"prop_{name}", SIZES[kind])
    return {"path": editor.set_transform(path, position, None, None)}
