// Elements are made here, and text only ever becomes a text node: no name in a trace can become markup.

/** h("td", {class: "number"}, "7 ms", otherElement). Attributes that are undefined, null or false are left out; `on…` are listeners. */
export function h(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export const SVG = "http://www.w3.org/2000/svg";

/** The same for drawings. */
export function svg(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** An element that has a class and nothing else. */
export function element(tag, className, ...children) {
  return h(tag, { class: className || undefined }, ...children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  return append(made, children);
}

export function append(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return parent;
}

/** Gives a file to the reader. */
export function download(fileName, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = h("a", { href: address, download: fileName });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A name that every file system takes. */
export function fileName(text, ending) {
  const plain = text.replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^[_.]+|_+$/g, "").slice(0, 80);
  return `${plain || "chart"}.${ending}`;
}
