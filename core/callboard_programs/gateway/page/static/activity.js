// Running and waiting calls, and changes, each in one list for all hosts.

import { act } from "./asking.js";
import { clock, duration, each, el, line, list, number, setText } from "./dom.js";

export function showCalls(hosts, tell) {
  const calls = hosts.flatMap((host) =>
    list(host.status?.calls).map((call) => ({ ...call, host: host.name, about: idOf(host) })),
  );
  document.getElementById("no-calls").hidden = calls.length > 0;
  each(document.getElementById("calls"), calls, (one) => `${one.host} ${one.id}`, (one) => makeCall(one, tell));
}

function idOf(host) {
  return { name: host.name, id: host.about.id };
}

function makeCall(call, tell) {
  const words = el("span", { class: "words" });
  const state = el("span", { class: "dim" });
  const bar = el("progress", { max: 1, "aria-label": "Progress", hidden: true });
  const cancel = el("button", { type: "button" }, "Cancel");
  cancel.setAttribute("aria-label", `Cancel ${line(call.tool)} in ${call.host}`);
  cancel.addEventListener("click", async () => {
    cancel.disabled = true;
    await tell(() => act(call.about, "cancel", call.id));
    cancel.disabled = false;
  });
  const node = el("li", {}, el("span", { class: "host" }, call.host), words, bar, state, cancel);
  let newest = call;

  function tick() {
    const took = duration(Math.max(0, Date.now() - number(newest.started) * 1000));
    const held = newest.held_by ? `waits for ${line(newest.held_by)}` : line(newest.state);
    setText(state, [held, line(newest.message), took].filter(Boolean).join(" · "));
  }

  const ticking = setInterval(tick, 1000);
  return {
    node,
    update(now) {
      newest = now;
      setText(words, `${line(now.tool)} for ${line(now.client) || "someone"}`);
      const total = number(now.total);
      bar.hidden = total <= 0;
      if (total > 0) bar.value = Math.min(1, Math.max(0, number(now.done) / total));
      tick();
    },
    end: () => clearInterval(ticking),
  };
}

export function showChanges(hosts, tell) {
  const changes = hosts.flatMap((host) => {
    const told = list(host.status?.changes);
    return told.map((change, at) => ({
      ...change,
      host: host.name,
      about: idOf(host),
      // Undoing a change also undoes all later changes in that host.
      steps: told.slice(at).filter((one) => one.undo === true && one.undone !== true).length,
    }));
  });
  changes.sort((a, b) => number(b.started) - number(a.started));
  document.getElementById("no-changes").hidden = changes.length > 0;
  const newest = changes.slice(0, 100);
  each(document.getElementById("changes"), newest, (one) => `${one.host} ${one.call}`, (one) => makeChange(one, tell));
}

function makeChange(change, tell) {
  const words = el("span", { class: "words" });
  const about = el("span", { class: "dim" });
  const undo = el("button", { type: "button" });
  let newest = change;
  undo.addEventListener("click", async () => {
    undo.disabled = true;
    await tell(async () => {
      const { done, undone, problem } = await act(newest.about, "undo", newest.call);
      if (done) return;
      const why = line(problem) || "a change that callboard didn't make comes after it";
      throw new Error(`${number(undone)} undone, the rest not: ${why}`);
    });
    undo.disabled = false;
  });
  const node = el("li", {}, el("span", { class: "host" }, change.host), words, about, undo);
  return {
    node,
    update(now) {
      newest = now;
      node.classList.toggle("undone", now.undone === true);
      setText(words, line(now.words));
      const state = now.undone === true ? "undone" : now.failed === true ? "failed" : "";
      setText(about, [state, line(now.client), clock(now.started)].filter(Boolean).join(" · "));
      undo.hidden = now.undo !== true || now.undone === true;
      setText(undo, now.steps > 1 ? `Undo back to here (${now.steps})` : "Undo");
      undo.setAttribute("aria-label", `${undo.textContent}: ${line(now.words)} in ${now.host}`);
    },
  };
}
