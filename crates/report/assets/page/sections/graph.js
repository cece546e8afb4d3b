// The graph of nodes and topics.

/** Labels smaller than this cannot be read. */
const SMALLEST_READABLE = 0.62;
/** Systems up to this size show their topics as boxes at first. */
const NODES_WITH_TOPICS = 14;
/** Connections by services up to which they are shown at first. */
const SERVICES_AT_FIRST = 80;
/** How near to an edge the pointer has to be, and how long it has to rest before the rest becomes quiet. */
const EDGE_REACH = 6;
const REST = 70;

/** What was opened and picked stays while the reader looks at other parts. */
let graphState = null;

function linkedOnce(data) {
  data.linked ??= linkedGraph(data);
  return data.linked;
}

function freshGraphState(graph) {
  const services = graph.calls.length <= SERVICES_AT_FIRST;
  const isShown = (node) => (services && node.asked.length + node.served.length > 0) || [...node.publishers, ...node.subscriptions].some(({ topic }) => !topic.hidden && topic.publishers.length > 0 && topic.subscriptions.length > 0);
  const measured = graph.communications.some((it) => it.p99 !== null && !it.subscription.topic.hidden) || (services && graph.calls.some((it) => it.p99 !== null));
  return { open: openedAtFirst(graph.namespaces, isShown), topics: graph.nodes.filter(isShown).length <= NODES_WITH_TOPICS, hidden: false, services, picked: measured ? "p99" : "rate" };
}

