// The client of the TypeScript SDK 1 or 2, for client_table.py. Prints its cells as JSON.
//
//     node table_client.mjs VERSION TARGET
const [version, given] = process.argv.slice(2);
const target = JSON.parse(given);
const one = version === "1";
const base = one ? "@modelcontextprotocol/sdk/client" : "@modelcontextprotocol/client";
const { Client, ...http } = one
  ? { ...(await import(`${base}/index.js`)), ...(await import(`${base}/streamableHttp.js`)) }
  : await import(base);
const { StdioClientTransport } = await import(`${base}/stdio${one ? ".js" : ""}`);
const asked = one
  ? (await import("@modelcontextprotocol/sdk/types.js")).ElicitRequestSchema
  : "elicitation/create";

const client = new Client(
  { name: "table", version: "1" },
  { capabilities: { elicitation: {} }, versionNegotiation: { mode: "auto" } },
);
client.setRequestHandler(asked, async () => ({ action: "accept", content: { name: "Ada" } }));
const [command, ...args] = target.command ?? [];
const requestInit = { headers: { Authorization: `Bearer ${target.token}` } };
await client.connect(
  target.url
    ? new http.StreamableHTTPClientTransport(new URL(target.url), { requestInit })
    : new StdioClientTransport({ command, args, env: target.env }),
);
const names = (await client.listTools()).tools.map((tool) => tool.name);
const cells = { list: names.includes("probe__add") ? "ok" : String(names).slice(0, 200) };
const steps = [];
const onprogress = ({ progress }) => steps.push(progress);
const cell = async (name, tool, wanted, given = {}) => {
  const call = { name: `probe__${tool}`, arguments: { ...given, ...target.host } };
  const options = { onprogress, timeout: 20_000 };
  const answer = await (one ? client.callTool(call, undefined, options) : client.callTool(call, options))
    .then(JSON.stringify, String);
  cells[name] = answer.includes(wanted) ? "ok" : answer.slice(0, 200);
};
await cell("call", "add", 'sum":80', { a: 30, b: 50 });
await cell("error", "fail", "as asked");
steps.length = 0;
await cell("progress", "count", "3", { to: 3 });
if (String(steps) !== "1,2,3") cells.progress = `${steps}`;
await cell("question", "introduce", "Ada");
console.log(JSON.stringify(cells));
await client.close();
process.exit(0);
