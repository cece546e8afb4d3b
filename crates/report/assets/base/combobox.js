// A field with a list of what fits below it: each word that is written has to be in the name. Keys and pointer choose.

import { append, h } from './element.js';

/**
 *   entries(): [{name}], row(entry): what is shown of one, choose(entry), most: how many are listed at once,
 *   listsAll: whether the list opens before anything is written, leave(): what Escape does besides
 */
export function combobox({ field, list, entries, row, choose, most, listsAll = false, leave = () => {} }) {
  let shown = [];
  let active = -1;

  function close() {
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
  }

  function take(entry) {
    close();
    choose(entry);
  }

  function highlight() {
    [...list.children].forEach((item, number) => {
      item.setAttribute("aria-selected", String(number === active));
      if (number === active) item.scrollIntoView({ block: "nearest" });
    });
    if (active >= 0) field.setAttribute("aria-activedescendant", list.children[active].id);
    else field.removeAttribute("aria-activedescendant");
  }

  function fill() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0 && !listsAll) return close();
    shown = entries().filter(({ name }) => words.every((word) => name.toLowerCase().includes(word))).slice(0, most);
    active = words.length > 0 && shown.length > 0 ? 0 : -1;
    list.replaceChildren(...shown.map((entry, number) => {
      const item = row(entry);
      item.id = `${list.id}-${number}`;
      item.setAttribute("role", "option");
      item.addEventListener("click", () => take(entry));
      return item;
    }));
    if (shown.length === 0) append(list, [h("p", {}, "Nothing has this in its name.")]);
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
    highlight();
  }

  field.addEventListener("input", fill);
  if (listsAll) field.addEventListener("focus", fill);
  field.addEventListener("blur", () => setTimeout(close, 150));
  // The field keeps the focus while the pointer chooses.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && shown.length > 0) {
      active = (active + step + shown.length) % shown.length;
      highlight();
    } else if (event.key === "Enter" && shown.length > 0) {
      list.children[Math.max(active, 0)].click();
    } else if (event.key === "Escape") {
      close();
      leave();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
}
