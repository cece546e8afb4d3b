// Names as people wrote them. Where one is too long its middle goes, since names differ at their ends; all of it is in its tooltip.

import { h } from './element.js';

/** No more of a name than anyone reads. */
export function short(text) {
  return text.length > 300 ? `${text.slice(0, 199)}…${text.slice(-100)}` : text;
}

/** So much of the end of a name is always seen, and so much before what triggers a callback: `…planner · timer 10 ms`. */
const TAIL = 18;
const BEFORE_TRIGGER = 10;
const LONGEST_TAIL = 24;
const SHORTEST_HEAD = 6;

/** Where the end of a name begins that is always seen. */
export function tailOf(text) {
  const trigger = Math.max(text.lastIndexOf(" · "), text.lastIndexOf(" ← "));
  const wanted = trigger < 0 ? TAIL : text.length - trigger + BEFORE_TRIGGER;
  const cut = text.length - Math.min(wanted, LONGEST_TAIL);
  // A few letters more than fit are not worth a cut.
  return cut < SHORTEST_HEAD ? 0 : cut;
}

/** The words of a name: namespaces, and what triggers a callback. */
function wordsOf(name) {
  return name.split(/(?=[/\s])/);
}

/**
 * Names that end alike, without the words that they have in common: `…/left/…/velodyne_container`. By name, with whether it is shown by its end.
 * One that no other ends like is shown by its last word, if it is a name and not a sentence.
 */
export function apart(names) {
  const alike = new Map();
  for (const name of new Set(names)) {
    const end = /^\/\S+$/.test(name) ? name.slice(name.lastIndexOf("/")) : name.slice(tailOf(name));
    if (!alike.has(end)) alike.set(end, []);
    alike.get(end).push({ name, words: wordsOf(name) });
  }
  const found = new Map();
  for (const members of alike.values()) {
    for (const { name, words } of members) {
      const isAlone = members.length === 1;
      if (isAlone && /\s/.test(name)) {
        found.set(name, { text: name, byEnd: true });
        continue;
      }
      const isTelling = (word, place) => place === words.length - 1 || members.some((other) => other.words[place] !== word);
      const kept = words.map((word, place) => (isTelling(word, place) ? word : "…"));
      const text = kept.filter((word, place) => word !== "…" || kept[place - 1] !== "…").join("");
      found.set(name, { text: text.replace(/…(?=[^/\s])/g, "…/").replace(/(?<=[^\s])…/g, "/…"), byEnd: isAlone });
    }
  }
  return found;
}

/** A name that loses its middle where there is no room for it. */
export function named(text, { title = text, byEnd = true } = {}) {
  const shown = short(text);
  const cut = byEnd ? tailOf(shown) : shown.length;
  return h("bdi", { class: "clip", title: title.slice(0, 1000) }, h("span", {}, shown.slice(0, cut)), h("span", {}, shown.slice(cut)));
}
