def add_layer(ctx, name: str) -> dict[str, list[str]]:
    """Adds an empty layer on top of the others.

    Args:
        name: The layer's name. A taken name gets a number, too.
    """
    return {"created": [ctx.port("layers").add(name)]}