view("graph", {
  title: "Graph",
  async draw(root, inner) {
    const graph = linkedOnce((await part("graph")).data);
    if (graph.nodes.length === 0) return void append(root, [h("h1", {}, "Graph"), h("p", { class: "notice" }, "The trace names no node.")]);
    const state = (graphState ??= freshGraphState(graph));
    let seen;
    let group = null;
    let selected = null;
    let matches = null;

    const frame = svg("svg", { class: "graph", tabindex: 0, role: "group", "aria-label": "Graph of nodes, topics and services; + and − zoom, 0 shows all, arrows move" });
    const look = camera(frame, () => group, () => seen.root);
    const legend = h("div", { class: "graph-legend" });
    const panel = h("aside", { class: "card graph-panel", hidden: true, "aria-label": "What is chosen" });
    const apart = h("div", { class: "graph-apart" });
    const found = h("span", { class: "quiet small", "aria-live": "polite" });
    const stage = h("div", { class: "graph-stage" }, h("div", { class: "graph-frame" }, frame, zoomButtons(), legend), panel);

    const actions = {
      toggle(subject) {
        const before = seen.boxes.find((box) => box.subject === subject);
        const place = before && look.onScreen(before);
        const hadFocus = frame.contains(document.activeElement) && document.activeElement !== frame;
        if (!state.open.delete(subject)) state.open.add(subject);
        arrange();
        const after = seen.boxes.find((box) => box.subject === subject);
        // What had the focus is gone with the picture before.
        if (hadFocus) (after?.items ? after.element.querySelector(".toggle") : after?.element ?? frame).focus({ preventScroll: true });
        if (after && place) look.keep(after, place);
        if (after) look.reveal(after);
        if (selected) select(after ?? null);
      },
      select,
      /** What the pointer passes over on its way to elsewhere changes nothing. */
      hover(thing) {
        hovered = thing;
        clearTimeout(resting);
        resting = setTimeout(() => { if (group.isConnected && !frame.classList.contains("dragged")) highlightGraph(seen, group, thing ?? selected, thing ? null : matches); }, REST);
      },
    };
    let hovered = null;
    let resting = 0;
    const edgeUnder = (event) => {
      if (event.target !== frame && !event.target.closest(".edges, .cluster > rect")) return null;
      const [x, y, pixel] = look.inDrawing(event);
      return edgeAt(seen, x, y, EDGE_REACH * pixel);
    };
    frame.addEventListener("pointermove", (event) => {
      if (event.pointerType === "touch" || event.buttons > 0 || event.target.closest(".box")) return;
      const edge = edgeUnder(event);
      frame.classList.toggle("at-edge", edge !== null);
      if (edge !== hovered) actions.hover(edge);
    });
    frame.addEventListener("pointerleave", () => { if (hovered) actions.hover(null); });

    function arrange() {
      seen = seenGraph(graph, state);
      measureBoxes(seen.boxes);
      for (const box of seen.boxes) if (!box.items) box.figures = boxFigures(box, (topic) => state.hidden || !topic.hidden);
      for (const edge of seen.edges) edge.figures = edgeFigures(edge);
      const routes = nestedLayout(seen.root, seen.edges);
      group = drawGraph(seen, routes, actions);
      frame.replaceChildren(group);
      frame.dataset.boxes = seen.boxes.length;
      frame.dataset.edges = seen.edges.length;
      frame.style.height = `max(380px, min(calc(100vh - 220px), ${Math.ceil(seen.root.height * 1.15 + 60)}px))`;
      look.show();
      paint();
      fillApart();
      search();
    }

    function paint() {
      const scale = paintGraph(seen, state.picked);
      const figure = FIGURES[state.picked];
      legend.replaceChildren();
      legend.hidden = state.picked === "none";
      if (!scale) return append(legend, [`No ${figure.title} is known.`]);
      append(legend, [
        h("strong", {}, figure.title), definitionLink(figure.definition), h("span", { class: "number" }, figure.written(scale.low)),
        h("span", { class: "bar", style: `background: linear-gradient(to right, ${scale.stops.join(", ")})` }), h("span", { class: "number" }, figure.written(scale.high)),
        h("span", { class: "quiet" }, `boxes: ${figure.boxes}${figure.edges ? `; edges: ${figure.edges}` : ""}; wider edges: more messages; dashed: none${state.services && graph.calls.length > 0 ? "; dash and dot: services" : ""}`),
      ]);
    }

    function select(thing) {
      selected = thing;
      highlightGraph(seen, group, thing, thing ? null : matches);
      panel.hidden = !thing;
      stage.classList.toggle("with-panel", Boolean(thing));
      if (thing) panel.replaceChildren(h("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => select(null) }, "×"), ...append(h("div"), panelOf(thing, actions)).childNodes);
      // The panel takes room from the picture.
      if (thing && !thing.from) look.reveal(thing);
    }

    function fillApart() {
      apart.replaceChildren();
      if (seen.apart.length === 0) return;
      append(apart, [h("h2", {}, `Not in the picture (${count(seen.apart.length)})`),
        h("p", { class: "quiet small" }, state.hidden ? "These nodes are connected to no other." : "These nodes talk to nobody, or through what is hidden only."),
        seen.apart.slice(0, 400).map((node) => h("span", { class: "small" }, nodeLink(node)))]);
    }

    const searchField = h("input", { type: "search", placeholder: "Find in the graph…", "aria-label": "Find in the graph", oninput: () => search(), onkeydown: (event) => { if (event.key === "Enter") goToNext(); } });
    let next = 0;

    function fits(text) {
      const words = searchField.value.toLowerCase().split(/\s+/).filter(Boolean);
      return words.every((word) => text.toLowerCase().includes(word));
    }

    function search() {
      next = 0;
      matches = null;
      found.textContent = "";
      if (searchField.value.trim() !== "") {
        matches = new Set();
        for (const box of seen.boxes) {
          const { subject } = box;
          if (fits(subject.path ?? subject.name ?? "") || box.members?.some((node) => fits(node.name))) matches.add(box);
        }
        for (const edge of seen.edges) if (carriedNames(edge).some(fits)) matches.add(edge);
        found.textContent = matches.size === 0 ? "nothing" : `${count(matches.size)} found; Enter goes there`;
      }
      highlightGraph(seen, group, selected, matches);
    }

    /** What is found in a closed namespace opens it. */
    function goToNext() {
      const list = [...(matches ?? [])].filter((it) => !it.from || matches.size < 40);
      if (list.length === 0) return;
      const thing = list[next++ % list.length];
      if (thing.from) {
        const middle = thing.points[thing.points.length >> 1];
        look.centre({ x: middle[0], y: middle[1], width: 0, height: 0 });
        return;
      }
      const within = thing.subject.kind === "namespace" && !thing.items && thing.members.find((node) => fits(node.name));
      if (within) return goToNode(within);
      look.centre(thing);
    }

    function goToNode(node) {
      for (let space = node.parent; space?.parent; space = space.parent) state.open.add(space);
      arrange();
      const box = seen.boxes.find((it) => it.subject === node);
      if (!box) return;
      select(box);
      look.centre(box);
    }

    function zoomButtons() {
      const button = (label, title, act) => h("button", { type: "button", title, "aria-label": title, onclick: act }, label);
      return h("div", { class: "graph-zoom" }, button("+", "Nearer (+)", () => look.zoom(1.3)), button("−", "Farther (−)", () => look.zoom(1 / 1.3)), button("⤢", "Show all (0)", () => look.fit()));
    }

    const flip = (key, label, title) => h("label", { title }, h("input", { type: "checkbox", "data-switch": key, ...(state[key] ? { checked: true } : {}), onchange: (event) => { state[key] = event.target.checked; select(null); arrange(); look.fit(SMALLEST_READABLE); } }), label);
    const spaces = [];
    (function collect(space) { for (const child of space.children) if (child.kind === "namespace") { spaces.push(child); collect(child); } })(graph.namespaces);
    const openAll = (open) => { state.open = new Set(open ? spaces : []); select(null); arrange(); look.fit(open ? undefined : SMALLEST_READABLE); };
    const hiddenTopics = graph.topics.filter((topic) => topic.hidden && topic.publishers.length + topic.subscriptions.length > 0);
    const save = (label, title, act) => h("button", { type: "button", title, onclick: act }, label);
    const file = document.getElementById("title").textContent + " graph";
    const tools = h("div", { class: "graph-tools" },
      searchField, found,
      h("label", {}, "colour", h("select", { "data-switch": "picked", onchange: (event) => { state.picked = event.target.value; paint(); } },
        Object.entries(FIGURES).map(([key, { title }]) => h("option", { value: key, ...(key === state.picked ? { selected: true } : {}) }, title)))),
      flip("topics", "topics as boxes", "Topics between the nodes, instead of on the edges"),
      hiddenTopics.length > 0 && flip("hidden", `${count(hiddenTopics.length)} hidden topics`, hiddenTopics.map((topic) => `${topic.name.slice(0, 80)} (${topic.hidden})`).slice(0, 40).join("\n")),
      graph.calls.length > 0 && flip("services", "services and actions", `${count(graph.calls.length)} connections from who asks to who answers`),
      spaces.length > 0 && [h("button", { type: "button", onclick: () => openAll(true) }, "Open all"), h("button", { type: "button", onclick: () => openAll(false) }, "Close all")],
      h("span", { class: "end" },
        save("PNG", "Save as picture", async () => download(fileName(file, "png"), "image/png", await graphAsPng(group, seen.root))),
        save("SVG", "Save as drawing", () => download(fileName(file, "svg"), "image/svg+xml", graphAsSvg(group, seen.root))),
        save("CSV", "Save the numbers of all communications", () => download(fileName(file, "csv"), "text/csv", graphAsCsv(graph)))));

    append(root, [h("h1", {}, "Graph of nodes and topics"), tools, stage, apart]);
    frame.addEventListener("click", (event) => select(edgeUnder(event)));
    stage.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !selected) return;
      const box = selected.from ? null : selected;
      select(null);
      (box?.items ? box.element.querySelector(".toggle") : box?.element ?? frame).focus({ preventScroll: true });
    });
    arrange();
    observeOnce(frame, () => {
      look.fit(SMALLEST_READABLE);
      const wanted = graph.nodes.find((node) => node.lives.some((life) => String(life.id) === inner));
      if (wanted) goToNode(wanted);
      frame.dataset.drawn = "true";
    });
    onThemeChange.push(paint);
    return () => onThemeChange.splice(onThemeChange.indexOf(paint), 1);
  },
});
