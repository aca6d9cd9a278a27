// The hosts' cards, each with a small picture of the scene, and the hosts' capabilities.

import { get } from "./asking.js";
import { clock, each, el, fileName, fill, line, list, number, object, setText } from "./dom.js";

// The minimum pause between two pictures of one host: milliseconds, and a multiple of the time that
// a picture takes. The application makes the pictures while an artist is working in it.
const PAUSE = 3000;
const RATHER = 8;

export function showHosts(hosts, all, compact) {
  const none = document.getElementById("no-instances");
  none.hidden = hosts.length > 0;
  setText(none, all ? "No host matches." : "No application with callboard is running.");
  document.getElementById("instance-cards").classList.toggle("compact", compact);
  each(document.getElementById("instance-cards"), hosts, (host) => host.name, makeCard);
}

function makeCard(host) {
  const head = el("div", { class: "head" });
  const facts = el("div", { class: "facts" });
  const more = el("button", { type: "button", class: "quiet more", "aria-expanded": "false" }, "More");
  more.setAttribute("aria-label", `More of ${host.name}`);
  const top = el("div", { class: "top" }, head, more);
  const node = el("article", { class: "card", "aria-label": host.name }, top);
  const folded = () => node.closest(".compact") !== null && !node.classList.contains("open");
  const picture = new ScenePicture(host.name, folded);
  node.append(picture.node, facts);
  more.addEventListener("click", () => {
    const open = node.classList.toggle("open");
    more.setAttribute("aria-expanded", String(open));
    setText(more, open ? "Less" : "More");
    picture.update(picture.host);
  });
  return {
    node,
    update(now) {
      const { about, status, problem, name } = now;
      node.dataset.state = status ? "live" : "lost";
      const scene = status?.scene || about.scene;
      fill(head, [name, about.application, status?.version, state(now), scene], headOf);
      fill(facts, [about, facts_of(status), problem, name], factsOf);
      picture.update(now);
    },
    end: () => picture.end(),
  };
}

// A host's state in one word.
export function state({ about, status }) {
  if (about.state !== "serving") return about.state;
  if (!status) return "not heard";
  if (status.paused) return "paused";
  if (list(status.questions).length) return "asks";
  if (number(status.stalled_ms) > 500) return "busy";
  return list(status.calls).length ? "working" : "ready";
}

function headOf([name, application, version, word, scene]) {
  const file = scene ? fileName(scene) : "never saved";
  return [
    el("h3", {}, name),
    el("span", { class: `badge ${word.replace(" ", "-")}` }, word),
    el("p", { class: "dim", title: line(scene) }, `${file} · ${line(`${application ?? ""} ${version ?? ""}`)}`),
  ];
}

function facts_of(status) {
  if (!status) return null;
  const { scene, clients, roots_policy, stalled_by, stalled_ms } = status;
  const roots = once(list(status.roots));
  const stalled = number(stalled_ms) > 500 ? stalled_by || "something" : "";
  return { scene, roots, clients, roots_policy, stalled };
}

// A folder that is a root for several reasons is shown once, with all the reasons.
function once(roots) {
  const folders = new Map();
  for (const root of roots) {
    const key = line(root.path || root.uri);
    const before = folders.get(key);
    const source = [before?.source, line(root.source)].filter(Boolean);
    const read_only = root.read_only === true && before?.read_only !== false;
    folders.set(key, { ...root, source: [...new Set(source)].join(", "), read_only });
  }
  return [...folders.values()];
}

function factsOf([about, facts, problem, name]) {
  const scene = facts?.scene || about.scene;
  const rows = [
    row("Scene", scene ? [el("span", { title: line(scene) }, fileName(scene))] : ["never saved"]),
  ];
  if (facts?.stalled) rows.push(row("Busy with", [line(facts.stalled)]));
  if (facts) {
    rows.push(row("Roots", names(list(facts.roots), rootOf, `none (${line(facts.roots_policy)})`)));
    rows.push(row("Connected", names(list(facts.clients), clientOf, "no one")));
  }
  if (problem) rows.push(row("Not shown", [line(problem)]));
  rows.push(row("Address", [el("code", {}, `${location.origin}/mcp/${name}`)]));
  rows.push(row("Process", [`${number(about.pid)}, since ${clock(about.started)}`]));
  return [el("dl", {}, ...rows.flat())];
}

function row(name, children) {
  return [el("dt", {}, name), el("dd", {}, ...children)];
}

function names(items, show, none) {
  return items.length ? [el("ul", {}, ...items.map((item) => el("li", {}, ...show(item))))] : [none];
}

function rootOf(root) {
  const read = root.read_only === true ? ", read only" : "";
  return [
    el("span", { title: line(root.uri) }, line(root.path || root.uri)),
    el("span", { class: "dim" }, ` ${line(root.source)}${read}`),
  ];
}

