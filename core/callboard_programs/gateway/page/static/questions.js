// The hosts' questions to their artists, with the answers that their panels offer.

import { act } from "./asking.js";
import { makeCard } from "./cards.js";
import { each, el, line, list, number, setText, visible } from "./dom.js";

// The labels and explanations of the answers that last longer.
const LONGER = {
  allow_session: ["For this session", "Don't ask again until this client disconnects"],
  allow_tool: ["This tool, for this project", "Don't ask this client again about this tool in this project"],
  allow_project: ["All of this kind, for this project", "Don't ask this client again in this project"],
};
const KINDS = {
  script: "All of this client's code, for this project",
  destructive: "All deleting and replacing, for this project",
  outside_roots: "All writing outside roots, for this project",
};

export function showQuestions(hosts, tell) {
  const asked = hosts.flatMap((host) =>
    list(host.status?.questions).map((question) => ({ ...question, name: host.name, host })),
  );
  each(document.getElementById("question-cards"), asked, keyOf, (one) => questionCard(one, tell));
  return asked.length;
}

function keyOf({ name, host, id }) {
  return `${name} ${host.about.id} ${id}`;
}

function questionCard(question, tell) {
  const left = el("span", { class: "left" });
  const about = line(`${question.tool} ${question.why}.`, 1000);
  const holder = question.holder ? el("p", { class: "dim" }, `Its token: ${line(question.holder)}`) : null;
  const whole = question.arguments !== null && question.arguments !== undefined;
  const choices = Array.isArray(question.choices) ? question.choices : [];
  const card = makeCard({
    label: `${line(question.client)} asks in ${question.name}`,
    head: [el("h3", {}, `${line(question.client)} asks`), el("span", { class: "dim" }, question.name), left],
    body: [el("p", {}, about), holder],
    text: el("pre", { tabindex: "0", "aria-label": "Arguments" }, argumentsText(question.arguments)),
    lacking: whole ? "" : "It is too long to read here: allow it in the application's panel.",
    yes: ["allow", "Allow once", "Only this call"],
    longer: Object.keys(LONGER).filter((word) => choices.includes(word)).map((word) => longerOf(word, question)),
    answer: (word) => tell(() => act(about_of(question), word, question.id)),
  });

  function tick() {
    const seconds = Math.max(0, Math.round(number(question.deadline) - Date.now() / 1000));
    setText(left, `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`);
    left.title = "The call is refused if there is no answer by then";
  }

  const ticking = setInterval(tick, 1000);
  tick();
  return {
    ...card,
    end() {
      clearInterval(ticking);
      card.end();
    },
  };
}

function longerOf(word, question) {
  const [label, title] = LONGER[word];
  return [word, (word === "allow_project" && KINDS[question.subject]) || label, title];
}

function about_of({ name, host }) {
  return { name, id: host.about.id };
}

// Code comes last, as the host would run it.
function argumentsText(told) {
  if (told === null || told === undefined) return "…";
  if (typeof told.code !== "string") return visible(JSON.stringify(told, null, 2));
  const { code, ...others } = told;
  const text = visible(code.replace(/\r\n/g, "\n"));
  return Object.keys(others).length ? `${visible(JSON.stringify(others, null, 2))}\n\ncode:\n${text}` : text;
}
