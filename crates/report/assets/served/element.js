// Elements, and names that keep the end by which they differ. Every name is a text node: what a trace calls itself is never markup.

export function element(kind, className, ...children) {
  const made = document.createElement(kind);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** No more of a name than anyone reads: the whole of it is in the panel. */
export function short(text) {
  return text.length > 300 ? `${text.slice(0, 199)}…${text.slice(-100)}` : text;
}

/** So much of the end of a name is always seen, and so much before what triggers a callback: `…planner · timer 10 ms`. */
const TAIL = 18;
const BEFORE_TRIGGER = 10;
const LONGEST_TAIL = 34;
const SHORTEST_HEAD = 6;

function tailOf(text) {
  const trigger = Math.max(text.lastIndexOf(' · '), text.lastIndexOf(' ← '));
  const wanted = trigger < 0 ? TAIL : text.length - trigger + BEFORE_TRIGGER;
  const cut = text.length - Math.min(wanted, LONGEST_TAIL);
  // A few letters more than fit are not worth a cut.
  return cut < SHORTEST_HEAD ? 0 : cut;
}

/** Names without the namespaces that those which end alike have in common: `…/left/…/velodyne_container`. By name, with whether it is told by its end. */
export function apart(names) {
  const alike = new Map();
  for (const name of new Set(names)) {
    // Only what is one name, not a list of some.
    if (!/^\/\S+$/.test(name)) continue;
    const parts = name.slice(1).split('/');
    const end = parts[parts.length - 1];
    if (!alike.has(end)) alike.set(end, []);
    alike.get(end).push({ name, parts });
  }
  const found = new Map();
  for (const members of alike.values()) {
    for (const { name, parts } of members) {
      const isTelling = (part, place) => place === parts.length - 1 || members.some((other) => other.parts[place] !== part);
      const kept = parts.map((part, place) => (isTelling(part, place) ? part : '…'));
      const text = kept.filter((part, place) => part !== '…' || kept[place - 1] !== '…').join('/').replace(/^(?!…)/, '/');
      found.set(name, { text, byEnd: members.length === 1 });
    }
  }
  return found;
}

/** A name that loses its middle where there is no room for it; all of it stays its text, and is its title. */
export function named(text, { title = text, byEnd = true } = {}) {
  const shown = short(text);
  const cut = byEnd ? tailOf(shown) : shown.length;
  const made = element('bdi', 'cut', element('span', '', shown.slice(0, cut)), element('span', '', shown.slice(cut)));
  made.title = title.slice(0, 1000);
  return made;
}
