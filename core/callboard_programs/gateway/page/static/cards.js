// A card that is waiting for an answer. A yes doesn't count if it was meant for another card, or if
// the user can't have read this card.

import { el, setText } from "./dom.js";

// Milliseconds during which a card that has just appeared or moved doesn't accept a yes. The panel
// does the same.
const GUARD = 500;

// `text` is the element that must be read to its end first, or null. `lacking` is the reason why a
// yes isn't accepted at all, or empty. `yes` is [word, label, explanation], and `longer` a list of
// such arrays. `answer` is called with the word, and returns whether the answer was carried out.
export function makeCard({ label, head, body, text, lacking, yes, longer, answer }) {
  const refuse = el("button", { type: "button", onclick: () => say("refuse") }, "Refuse");
  const once = button(yes, "main");
  const others = longer.map((one) => button(one));
  const note = el("p", { class: "warn" });
  const more = others.length
    ? el("details", { class: "longer" }, el("summary", {}, "For longer"), el("div", { class: "bar" }, ...others))
    : null;
  const bar = el("div", { class: "bar" }, refuse, once);
  const top = el("div", { class: "head" }, ...head);
  const node = el("article", { class: "question", "aria-label": label }, top, ...body, text, note, bar, more);
  let waited = false;
  let seen = text === null;
  let answered = false;
  let timer = null;

  function button([word, label, title], style) {
    const made = el("button", { type: "button", class: style, title, disabled: true }, label);
    made.addEventListener("click", () => say(word));
    return made;
  }

  function arm() {
    seen ||= text.clientHeight > 0 && text.scrollTop + text.clientHeight >= text.scrollHeight - 2;
    for (const one of [once, ...others]) one.disabled = answered || !waited || !seen || lacking !== "";
    refuse.disabled = answered;
    setText(note, lacking || (seen ? "" : "Scroll to the end to allow it."));
    note.hidden = !note.textContent;
  }

  function guard() {
    waited = false;
    arm();
    clearTimeout(timer);
    timer = setTimeout(() => {
      waited = true;
      arm();
    }, GUARD);
  }

  async function say(word) {
    answered = true;
    arm();
    answered = await answer(word);
    arm();
  }

  text?.addEventListener("scroll", arm);
  guard();
  return { node, update() {}, moved: guard, end: () => clearTimeout(timer) };
}
