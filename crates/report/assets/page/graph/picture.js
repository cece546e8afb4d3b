// The picture of the graph: boxes, edges and what can be done with them, as SVG.

const LABEL_LETTERS = 25;
const FONT = { node: 13, callback: 12, topic: 12 };
const LINE = 16;
/** Edges that are named at once. */
const MOST_NAMED = 30;

/** A name in at most two lines, broken where words end. */
function labelLines(text) {
  if (text.length <= LABEL_LETTERS) return [text];
  const short = text.length > 2 * LABEL_LETTERS ? `${text.slice(0, LABEL_LETTERS)}…${text.slice(1 - LABEL_LETTERS)}` : text;
  let cut = Math.ceil(short.length / 2);
  for (let step = 0; step < 10; step++) {
    const found = [cut + step, cut - step].find((at) => "_/ …-".includes(short[at - 1]));
    if (found) { cut = found; break; }
  }
  return [short.slice(0, cut), short.slice(cut)];
}

const kindOf = (box) => (box.callback || box.subject.kind === "outside" ? "callback" : box.subject.kind);

/** Gives boxes their sizes, before they are laid out. */
function measureBoxes(boxes) {
  for (const box of boxes) {
    const kind = kindOf(box);
    const size = FONT[kind] ?? FONT.node;
    if (box.items) {
      box.lines = [box.label.length > 60 ? `${box.label.slice(0, 59)}…` : box.label];
      box.least = textWidth(box.lines[0], 13, 600) + 56;
      continue;
    }
    box.lines = labelLines(box.label);
    const widest = Math.max(...box.lines.map((line) => textWidth(line, size, kind === "namespace" ? 600 : 400)));
    box.width = Math.ceil(Math.max(kind === "namespace" ? 132 : 76, widest + (kind === "topic" ? 28 : kind === "namespace" ? 42 : 30)));
    box.height = box.lines.length * LINE + (kind === "outside" ? 10 : LINE + 12);
  }
}

/** What stands below the name of a box. */
function secondLine(box, picked) {
  const written = FIGURES[picked].written;
  const value = written && box.figures[picked] !== null && box.figures[picked] !== undefined ? written(box.figures[picked]) : "";
  const { subject } = box;
  if (subject.kind === "namespace") return `${count(box.members.length)} nodes${value && ` · ${value}`}`;
  if (picked !== "none") return value || MISSING;
  if (box.topic) return `${count(subject.publishers.length)} → ${count(subject.subscriptions.length)}`;
  if (box.callback) return `${count(subject.executions)} executions`;
  return subject.kind === "node" ? `${count(subject.callbacks.length)} callback${subject.callbacks.length === 1 ? "" : "s"}` : "";
}

/**
 * Draws what `seenGraph` found and `nestedLayout` placed. `actions`: {select(thing), toggle(subject), hover(thing or null)}.
 * The result is the group that the camera moves; every box and edge keeps its element.
 */
function drawGraph(seen, routes, actions) {
  const clusters = svg("g", {});
  const lines = svg("g", { class: "edges" });
  const boxes = svg("g", {});
  const labels = svg("g", { class: "edge-labels" });
  for (const box of seen.boxes.filter((it) => it.items).sort((a, b) => a.x - b.x || b.width - a.width)) {
    box.element = drawCluster(box, actions);
    clusters.append(box.element);
  }
  seen.edges.forEach((edge, index) => {
    edge.points = routes[index];
    edge.element = drawEdge(edge);
    lines.append(edge.element);
  });
  for (const box of seen.boxes) {
    if (box.items) continue;
    box.element = drawBox(box, actions);
    boxes.append(box.element);
  }
  return svg("g", { class: "camera" }, clusters, lines, boxes, labels);
}

function drawCluster(box, actions) {
  const { x, y, width, height, subject } = box;
  const close = svg("g", { class: "toggle", role: "button", tabindex: 0, "aria-label": `Close ${box.label}`, transform: `translate(${x + 16} ${y + 16})` },
    svg("circle", { r: 8 }), svg("path", { d: "M-4 0H4" }));
  onPress(close, () => actions.toggle(subject));
  const title = svg("text", { x: x + 30, y: y + 20, class: "cluster-name" }, box.lines[0]);
  onPress(title, () => actions.select(box));
  return svg("g", { class: `cluster ${subject.kind}`, "data-box": subject.path ?? subject.name },
    svg("title", {}, subject.path ?? subject.name),
    svg("rect", { x, y, width, height, rx: 10 }), title, close);
}

