// Uses everything that the TypeScript SDK's client offers, and prints what it saw as JSON.
//
//     node typescript.mjs URL TOKEN MODE
//
// MODE: v1 (@modelcontextprotocol/sdk), legacy or auto (@modelcontextprotocol/client, with sessions
// or stateless).
const [url, token, mode] = process.argv.slice(2);
setTimeout(() => {
  console.error("it took too long");
  process.exit(1);
}, 60_000).unref();

const seen = { logs: [], steps: [] };
const roots = [{ uri: "file:///projects/ada", name: "ada" }];
let listChanges = 0;
let listChanged = () => {};
const { Client, StreamableHTTPClientTransport, on } = await load();
const client = new Client(
  { name: "typescript", version: "1" },
  {
    capabilities: { elicitation: {}, sampling: {}, roots: { listChanged: true } },
    versionNegotiation: { mode },
  },
);
client.setRequestHandler(on("elicitation/create"), async () => ({
  action: "accept",
  content: { name: "Ada" },
}));
client.setRequestHandler(on("sampling/createMessage"), async () => ({
  role: "assistant",
  content: { type: "text", text: "Paris" },
  model: "test",
}));
client.setRequestHandler(on("roots/list"), async () => ({ roots }));
client.setNotificationHandler(on("notifications/message"), ({ params }) => {
  if (String(params.data).includes("step")) seen.logs.push(params.data);
});
client.setNotificationHandler(on("notifications/tools/list_changed"), () => {
  listChanges += 1;
  listChanged();
});
const updated = new Promise((resolve) =>
  client.setNotificationHandler(on("notifications/resources/updated"), ({ params }) =>
    resolve(params.uri),
  ),
);
const transport = new StreamableHTTPClientTransport(new URL(url), {
  requestInit: { headers: { Authorization: `Bearer ${token}` } },
});
await client.connect(transport);
seen.revision = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion;
const stateless = seen.revision === "2026-07-28";
await useEverything();
if (!stateless) await transport.terminateSession();
await client.close();
console.log(JSON.stringify(seen));

// Version 1 names what a handler is for by a schema, version 2 by the method.
async function load() {
  if (mode !== "v1") return { ...(await import("@modelcontextprotocol/client")), on: (name) => name };
  const types = await import("@modelcontextprotocol/sdk/types.js");
  const schemas = {
    "elicitation/create": types.ElicitRequestSchema,
    "sampling/createMessage": types.CreateMessageRequestSchema,
    "roots/list": types.ListRootsRequestSchema,
    "notifications/message": types.LoggingMessageNotificationSchema,
    "notifications/resources/updated": types.ResourceUpdatedNotificationSchema,
    "notifications/tools/list_changed": types.ToolListChangedNotificationSchema,
  };
  return {
    ...(await import("@modelcontextprotocol/sdk/client/index.js")),
    ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
    on: (name) => schemas[name],
  };
}

function call(name, args = {}, options = undefined) {
  const params = { name, arguments: args };
  if (stateless) params._meta = { "io.modelcontextprotocol/logLevel": "info" };
  return mode === "v1"
    ? client.callTool(params, undefined, options)
    : client.callTool(params, options);
}

async function useEverything() {
  if (!stateless) {
    await client.setLoggingLevel("info");
    await client.ping();
  }
  seen.tools = (await client.listTools()).tools.map((tool) => tool.name).sort();
  seen.sum = (await call("probe__add", { a: 1, b: 2 })).structuredContent.sum;
  const progressed = { onprogress: ({ progress }) => seen.steps.push(progress) };
  seen.counted = (await call("probe__count", { to: 3 }, progressed)).structuredContent.counted;
  seen.picture = (await call("probe__picture")).content[0].mimeType;
  seen.failed = (await call("probe__fail")).isError;
  seen.invalid = (await call("probe__add", { a: "one" })).isError;
  seen.introduced = (await call("probe__introduce")).structuredContent;
  seen.thought = (await call("probe__think")).content[0].text;
  seen.routed = (await call("probe__route", { region: "Übersee " })).structuredContent.region;

  seen.resources = (await client.listResources()).resources.map((found) => found.uri).sort();
  const templates = (await client.listResourceTemplates()).resourceTemplates;
  seen.templates = templates.map((template) => template.uriTemplate).sort();
  await watchTheScene();
  const scene = await client.readResource({ uri: "scene://current" });
  seen.scene = JSON.parse(scene.contents[0].text).objects.map((found) => found.name);
  seen.not_found = await client.readResource({ uri: "scene://nowhere" }).catch(({ code }) => code);
  seen.prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
  const prompt = await client.getPrompt({ name: "probe.greeting", arguments: { name: "Ada" } });
  seen.prompt = prompt.messages[0].content.text;
  const completed = await client.complete({
    ref: { type: "ref/resource", uri: "skill://{name}/SKILL.md" },
    argument: { name: "name", value: "pro" },
  });
  seen.completed = completed.completion.values;
  await cancel();
  seen.moved = await move();
  seen.relisted = await changeTheList();
}

async function watchTheScene() {
  const uri = "scene://current";
  const subscription = stateless
    ? await client.listen({ resourceSubscriptions: [uri] })
    : await client.subscribeResource({ uri });
  await call("scene__create_primitive", { kind: "cube", name: "watched" });
  seen.updated = await updated;
  await (stateless ? subscription.close() : client.unsubscribeResource({ uri }));
}

// The host asks for changed roots when it is told, which may be after the next call.
async function move() {
  roots[0] = { uri: "file:///projects/eve", name: "eve" };
  if (!stateless) await client.sendRootsListChanged();
  for (;;) {
    const [root] = (await call("probe__introduce")).structuredContent.roots;
    if (root.includes("eve")) return root;
  }
}

async function changeTheList() {
  const subscription = stateless ? await client.listen({ toolsListChanged: true }) : undefined;
  const names = [];
  for (const tool of ["skills__unload", "skills__load"]) {
    const before = listChanges;
    const told = new Promise((resolve) => (listChanged = resolve));
    await call(tool, { name: "probe" });
    if (listChanges === before) await told;
    const { tools } = await client.listTools();
    names.push(tools.some(({ name }) => name === "probe__add"));
  }
  await subscription?.close();
  return names;
}

async function cancel() {
  const cancelling = new AbortController();
  const options = { signal: cancelling.signal, onprogress: () => cancelling.abort() };
  await call("probe__wait", {}, options).catch(() => undefined);
  seen.cancelled = (await call("probe__waits")).structuredContent.cancelled;
}
