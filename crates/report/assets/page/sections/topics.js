// Topics: the tables of topics and of communications, and several ends or communications in one chart. One topic alone is in topic.js.

view("topics", {
  title: "Topics",
  async draw(root, inner) {
    const { data, column } = await part("topics");
    if (inner.startsWith("compare/")) return void append(root, compareEnds(inner.slice(8).split(","), data, column));
    if (inner !== "") {
      const topic = data.topics.find((candidate) => String(candidate.id) === inner || candidate.name === inner);
      return void append(root, topic ? topicPage(topic, data, column) : [missing("topic", "topics")]);
    }
    append(root, topicTables(data, column));
  },
});

const CAUSE_OF_DROP = {
  ring_buffer_full: { title: "ring buffer full", colour: "#c93c5a" },
  history_full: { title: "history full", colour: "#e07b00" },
  middleware: { title: "middleware", colour: "#7e57c2" },
  recording_end: { title: "under way at the end", colour: "#9aa4ae" },
  unknown: { title: "unknown", colour: "#5f9ea8" },
};

const STAGE_COLOURS = { publish: "#7e57c2", transport: "#00939c", wait: "#e07b00", dispatch: "#d256a8" };

function communicationName(topic, communication) {
  return `${communication.from || "?"} → ${topic.name} → ${communication.to || "?"}${communication.kind === "intra" ? " (intra)" : ""}`;
}

/** Rates of the slowest and the fastest subscription. */
function receiveRate(topic) {
  const { receive_rate_min: least, receive_rate_max: most } = topic;
  if (least === null) return MISSING;
  return frequency(least) === frequency(most) ? frequency(least) : `${digits(least)} – ${frequency(most)}`;
}

function topicTables(data, column) {
  const chosen = new Set();
  const compare = compareButton("topics", chosen);
  const own = data.topics.filter((topic) => !topic.built_in);
  const places = [h("div"), h("div")];
  const fill = (all) => {
    const topics = all ? data.topics : own;
    places[0].replaceChildren(topicTable(topics));
    places[1].replaceChildren(communicationTable(topics, data, column, { chosen, onChange: compare.fill }));
  };
  fill(false);
  return [
    h("h1", {}, "Topics"),
    h("div", { class: "row" }, builtInChoice(data.topics.length - own.length, fill)),
    h("div", { class: "card" }, places[0]),
    h("h2", {}, "Communications ", definitionLink("communication")),
    h("p", { class: "quiet" }, "One publisher and one subscription each."),
    h("div", { class: "row" }, compare.link),
    h("div", { class: "card" }, places[1]),
  ];
}

function topicTable(topics) {
  return table({
    id: "topics", file: "topics", rows: topics, filter: "Filter by topic or node", sort: { key: "latency_max", descending: true }, link: (row) => `#topics/${row.id}`,
    columns: [
      { key: "name", title: "topic", text: (row) => [row.name, ...row.publishers.map((end) => end.node_name), ...row.subscriptions.map((end) => end.node_name)].join("\n"), value: (row) => row.name },
      { key: "publishers", title: "publishers", kind: "count", value: (row) => row.publishers.length },
      { key: "subscriptions", title: "subscriptions", kind: "count", value: (row) => row.subscriptions.length },
      { key: "published", title: "messages", kind: "count" },
      { key: "publish_rate", title: "published at", kind: "frequency", definition: "publisher-subscription-topic" },
      { key: "receive_rate_min", title: "received at", kind: "frequency", definition: "publisher-subscription-topic", cell: receiveRate },
      { key: "latency_p50", title: "latency p50", kind: "duration", definition: "communication", value: (row) => row.latency?.p50 },
      { key: "latency_p99", title: "latency p99", kind: "duration", value: (row) => row.latency?.p99 },
      { key: "latency_max", title: "latency max", kind: "duration", value: (row) => row.latency?.max },
      lostColumn(),
    ],
  });
}

function lostColumn() {
  return { key: "lost", title: "lost", kind: "count", definition: "communication", cell: (row) => h("span", { class: row.lost > 0 ? "bad" : "quiet" }, count(row.lost)) };
}

