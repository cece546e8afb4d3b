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
    append(root, callbackTable(data));
  },
});

/** What is not in this report, though a link leads to it. */
function missing(what, viewName) {
  return h("p", { class: "notice warn" }, `This ${what} is not in the report; perhaps the report was limited to others. `, h("a", { href: `#${viewName}` }, "All that are here"));
}

function triggerText(row) {
  if (row.kind === "timer") return `timer ${duration(row.period_ns)}`;
  return row.kind === "" ? MISSING : [row.kind, row.topic ?? row.service].filter(Boolean).join(" ");
}

function worstClass(worst) {
  return worst >= 1 ? "bad" : worst >= 0.5 ? "warn" : "";
}

function callbackTable(data) {
  const chosen = new Set();
  const compare = compareButton("callbacks", chosen);
  const { place, box } = withBuiltIn(data.callbacks, (rows) => declaredTable(data.callbacks, { id: "callbacks", file: "callbacks", rows, chosen, onChange: compare.fill }));
  return [
    h("h1", {}, "Callbacks"),
    h("p", { class: "quiet" }, "Worst first: the longest duration or lateness, as a share of the period. ", definitionLink("callback")),
    h("div", { class: "row" }, compare.link, box),
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
    const limit = only?.period_ns && metric.key !== "frequency" ? { y: only.period_ns, name: "period of the timer" } : undefined;
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
    h("div", { class: "card" }, declaredTable(data.callbacks, { id: "compared", file: "compared callbacks", rows: callbacks })),
    callbackCharts(callbacks, data, column, { file: "compared callbacks" }).map((charts, index) => section(CALLBACK_METRICS[index].title, cards(charts))),
  ];
}
