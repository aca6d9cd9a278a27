// Clients on other machines that ask for access. Once a client is let in, it can reach every host.

import { act } from "./asking.js";
import { makeCard } from "./cards.js";
import { clock, each, el, line, list } from "./dom.js";

export function showNewcomers(newcomers, tell) {
  const asked = list(newcomers);
  each(document.getElementById("newcomer-cards"), asked, (one) => one.id, (one) => newcomerCard(one, tell));
  return asked.length;
}

function newcomerCard(one, tell) {
  const name = line(one.name);
  const rows = [
    ["Its address", line(one.address)],
    ["Its token's fingerprint", el("code", {}, line(one.fingerprint))],
    ["Says it is", line(one.program)],
    ["Its token was made", clock(one.made)],
  ].filter(([, value]) => value !== "");
  const about = "asks to connect from another machine, and to reach every host that is shown here.";
  const check = "The client is shown the same fingerprint when it is refused: compare them.";
  return makeCard({
    label: `${name} asks to connect from another machine`,
    head: [el("h3", {}, `${name} asks`)],
    body: [
      el("p", {}, `${name} ${about} Each host's own rules apply to it as to any client.`),
      el("dl", {}, ...rows.flatMap(([term, value]) => [el("dt", {}, term), el("dd", {}, value)])),
      el("p", { class: "dim" }, check),
    ],
    text: null,
    lacking: "",
    yes: ["approve", "Approve", `Let ${name} in, until it is revoked`],
    longer: [],
    answer: (word) => tell(() => act(null, word === "refuse" ? "turn_away" : word, one.id)),
  });
}
