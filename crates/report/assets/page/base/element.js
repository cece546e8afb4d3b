// Elements are made here, and text only ever becomes a text node: no name in a trace can become markup.

/** h("td", {class: "number"}, "7 ms", otherElement). Attributes that are undefined, null or false are left out; `on…` are listeners. */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** The same for drawings. */
function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, String(value));
  }
  append(element, children);
  return element;
}

/** So much of the end of a name is always seen: names differ at their ends. With what triggers a callback it may be a little more. */
const NAME_TAIL = 18;
const LONGEST_TAIL = 24;

/** A name as people wrote it. Where it is too long its middle goes; all of it is in its tooltip. */
function name(text, clipped = true) {
  if (!clipped) return h("span", { class: "name", dir: "auto" }, text);
  const trigger = Math.max(text.lastIndexOf(" · "), text.lastIndexOf(" ← "));
  const tail = trigger < 0 ? NAME_TAIL : Math.min(text.length - trigger + 10, LONGEST_TAIL);
  // A few letters more than fit are not worth a cut.
  const cut = text.length - tail < 6 ? 0 : text.length - tail;
  return h("span", { class: "clip", title: text, dir: "auto" }, h("span", {}, text.slice(0, cut)), h("span", {}, text.slice(cut)));
}

/** Gives a file to the reader. */
function download(fileName, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = h("a", { href: address, download: fileName });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A name that every file system takes. */
function fileName(text, ending) {
  const plain = text.replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^[_.]+|_+$/g, "").slice(0, 80);
  return `${plain || "chart"}.${ending}`;
}