function communicationTable(topics, data, column, { chosen, onChange, showTopic = true } = {}) {
  const rows = topics.flatMap((topic) => topic.communications.map((communication) => ({ ...communication, topic, publisherEnd: topic.publishers.find((end) => end.id === communication.publisher), subscriptionEnd: topic.subscriptions.find((end) => end.id === communication.subscription) })));
  const numbers = (key, title, more) => ({ key: `latency_${key}`, title, kind: "duration", value: (row) => row.latency?.[key], ...more });
  const node = (end, text) => (end?.node === null || end === undefined ? name(text || "?") : h("a", { href: `#nodes/${end.node}` }, name(text)));
  return table({
    id: "communications", file: "communications", rows, filter: "Filter by topic or node", sort: { key: "latency_max", descending: true }, link: showTopic ? (row) => `#topics/${row.topic.id}` : undefined,
    columns: [
      chosen && choiceColumn(chosen, (row) => `c${row.id}`, onChange),
      showTopic && { key: "topic", title: "topic", value: (row) => row.topic.name },
      { key: "from", title: "publisher", cell: (row) => node(row.publisherEnd, row.from) },
      { key: "to", title: "subscription", cell: (row) => node(row.subscriptionEnd, row.to) },
      { key: "kind", title: "way", definition: "communication" },
      { key: "messages", title: "messages", kind: "count" },
      { key: "publish_rate", title: "published at", kind: "frequency", definition: "publisher-subscription-topic", value: (row) => row.publisherEnd?.rate },
      { key: "receive_rate", title: "received at", kind: "frequency", value: (row) => row.subscriptionEnd?.rate },
      numbers("p50", "latency p50", { definition: "communication" }), numbers("p99", "latency p99"), numbers("max", "latency max"),
      { key: "spark", title: "latency over time", drawnOnly: true, sortable: false, text: () => "", cell: (row) => sparkline(thinned(column(row.series?.v))) },
      lostColumn(),
      { key: "damaged", title: "damaged", kind: "count", definition: "what-counts-and-what-does-not", cell: (row) => h("span", { class: row.damaged > 0 ? "bad" : "quiet" }, count(row.damaged)) },
    ].filter(Boolean),
  });
}

/** Publishers (p1), subscriptions (s2) and communications (c3) in one chart for each metric. */
function compareEnds(keys, data, column) {
  const ends = [];
  const communications = [];
  for (const topic of data.topics) {
    for (const end of topic.publishers) if (keys.includes(`p${end.id}`)) ends.push({ ...end, name: `${end.node_name || "?"} → ${topic.name}` });
    for (const end of topic.subscriptions) if (keys.includes(`s${end.id}`)) ends.push({ ...end, name: `${end.node_name || "?"} ← ${topic.name}` });
    for (const communication of topic.communications) {
      if (!keys.includes(`c${communication.id}`)) continue;
      communications.push({ ...communication, name: communicationName(topic, communication) });
      // How often messages of a communication were published is what its publisher tells.
      const publisher = topic.publishers.find((end) => end.id === communication.publisher);
      if (publisher && !ends.some((end) => end.name === communicationName(topic, communication))) ends.push({ ...publisher, name: communicationName(topic, communication) });
    }
  }
  return [
    h("p", {}, h("a", { href: "#topics" }, "Topics")),
    h("h1", {}, `${count(keys.length)} in one chart`),
    latencyCharts(communications, data, column, "compared communications"),
    endCharts(ends, data, column, "compared"),
  ];
}

function latencyCharts(communications, data, column, file) {
  return section("Latency", cards(
    chartOverTime({ title: "Latency over time", definition: "communication", kind: "duration", label: "latency", file: `${file} latency`, onClick: leadToReceiver(communications, column), entries: communications.map((it) => ({ name: it.name, series: it.series, column })) }),
    spreadCharts({ title: "latency", kind: "duration", label: "latency", of: "messages", definition: "communication", ranks: data.ranks, file, entries: communications.map((it) => ({ name: it.name, spread: it.spread, column })) }),
  ));
}

/** A point is a message: it leads to the execution that it started. */
function leadToReceiver(communications, column) {
  const drawn = communications.filter((it) => it.series);
  if (!drawn.some((it) => it.callback !== null)) return undefined;
  return (index, row) => {
    const { series, callback } = drawn[index];
    if (callback !== null) location.hash = `#schedule/callback/${callback}/at/${Math.round(column(series.t)[row] + column(series.v)[row])}`;
  };
}

/** A point of a subscription leads to the execution that got the message, one of a publisher to what its node, or its process, did when it published. */
function leadToEnd(ends, metric, column) {
  if (metric === "frequency") return undefined;
  const drawn = ends.filter((end) => end.series[metric]);
  return (index, row) => {
    const end = drawn[index];
    const at = Math.round(column(end.series[metric].t)[row]);
    const of = end.callback !== null ? `callback/${end.callback}` : end.node !== null ? `node/${end.node}` : `process/${end.process}`;
    location.hash = `#schedule/${of}/at/${at}`;
  };
}

const END_METRICS = [
  { key: "frequency", title: "Frequency", kind: "frequency", of: "seconds", draw: "step" },
  { key: "period", title: "Period", kind: "duration", of: "periods" },
  { key: "age", title: "Message age", kind: "duration", of: "messages" },
];

/** Frequency, period and age of publishers and subscriptions: over time and as distributions. */
function endCharts(ends, data, column, file) {
  return END_METRICS.map((metric) => section(metric.title, cards(
    chartOverTime({ title: `${metric.title} over time`, definition: "publisher-subscription-topic", kind: metric.kind, label: metric.title.toLowerCase(), file: `${file} ${metric.key}`, onClick: leadToEnd(ends, metric.key, column), entries: ends.map((end) => ({ name: end.name, series: end.series[metric.key], column, draw: metric.draw })) }),
    spreadCharts({ title: metric.title.toLowerCase(), kind: metric.kind, label: metric.title.toLowerCase(), of: metric.of, definition: "publisher-subscription-topic", ranks: data.ranks, file, entries: ends.map((end) => ({ name: end.name, spread: end.spread[metric.key], column })) }),
  )));
}