function clientOf(client) {
  const told = [el("span", {}, line(`${client.name || "someone"} ${client.version ?? ""}`))];
  if (client.holder) told.push(el("span", { class: "dim" }, ` as ${line(client.holder)}`));
  const roots = list(client.roots).map((root) => line(root.path || root.uri));
  if (roots.length) told.push(el("span", { class: "dim" }, ` in ${roots.join(", ")}`));
  if (client.problem) told.push(el("span", { class: "warn" }, ` ${line(client.problem)}`));
  return told;
}

// The scene's picture. A new one is made after each change, but not more often than PAUSE allows,
// and never while the page is hidden.
class ScenePicture {
  constructor(name, folded) {
    this.name = name;
    this.folded = folded;
    this.image = el("img", { alt: `The scene of ${name}`, hidden: true, width: 480, height: 270 });
    this.note = el("p", { class: "dim" });
    this.again = el("button", { type: "button", class: "quiet", onclick: () => this.draw() }, "Look again");
    this.again.setAttribute("aria-label", `Look again at the scene of ${name}`);
    const under = el("figcaption", {}, this.note, this.again);
    this.node = el("figure", { class: "picture" }, this.image, under);
    this.shown = null;
    this.timer = null;
    this.next = 0;
  }

  update(host) {
    this.host = host;
    const by = maker(host.status);
    const wanted = document.getElementById("pictures").checked && !this.folded();
    this.node.hidden = !wanted || (!host.status && this.image.hidden);
    this.again.hidden = !by;
    if (!by) {
      this.image.hidden = true;
      this.note.textContent = "This host can't make a picture.";
      return;
    }
    if (wanted && this.seen(host) !== this.shown && this.timer === null) {
      const left = Math.max(0, this.next - performance.now());
      this.timer = setTimeout(() => this.draw(), left);
    }
  }

  seen({ about, status }) {
    const changes = list(status.changes);
    const undone = changes.filter((one) => one.undone === true).length;
    return JSON.stringify([about.id, status.scene, changes.at(-1)?.call, undone]);
  }

  async draw() {
    clearTimeout(this.timer);
    const { about, status } = this.host;
    const by = maker(status);
    if (!by || document.hidden) {
      this.timer = null;
      return;
    }
    const seen = this.seen(this.host);
    const began = performance.now();
    this.timer = -1; // one at a time
    try {
      const answer = await get("picture", { instance: this.name, id: about.id, by });
      this.show(await answer.blob());
      this.note.textContent = `As of ${new Date().toLocaleTimeString()}`;
    } catch (error) {
      this.note.textContent = line(error.message);
    }
    const took = performance.now() - began;
    this.next = performance.now() + Math.max(PAUSE, RATHER * took);
    this.timer = null;
    this.shown = seen;
    this.update(this.host);
  }

  show(blob) {
    const before = this.image.src;
    this.image.src = URL.createObjectURL(blob);
    this.image.hidden = false;
    if (before) URL.revokeObjectURL(before);
  }

  end() {
    clearTimeout(this.timer);
    if (this.image.src) URL.revokeObjectURL(this.image.src);
  }
}

function maker(status) {
  const offered = list(status?.capabilities)
    .filter((one) => one.offered === true && one.withdrawn !== true)
    .map((one) => one.name);
  return ["viewport", "look"].find((name) => offered.includes(name));
}

// A table with hosts as columns: capabilities have long names, and there are few hosts.
export function showMatrix(hosts) {
  const told = hosts.filter((host) => host.status);
  const columns = told.map((host) => [host.name, list(host.status.capabilities).map(cell)]);
  fill(document.getElementById("matrix"), columns, matrixOf);
}

function cell(one) {
  const { name, offered, withdrawn, advice, plug_in } = one;
  if (withdrawn === true) return [line(name), "withdrawn", "by the artist"];
  if (offered === true) return [line(name), "offered", `${number(one.unlocks)} tools need it`];
  return [line(name), "missing", line(advice || plug_in || "this host doesn't have it")];
}

const SIGNS = { offered: "✓", withdrawn: "withdrawn", missing: "–" };

function matrixOf(columns) {
  const names = [...new Set(columns.flatMap(([, cells]) => cells.map(([name]) => name)))].sort();
  if (!names.length) return [el("p", { class: "empty" }, "No host reports its capabilities.")];
  const head = columns.map(([name]) => el("th", { scope: "col" }, name));
  const rows = names.map((name) => {
    const cells = columns.map(([, told]) => {
      const [, word, why] = told.find(([other]) => other === name) ?? [name, "missing", "unknown here"];
      const sign = el("span", { "aria-hidden": true }, SIGNS[word]);
      return el("td", { class: word, title: why }, sign, el("span", { class: "unseen" }, `${word}: ${why}`));
    });
    return el("tr", {}, el("th", { scope: "row" }, name), ...cells);
  });
  const top = el("tr", {}, el("th", { scope: "col" }, "Capability"), ...head);
  return [el("table", {}, el("thead", {}, top), el("tbody", {}, ...rows))];
}
