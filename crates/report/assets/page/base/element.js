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

/** A name as people wrote it, cut by the style sheet where it is too long, whole in its tooltip. */
function name(text, clipped = true) {
  return h("span", { class: clipped ? "clip" : "name", title: clipped ? text : undefined, dir: "auto" }, text);
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
