"""A bundle written with the published ``nimblebrain-bundle-sdk`` and fastmcp."""

SDK = "nimblebrain-bundle-sdk==0.2.0"

BUNDLE = '''
from fastmcp import Context, FastMCP
from nimblebrain_bundle_sdk import HostCapabilityMissing, host

server = FastMCP("bundle")


async def told(asking):
    try:
        return (await asking).model_dump(mode="json", by_alias=True)
    except HostCapabilityMissing as error:
        return {"missing": error.capability_key}
    except Exception as error:
        refused = getattr(error, "error", None)
        if refused is None:
            raise
        return {"code": refused.code, "data": refused.data}


@server.tool
async def offered(ctx: Context) -> dict:
    h = host(ctx)
    return {"read": h.available, "list": h.list_available, "files": h.supports_scheme("files")}


@server.tool
async def read(uri: str, ctx: Context) -> dict:
    return await told(host(ctx).read(uri))


@server.tool
async def measured(uri: str, ctx: Context) -> dict:
    """The whole content is too large for one of our results."""
    content = (await host(ctx).read(uri)).contents[0]
    return {"size": len(content.blob)}


@server.tool
async def listed(ctx: Context, mime: str | None = None, tags: list[str] | None = None) -> dict:
    return await told(host(ctx).list(mime_type=mime, tags=tags))


@server.tool
async def burst(most: int, ctx: Context) -> dict:
    for count in range(most):
        answer = await told(host(ctx).read("entities://x"))
        if answer["code"] != -32602:
            return {"count": count, "answer": answer}
    return {"count": most}


@server.tool
async def steps(ctx: Context) -> str:
    for done in range(1, 4):
        await ctx.report_progress(done, 3)
    return "done"


server.run(show_banner=False)
'''
