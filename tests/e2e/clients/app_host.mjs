// A client that shows MCP Apps: the official SDK's client and host bridge, in a browser.
// esbuild makes one file of it. What the test reads stands in window.shown.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const APPS = "io.modelcontextprotocol/ui";
const TYPE = "text/html;profile=mcp-app";

// What the specification's host makes of a page's declaration.
function policy(csp) {
  const list = (name) => (csp?.[name] ?? []).join(" ");
  return [
    "default-src 'none'",
    `script-src 'self' 'unsafe-inline' ${list("resourceDomains")}`,
    `style-src 'self' 'unsafe-inline' ${list("resourceDomains")}`,
    `img-src 'self' data: ${list("resourceDomains")}`,
    `connect-src ${list("connectDomains") || "'none'"}`,
    `frame-src ${list("frameDomains") || "'none'"}`,
    "object-src 'none'",
    `base-uri ${list("baseUriDomains") || "'self'"}`,
  ].join("; ");
}

window.start = async ({ era, theme, tool, args, width }) => {
  const client = new Client(
    { name: "app-host", version: "1" },
    {
      capabilities: { extensions: { [APPS]: { mimeTypes: [TYPE] } } },
      versionNegotiation: { mode: era === "sessions" ? "legacy" : { pin: "2026-07-28" } },
    },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", location.href)));
  const { tools } = await client.listTools();
  const carries = tools.find((one) => one.name === tool);
  const uri = carries._meta.ui.resourceUri;
  const page = (await client.readResource({ uri })).contents[0];
  const shown = { uri, type: page.mimeType, ui: page._meta.ui, sizes: [], calls: [] };
  window.shown = shown;

  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style = `width: ${width}px; height: 300px; border: 0; display: block`;
  const bridge = new AppBridge(
    client,
    { name: "app-host", version: "1" },
    { serverTools: {}, serverResources: {}, openLinks: {} },
    { hostContext: { theme, toolInfo: { tool: carries }, displayMode: "inline" } },
  );
  bridge.onsizechange = ({ height }) => {
    shown.sizes.push(height);
    frame.style.height = `${height}px`;
  };
  const ready = new Promise((done) => {
    bridge.oninitialized = done;
  });
  document.body.append(frame);
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  // The sandbox's answer carries the policy as a header, so nothing in the page can loosen it.
  await window.pageOfApp(page.text, policy(page._meta.ui.csp));
  frame.src = "/app.html";
  await ready;
  bridge.sendToolInput({ arguments: args });
  const result = await client.callTool({ name: tool, arguments: args });
  shown.result = result;
  await bridge.sendToolResult(result);
  shown.ready = true;
};
