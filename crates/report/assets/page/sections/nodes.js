// Nodes: the table, and one node with all its callbacks, its services and its states.

view("nodes", {
  title: "Nodes",
  async draw(root, inner) {
    const { data, column } = await part("nodes");
    if (inner === "") return void append(root, nodeTable(data));
    const node = data.nodes.find((candidate) => String(candidate.id) === inner || candidate.node === inner);
    if (!node) return void append(root, [missing("node", "nodes")]);
    append(root, nodePage(node, { data, column, callbacks: await part("callbacks"), topics: await part("topics") }));
  },
});

function nodeTable(data) {
  const { place, box } = withBuiltIn(data.nodes, (rows) => declaredTable(data.nodes, { id: "nodes", file: "nodes", rows }));
  return [h("h1", {}, "Nodes"), h("div", { class: "row" }, box), h("div", { class: "card" }, place)];
}

function nodePage(node, { data, column, callbacks, topics }) {
  const all = callbacks.data.callbacks.filter((callback) => callback.node_id === node.id);
  const ran = all.filter((callback) => callback.count > 0);
  const own = ran.filter((callback) => !callback.built_in);
  const shown = own.length > 0 ? own : ran;
  const links = (ends) => {
    const known = new Map(ends.filter((end) => end.node_id === node.id && !end.built_in).map((end) => [end.topic_id, end.topic]));
    return known.size > 0 && [...known].map(([id, topic]) => [h("a", { href: `#topics/${id}` }, name(topic, false)), " "]);
  };
  const texts = (names) => names.length > 0 && names.map((text) => [name(text, false), " "]);
  const metrics = ["frequency", "period", "duration", "lateness"].map((key) => CALLBACK_METRICS.find((metric) => metric.key === key));
  const file = node.node;
  return [
    h("p", {}, h("a", { href: "#nodes" }, "Nodes")),
    h("h1", {}, name(node.node, false)),
    tiles([
      ["callbacks that ran", count(ran.length)],
      ["executions", count(node.callback_instances)],
      ["time in callbacks", duration(node.busy_ns), { definition: "executor-thread-process" }],
      ["share of the time", share(node.share), { definition: "executor-thread-process" }],
    ]),
    h("div", { class: "card" }, facts([
      ["process", h("a", { href: `#processes/${node.process_id}` }, name(processName(node.process, node.pid), false))],
      ["host", node.host && name(node.host, false)],
      ["publishes", links(topics.data.publishers)],
      ["subscribes", links(topics.data.subscriptions)],
      ["services", texts(node.service_names)],
      ["clients", texts(node.client_names)],
    ])),
    node.states.length > 0 && section("Lifecycle", stateStrip(node)),
    all.length > 0 && section("Callbacks", h("div", { class: "card" }, declaredTable(callbacks.data.callbacks, { id: "callbacks", file: `${file} callbacks`, rows: all.filter((callback) => callback.count > 0 || !callback.built_in) }))),
    callbackCharts(shown, callbacks.data, callbacks.column, { metrics, file }).map((charts, index) => section(metrics[index].title, cards(charts))),
    callPage(node, data, column),
  ];
}

/** The states of a lifecycle node, one after the other. */
function stateStrip(node) {
  const begin = node.states[0].begin;
  const known = node.states.map((state) => state.end ?? state.begin);
  const end = Math.max(begin + 1, ...known) + (Math.max(...known) - begin) * 0.08 + 1;
  const names = [...new Set(node.states.map((state) => state.state))];
  const paint = (state) => seriesColour(names.indexOf(state));
  const x = (time) => ((time - begin) / (end - begin)) * 1000;
  return h("div", { class: "card" },
    h("div", { class: "legend" }, names.map((state) => h("span", {}, h("span", { class: "swatch", style: `background:${paint(state)}` }), " ", name(state)))),
    svg("svg", { class: "strip", viewBox: "0 0 1000 46", preserveAspectRatio: "none", role: "img", "aria-label": "States one after the other" }, node.states.map((state) =>
      svg("rect", { x: x(state.begin), y: 8, height: 30, width: Math.max(1.5, x(state.end ?? end) - x(state.begin)), fill: paint(state.state), opacity: state.end === null ? 0.6 : 1 },
        svg("title", {}, `${state.state} from ${sinceBegin(state.begin)}${state.end === null ? " on" : ` for ${duration(state.end - state.begin)}`}`)))),
    table({
      id: "states", file: `${node.node} states`, rows: node.states.map((state, index) => ({ id: index, ...state, length: state.end === null ? null : state.end - state.begin })),
      columns: [{ key: "state", title: "state", definition: "lifecycle" }, { key: "begin", title: "begin", kind: "time" }, { key: "end", title: "end", kind: "time" }, { key: "length", title: "time in it", kind: "duration", definition: "lifecycle" }],
    }));
}

/** Calls of the services of a node, and its calls of others. */
function callPage(node, data, column) {
  const calls = data.calls.filter((call) => call.client_node === node.id || call.service_node === node.id);
  if (calls.length === 0) return null;
  return section("Calls of services", h("div", { class: "card" }, callTable(calls)), cards(callCharts(calls, data, column, node.node)));
}

function callTable(calls) {
  const numbers = (metric, title) => [
    { key: `${metric}_p50`, title: `${title} p50`, kind: "duration", definition: "service", value: (row) => row[metric]?.p50 },
    { key: `${metric}_max`, title: `${title} max`, kind: "duration", value: (row) => row[metric]?.max },
  ];
  const node = (id, text) => (id === null ? MISSING : h("a", { href: `#nodes/${id}` }, name(text)));
  return table({
    id: "calls", file: "calls of services", rows: calls, filter: calls.length > 10 ? "Filter by service or node" : undefined, sort: { key: "round_trip_max", descending: true },
    columns: [
      { key: "service", title: "service" },
      { key: "client_name", title: "client", cell: (row) => node(row.client_node, row.client_name) },
      { key: "service_name", title: "served by", cell: (row) => node(row.service_node, row.service_name) },
      { key: "calls", title: "calls", kind: "count" },
      { key: "answered", title: "answered", kind: "count" },
      ...numbers("round_trip", "round trip"), ...numbers("request", "request"), ...numbers("queue", "queue"), ...numbers("answering", "answering"), ...numbers("response", "response"),
    ],
  });
}

function callCharts(calls, data, column, file) {
  const named = calls.map((call) => ({ name: `${call.client_name || "?"} → ${call.service}`, series: call.series, spread: call.spread, column }));
  return [
    chartOverTime({ title: "Round trip over time", definition: "service", kind: "duration", label: "round trip", file: `${file} round trips`, entries: named.map((it) => ({ ...it, draw: "points" })) }),
    ...spreadCharts({ title: "round trip", kind: "duration", label: "round trip", of: "calls", definition: "service", ranks: data.ranks, file, entries: named }),
  ];
}
