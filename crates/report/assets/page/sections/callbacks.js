// Callbacks: the table, and several of them in one chart. One alone is in callback.js.

view("callbacks", {
  title: "Callbacks",
  async draw(root, inner) {
    const { data, column } = await part("callbacks");
    if (inner.startsWith("compare/")) {
      const chosen = inner.slice(8).split(",").map((id) => data.callbacks.find((callback) => String(callback.id) === id)).filter(Boolean);
      return void append(root, compareCallbacks(chosen, data, column));
    }
    if (inner !== "") {
      const callback = data.callbacks.find((candidate) => String(candidate.id) === inner);
      return void append(root, callback ? callbackPage(callback, data, column) : [missing("callback", "callbacks")]);
    }
    append(root, callbackTable(data, column));
  },
});

/** What is not in this report, though a link leads to it. */
function missing(what, viewName) {
  return h("p", { class: "notice warn" }, `This ${what} is not in the report; perhaps the report was limited to others. `, h("a", { href: `#${viewName}` }, "All that are here"));
}

function callbackColumns(rows, column, chosen, onChange) {
  const any = (wanted) => rows.some(wanted);
  const numbers = (metric, key, title, more) => ({ key: `${metric}_${key}`, title, kind: "duration", value: (row) => row[metric]?.[key], ...more });
  return [
    chosen && choiceColumn(chosen, (row) => row.id, onChange),
    { key: "name", title: "callback", cell: (row) => [name(row.name), row.built_in && h("span", { class: "tag" }, "built in")] },
    { key: "worst_over_period", title: "worst / period", kind: "share", definition: "callback", cell: (row) => h("span", { class: worstClass(row.worst_over_period) }, share(row.worst_over_period)) },
    { key: "count", title: "count", kind: "count" },
    { key: "rate", title: "frequency", kind: "frequency", definition: "callback", width: "normal" },
    numbers("duration", "p50", "duration p50", { definition: "callback" }),
    numbers("duration", "p99", "duration p99", { width: "medium" }),
    numbers("duration", "max", "duration max"),
    { key: "spark", title: "duration over time", drawnOnly: true, width: "medium", sortable: false, text: () => "", cell: (row) => sparkline(thinned(column(row.series.duration?.v))) },
    numbers("period", "p50", "period p50", { definition: "callback", width: "wide" }),
    numbers("period", "max", "period max", { width: "wide" }),
    numbers("lateness", "p99", "lateness p99", { definition: "timer", width: "wide" }),
    numbers("lateness", "max", "lateness max"),
    { key: "utilisation", title: "utilisation", kind: "share", definition: "callback", width: "normal" },
    { key: "damaged", title: "damaged", width: any((row) => row.damaged > 0) ? undefined : "wide", kind: "count", definition: "what-counts-and-what-does-not", cell: (row) => h("span", { class: row.damaged > 0 ? "bad" : "quiet" }, count(row.damaged)) },
    // The name says both; they are searched and saved.
    { key: "node_name", title: "node", unseen: true, cell: (row) => (row.node === null ? MISSING : h("a", { href: `#nodes/${row.node}` }, name(row.node_name))) },
    { key: "kind", title: "trigger", unseen: true, text: (row) => triggerText(row), value: (row) => triggerText(row) },
  ].filter(Boolean);
}

function triggerText(row) {
  if (row.kind === "timer") return `timer ${duration(row.set_period)}`;
  return row.kind === "unknown" ? MISSING : [row.kind, row.trigger].filter(Boolean).join(" ");
}

function worstClass(worst) {
  return worst >= 1 ? "bad" : worst >= 0.5 ? "warn" : "";
}

function callbackTable(data, column) {
  const chosen = new Set();
  const compare = compareButton("callbacks", chosen);
  const own = data.callbacks.filter((callback) => !callback.built_in);
  const place = h("div");
  const fill = (all) => place.replaceChildren(table({
    id: "callbacks", file: "callbacks", rows: all ? data.callbacks : own, filter: "Filter by callback, node or topic",
    sort: { key: "worst_over_period", descending: true }, link: (row) => `#callbacks/${row.id}`, columns: callbackColumns(data.callbacks, column, chosen, compare.fill),
  }));
  fill(false);
  return [
    h("h1", {}, "Callbacks"),
    h("p", { class: "quiet" }, "Worst first: the longest duration or lateness, as a share of the period. ", definitionLink("callback")),
    h("div", { class: "row" }, compare.link, builtInChoice(data.callbacks.length - own.length, fill)),
    h("div", { class: "card" }, place),
  ];
}

/** The metrics of callbacks that are drawn over time and as distributions. */
const CALLBACK_METRICS = [
  { key: "duration", title: "Duration", kind: "duration", definition: "callback", of: "executions" },
  { key: "period", title: "Period", kind: "duration", definition: "callback", of: "periods" },
  { key: "frequency", title: "Frequency", kind: "frequency", definition: "callback", of: "seconds", draw: "step" },
  { key: "lateness", title: "Lateness", kind: "duration", definition: "timer", of: "executions" },
];

/** For each metric a chart over time, a histogram and a cumulative distribution, with a line for each callback. */
function callbackCharts(callbacks, data, column, { metrics = CALLBACK_METRICS, spread = true, file } = {}) {
  const charts = metrics.map((metric) => {
    const title = metric.title.toLowerCase();
    const only = callbacks.length === 1 ? callbacks[0] : null;
    const limit = only?.set_period && metric.key !== "frequency" ? { y: only.set_period, name: "period of the timer" } : undefined;
    return [
      chartOverTime({
        title: `${metric.title} over time`, definition: metric.definition, kind: metric.kind, label: title, file: file && `${file} ${title}`,
        limit: metric.key === "period" ? limit : undefined,
        onClick: metric.key === "frequency" ? undefined : (index, row) => { const callback = callbacks.filter((it) => it.series[metric.key])[index]; location.hash = `#schedule/callback/${callback.id}/at/${Math.round(column(callback.series[metric.key].t)[row])}`; },
        entries: callbacks.map((callback) => ({ name: callback.name, series: callback.series[metric.key], column, draw: metric.draw })),
      }),
      spread && spreadCharts({
        title, kind: metric.kind, label: title, of: metric.of, definition: metric.definition, ranks: data.ranks, file,
        entries: callbacks.map((callback) => ({ name: callback.name, spread: callback.spread[metric.key], column })),
      }),
    ];
  });
  return charts;
}

function compareCallbacks(callbacks, data, column) {
  return [
    h("p", {}, h("a", { href: "#callbacks" }, "Callbacks")),
    h("h1", {}, `${count(callbacks.length)} callbacks in one chart`),
    h("div", { class: "card" }, table({
      id: "compared", file: "compared callbacks", rows: callbacks, link: (row) => `#callbacks/${row.id}`, columns: callbackColumns(callbacks, column),
    })),
    callbackCharts(callbacks, data, column, { file: "compared callbacks" }).map((charts, index) => section(CALLBACK_METRICS[index].title, cards(charts))),
  ];
}