function drawBox(box, actions) {
  const { x, y, width, height, subject, lines } = box;
  const kind = kindOf(box);
  const fullName = subject.path ?? subject.name ?? box.label;
  const element = svg("g", { class: `box ${kind}`, tabindex: 0, role: "button", transform: `translate(${x} ${y})`, "aria-label": ariaLabel(box, fullName), "data-box": fullName });
  append(element, [
    svg("title", {}, fullName.length > 300 ? `${fullName.slice(0, 299)}…` : fullName),
    kind === "namespace" && svg("rect", { class: "behind", x: 4, y: 4, width, height, rx: 8 }),
    svg("rect", { class: "body", width, height, rx: kind === "topic" ? height / 2 : kind === "callback" ? 4 : 8 }),
    kind !== "topic" && svg("path", { class: "mark", d: `M8 0.8H5A4.2 4.2 0 0 0 0.8 5V${height - 5}A4.2 4.2 0 0 0 5 ${height - 0.8}H8Z` }),
  ]);
  lines.forEach((line, index) => element.append(svg("text", { x: width / 2 + (kind === "topic" ? 0 : 3), y: 17 + index * LINE, "text-anchor": "middle", class: "box-name" }, line)));
  box.value = svg("text", { x: width / 2 + (kind === "topic" ? 0 : 3), y: 17 + lines.length * LINE, "text-anchor": "middle", class: "box-value" });
  element.append(box.value);
  if (kind === "namespace" || (kind === "node" && subject.callbacks.length > 0)) {
    const open = svg("g", { class: "toggle", "aria-hidden": "true", transform: `translate(${width - 2} 3)` }, svg("circle", { r: 8 }), svg("path", { d: "M-4 0H4M0 -4V4" }));
    onPress(open, () => actions.toggle(subject));
    element.append(open);
  }
  onPress(element, () => (kind === "namespace" ? actions.toggle(subject) : actions.select(box)));
  element.addEventListener("dblclick", () => { if (kind === "node") actions.toggle(subject); });
  whileLookedAt(element, () => actions.hover(box), () => actions.hover(null));
  return element;
}

function ariaLabel(box, fullName) {
  const { subject } = box;
  if (subject.kind === "namespace") return `Namespace ${fullName}, ${box.members.length} nodes, closed`;
  return `${{ node: "Node", topic: "Topic", outside: "In this node" }[subject.kind] ?? "Callback"} ${fullName}`;
}

/** One element for each edge, because there may be thousands; which one the pointer is at is found by `edgeAt`. */
function drawEdge(edge) {
  const points = edge.points;
  const tip = points.at(-1);
  const before = points.findLast((point) => Math.abs(point[0] - tip[0]) > 0.5);
  const way = before && before[0] > tip[0] ? -1 : 1;
  const width = edge.figures.rate > 0 ? Math.min(5, 1.1 + 0.55 * Math.log10(1 + edge.figures.rate)) : 1;
  const size = 4 + width;
  const [x, y] = [Math.round(tip[0] * 10) / 10, Math.round(tip[1] * 10) / 10];
  // Two strokes from the tip: dashes begin anew with each, so that heads are never dashed.
  const inner = Math.round((x - way * width * 0.4) * 10) / 10;
  const head = [-0.55, 0.55].map((side) => `M${inner} ${y}L${(x - way * size).toFixed(1)} ${(y + side * size).toFixed(1)}`).join("");
  const silent = edge.figures.messages === 0 && ![...edge.calls].some((call) => call.unattributed > 0);
  const kinds = ["edge", silent && "silent", edge.topics.size === 0 && "service"].filter(Boolean);
  return svg("path", { class: kinds.join(" "), d: smoothPath(points) + head, "stroke-width": width.toFixed(2) });
}

/** The edge at a point of the drawing, if one is no further away. */
function edgeAt(seen, x, y, most) {
  let [found, nearest] = [null, most];
  for (const edge of seen.edges) {
    const distance = distanceTo(edge.points, x, y, nearest);
    if (distance !== null) [found, nearest] = [edge, distance];
  }
  return found;
}

function onPress(element, act) {
  element.addEventListener("click", (event) => {
    event.stopPropagation();
    act();
  });
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
}

