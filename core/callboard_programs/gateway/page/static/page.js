// The page: receives the hosts' events and shows them.

import { showCalls, showChanges } from "./activity.js";
import { follow, takeSecret } from "./asking.js";
import { line, number, setText } from "./dom.js";
import { found, isCompact, prepareFinding } from "./finding.js";
import { showHosts, showMatrix } from "./hosts.js";
import { showNewcomers } from "./newcomers.js";
import { showQuestions } from "./questions.js";
import { prepareTrace, showEnded, showReport } from "./records.js";

const hosts = new Map();
let newcomers = [];
let link = "lost";
let drawing = false;
let ended = "";
let reading = null;

function heard(message) {
  if (message.type === "names") {
    for (const name of hosts.keys()) if (!message.names.includes(name)) hosts.delete(name);
  } else if (message.type === "instance") {
    hosts.set(message.name, message);
  } else if (message.type === "newcomers") {
    newcomers = message.newcomers;
  }
  draw();
}

// Draw at most once a frame, no matter how many events arrive. A hidden page has no frames, so a
// timer is used.
function draw() {
  if (drawing) return;
  drawing = true;
  const show = () => {
    drawing = false;
    showAll();
  };
  if (document.hidden) setTimeout(show, 100);
  else requestAnimationFrame(show);
}

function showAll() {
  const all = [...hosts.values()].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  const questions = showNewcomers(newcomers, tell) + showQuestions(all, tell);
  document.getElementById("questions").hidden = questions === 0;
  document.getElementById("questions").classList.toggle("many", questions > 1);
  setText(document.getElementById("questions-title"), `Waiting for you: ${questions}`);
  const shown = found(all);
  showHosts(shown, all.length, isCompact(all.length));
  showCalls(shown, tell);
  showChanges(shown, tell);
  showMatrix(shown);
  showState(all, shown, questions);
  const counts = JSON.stringify(all.map((host) => [host.name, number(host.status?.ended)]));
  if (counts !== ended) {
    ended = counts;
    clearTimeout(reading);
    reading = setTimeout(() => showEnded().catch((error) => notice(error.message)), 300);
  }
}

function showState(all, shown, questions) {
  const state = document.getElementById("state");
  state.dataset.link = link;
  const waiting = questions === 1 ? "1 question" : `${questions} questions`;
  const few = shown.length < all.length ? ` (${shown.length} shown)` : "";
  const there = (all.length === 1 ? "1 host" : `${all.length} hosts`) + few;
  if (link === "live") setText(state, `Live: ${there}, ${waiting}`);
  else if (link === "lost") setText(state, "The gateway isn't answering; trying again");
  else setText(state, "Closed");
  document.title = questions ? `(${questions}) callboard` : "callboard";
}

function changed(to, reason) {
  link = to;
  if (to !== "live") {
    hosts.clear();
    newcomers = [];
  }
  if (to === "live") notice("");
  if (to === "closed") notice(reason);
  draw();
}

function notice(text) {
  const place = document.getElementById("notice");
  setText(place, line(text, 1000));
  place.hidden = !place.textContent;
}

// Performs an action, and shows the error if it fails. Returns whether it succeeded.
async function tell(work) {
  try {
    await work();
    notice("");
    return true;
  } catch (error) {
    notice(error.message);
    return false;
  }
}

const pictures = document.getElementById("pictures");
pictures.checked = localStorage.getItem("callboard-pictures") !== "no";
pictures.addEventListener("change", () => {
  localStorage.setItem("callboard-pictures", pictures.checked ? "yes" : "no");
  draw();
});
document.addEventListener("visibilitychange", draw);
document.getElementById("since").addEventListener("change", showReport);
document.getElementById("report-again").addEventListener("click", showReport);

prepareFinding(draw);
takeSecret();
prepareTrace();
showReport();
follow(heard, changed);
