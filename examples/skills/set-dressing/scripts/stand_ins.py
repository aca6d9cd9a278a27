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
    """Places a plain shape until the prop is there.

    Args:
        position: In scene units; the origin without it.
    """
    editor = ctx.port("scene.mutate")
    path = editor.create(kind, f"prop_{name}", SIZES[kind])
    return {"path": editor.set_transform(path, position, None, None)}
