from callboard.extensions import host


async def read(ctx, tag):
    files = host(ctx)
    listed = await files.list(mime_type="text/markdown", tags=[tag])
    notes = {each.name: await files.read(each.uri) for each in listed.resources}
    return {"notes": {name: read.contents[0].text for name, read in notes.items()}}
