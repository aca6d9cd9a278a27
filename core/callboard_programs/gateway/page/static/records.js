// The records: the calls that have ended, a single call in full, and the capabilities that agents
// asked for.

import { get } from "./asking.js";
import { clock, duration, each, el, fill, jsonText, line, list, number, object, setText } from "./dom.js";

export async function showEnded() {
  const { calls } = await (await get("calls")).json();
  const told = list(calls);
  document.getElementById("no-ended").hidden = told.length > 0;
  each(document.getElementById("ended"), told, (one) => line(one.id), makeEnded);
}

function makeEnded(call) {
  const outcome = line(call.outcome);
  const whole = el("button", { type: "button", onclick: () => showTrace(call.id, call.tool) }, "Trace");
  whole.setAttribute("aria-label", `Trace of ${line(call.tool)}`);
  const words = el("span", { class: "words" }, line(call.tool));
  if (call.error) words.append(el("span", { class: "dim" }, ` ${line(call.error, 160)}`));
  const about = [line(call.client), duration(number(call.took_ms)), clock(call.started)];
  const node = el(
    "li",
    {},
    el("span", { class: "host" }, line(call.host)),
    words,
    el("span", { class: outcome === "ok" ? "dim" : "warn" }, outcome),
    el("span", { class: "dim" }, about.filter(Boolean).join(" · ")),
    whole,
  );
  return { node, update() {} };
}

async function showTrace(call, tool) {
  const text = document.getElementById("trace-text");
  const state = document.getElementById("trace-state");
  setText(document.getElementById("trace-title"), `One call: ${line(tool)}`);
  setText(state, "");
  try {
    setText(text, jsonText(await (await get("trace", { call })).json()));
  } catch (error) {
    setText(text, line(error.message));
  }
  const dialog = document.getElementById("trace");
  if (!dialog.open) dialog.showModal();
  document.getElementById("trace-copy").focus();
}

export function prepareTrace() {
  const dialog = document.getElementById("trace");
  const state = document.getElementById("trace-state");
  document.getElementById("trace-close").addEventListener("click", () => dialog.close());
  document.getElementById("trace-copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(document.getElementById("trace-text").textContent);
      setText(state, "Copied.");
    } catch {
      setText(state, "The browser doesn't allow copying: select the text above.");
    }
  });
}

export async function showReport() {
  const sum = document.getElementById("report-sum");
  const place = document.getElementById("report");
  try {
    const since = document.getElementById("since").value;
    const told = object(await (await get("report", { since })).json());
    const outcomes = object(told.outcomes);
    const failed = number(told.calls) - number(outcomes.ok);
    setText(sum, `${count(told.calls, "call")} in ${count(told.sessions, "session")}, ${failed} without a result`);
    fill(place, list(told.topMissingCapabilities, 50), tableOf);
  } catch (error) {
    setText(sum, line(error.message));
  }
}

function count(value, what) {
  return `${number(value)} ${what}${number(value) === 1 ? "" : "s"}`;
}

function tableOf(missing) {
  if (!missing.length) return [el("p", { class: "empty" }, "No capability was missing.")];
  const names = ["Capability", "Sessions", "Times", "Known by", "For"];
  const head = el("tr", {}, ...names.map((name) => el("th", { scope: "col" }, name)));
  const rows = missing.map((one) => {
    const examples = Array.isArray(one.examples) ? one.examples.slice(0, 2) : [];
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, line(one.capability)),
      el("td", {}, String(number(one.sessions))),
      el("td", {}, String(number(one.count))),
      el("td", {}, line(one.source)),
      el("td", { class: "text" }, examples.map((text) => line(text, 160)).join("; ")),
    );
  });
  return [el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows))];
}