function whileLookedAt(element, begin, end) {
  element.addEventListener("pointerenter", (event) => { if (event.pointerType !== "touch") begin(); });
  element.addEventListener("pointerleave", end);
  element.addEventListener("focus", begin);
  element.addEventListener("blur", end);
}

/** Colours everything by a figure; returns the scale. */
function paintGraph(seen, picked) {
  const closed = seen.boxes.filter((box) => !box.items);
  const scale = figureScale(picked, [...closed, ...seen.edges].map((it) => it.figures));
  for (const box of closed) {
    const paint = scale?.colour(box.figures[picked]);
    box.element.style.setProperty("--paint", paint ?? "var(--edge)");
    box.element.classList.toggle("painted", Boolean(paint));
    box.value.textContent = secondLine(box, picked);
  }
  for (const edge of seen.edges) {
    const paint = scale?.colour(edge.figures[picked]);
    if (paint) edge.element.setAttribute("stroke", paint);
    else edge.element.removeAttribute("stroke");
  }
  // Where edges run together, the worst lies on top.
  const value = (edge) => edge.figures[picked] ?? -1;
  if (scale && seen.edges.length > 0) seen.edges[0].element.parentNode.append(...seen.edges.toSorted((a, b) => value(a) - value(b)).map((edge) => edge.element));
  return scale;
}

/** Shows what a box or an edge is tied to, and makes the rest quiet. Names of topics stand on the edges, as long as they are few. */
function highlightGraph(seen, group, thing, matches) {
  const near = new Set(matches ?? []);
  const edges = new Set();
  if (thing?.from) edges.add(thing);
  else if (thing) for (const edge of seen.edges) if (inBox(edge.from, thing) || inBox(edge.to, thing)) edges.add(edge);
  if (thing && !thing.from) near.add(thing);
  for (const edge of edges) near.add(edge.from).add(edge.to);
  if (matches) for (const it of matches) if (it.from) edges.add(it);
  // Only what stands out is touched; that the rest is quiet is said once.
  for (const element of seen.standingOut ?? []) element.classList.remove("near", "chosen", "upstream");
  seen.standingOut = [];
  const standOut = (element, ...names) => {
    element.classList.add(...names);
    seen.standingOut.push(element);
  };
  group.classList.toggle("quiet", Boolean(thing) || Boolean(matches));
  for (const box of seen.boxes) {
    const isChosen = box === thing || Boolean(matches?.has(box));
    if (isChosen) standOut(box.element, "near", "chosen");
    else if (near.has(box) || (thing && !thing.from && inBox(box, thing))) standOut(box.element, "near");
  }
  for (const edge of edges) standOut(edge.element, "near", ...(thing && !thing.from && inBox(edge.to, thing) ? ["upstream"] : []));
  if (edges.size > 0) seen.edges[0].element.parentNode.append(...[...edges].map((edge) => edge.element));
  nameEdges(group.querySelector(".edge-labels"), thing ? [...edges] : []);
}

/** What an edge carries: topics, then services and actions. */
function carriedNames(edge) {
  const services = new Set([...edge.calls].map((call) => (call.service.is_action ? `${call.service.name} (action)` : `${call.service.name} (service)`)));
  return [...[...edge.topics].map((topic) => topic.name), ...services];
}

/** Writes the names of topics on edges, where one does not lie on the other. */
function nameEdges(labels, edges) {
  labels.replaceChildren();
  const named = edges.filter((edge) => !edge.from.topic && !edge.to.topic);
  if (named.length > MOST_NAMED) return;
  const taken = [];
  for (const edge of named) {
    const length = edge.element.getTotalLength();
    const carried = carriedNames(edge);
    const short = carried[0].length > 44 ? `…${carried[0].slice(-43)}` : carried[0];
    const text = carried.length > 1 ? `${short} + ${carried.length - 1}` : short;
    const half = textWidth(text, 11.5) / 2;
    for (const share of [0.5, 0.65, 0.35, 0.8, 0.2]) {
      const { x, y } = edge.element.getPointAtLength(length * share);
      if (taken.some((other) => Math.abs(other.x - x) < other.half + half + 4 && Math.abs(other.y - y) < 14)) continue;
      taken.push({ x, y, half });
      labels.append(svg("text", { x, y: y - 5, "text-anchor": "middle" }, text));
      break;
    }
  }
}

function inBox(box, outer) {
  for (let level = box; level; level = level.parent) if (level === outer) return true;
  return false;
}
