"""The functions behind the skill's resources."""


def props(ctx, beginning):
    reader = ctx.port("scene.read")
    placed = [reader.get(path) for path in reader.names()]
    wanted = f"prop_{beginning}"
    return {each["name"]: each["translate"] for each in placed if each["name"].startswith(wanted)}
