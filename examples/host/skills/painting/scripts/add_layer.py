def add_layer(ctx, name: str) -> dict[str, list[str]]:
    """Adds an empty layer on top of the others.

    Args:
        name: The layer's name. If it is already taken, a number is added to it.
    """
    return {"created": [ctx.port("layers").add(name)]}
