// Selects the hosts to show, by the text in the search field and by their state.

import { list } from "./dom.js";
import { state } from "./hosts.js";

// With this many hosts or more, each host is shown on one line, unless the user chose otherwise.
const MANY = 8;

const field = document.getElementById("find");
const which = document.getElementById("which");
const compact = document.getElementById("compact");

const WHICH = {
  asks: (host) => list(host.status?.questions).length > 0,
  works: (host) => list(host.status?.calls).length > 0,
  ails: (host) => !["ready", "working", "asks"].includes(state(host)),
};

export function prepareFinding(draw) {
  field.addEventListener("input", draw);
  which.addEventListener("change", draw);
  compact.addEventListener("change", () => {
    localStorage.setItem("callboard-compact", compact.checked ? "yes" : "no");
    draw();
  });
}

export function found(hosts) {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = WHICH[which.value] ?? (() => true);
  return hosts.filter((host) => fits(host) && words.every((word) => textOf(host).includes(word)));
}

export function isCompact(count) {
  const chosen = localStorage.getItem("callboard-compact");
  compact.checked = chosen === null ? count > MANY : chosen === "yes";
  return compact.checked;
}

function textOf({ name, about, status }) {
  const clients = list(status?.clients).flatMap((one) => [one.name, one.holder]);
  const tools = list(status?.calls).map((one) => one.tool);
  const told = [name, about.application, about.kind, status?.scene || about.scene, ...clients, ...tools];
  return told.filter(Boolean).join("\n").toLowerCase();
}
