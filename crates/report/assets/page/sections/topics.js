// Topics: the tables of topics and of communications, and several ends or communications in one chart. One topic alone is in topic.js.

view("topics", {
  title: "Topics",
  async draw(root, inner) {
    const { data, column } = await part("topics");
    if (inner.startsWith("compare/")) return void append(root, compareEnds(inner.slice(8).split(","), data, column));
    if (inner !== "") {
      const topic = data.topics.find((candidate) => String(candidate.id) === inner || candidate.topic === inner);
      return void append(root, topic ? topicPage(topic, data, column) : [missing("topic", "topics")]);
    }
    append(root, topicTables(data));
  },
});

const CAUSE_OF_DROP = { ring_buffer_full: "ring buffer full", history_full: "history full", middleware: "middleware", recording_end: "under way at the end", unknown: "unknown" };

function communicationName(it) {
  return `${it.pub_node || "?"} → ${it.topic} → ${it.sub_node || "?"}${it.kind === "intra" ? " (intra)" : ""}`;
}

/** Publishers and subscriptions as charts name them. */
function namedEnds(data, isWanted) {
  const named = (ends, arrow) => ends.filter(isWanted).map((end) => ({ ...end, name: `${end.node || "?"} ${arrow} ${end.topic}` }));
  return [...named(data.publishers, "→"), ...named(data.subscriptions, "←")];
}

function namedCommunications(data, isWanted) {
  return data.communications.filter(isWanted).map((it) => ({ ...it, name: communicationName(it) }));
}

function topicTables(data) {
  const chosen = new Set();
  const compare = compareButton("topics", chosen);
  const { place, box } = withBuiltIn(data.topics, (rows) => {
    const known = new Set(rows.map((topic) => topic.id));
    return [
      h("div", { class: "card" }, declaredTable(data.topics, { id: "topics", file: "topics", rows })),
      h("h2", {}, "Communications ", definitionLink("communication")),
      h("p", { class: "quiet" }, "One publisher and one subscription each."),
      h("div", { class: "row" }, compare.link),
      h("div", { class: "card" }, declaredTable(data.communications, { id: "communications", file: "communications", rows: data.communications.filter((it) => known.has(it.topic_id)), chosen, onChange: compare.fill })),
    ];
  });
  return [h("h1", {}, "Topics"), h("div", { class: "row" }, box), place];
}

/** Publishers (p1), subscriptions (s2) and communications (3) in one chart for each metric. */
function compareEnds(keys, data, column) {
  const isChosen = ({ id }) => keys.includes(String(id));
  const communications = namedCommunications(data, isChosen);
  // How often messages of a communication were published is what its publisher tells.
  const publishers = communications.map((it) => ({ ...data.publishers.find((end) => end.publisher === it.publisher), name: it.name }));
  const ends = [...namedEnds(data, isChosen), ...publishers];
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
    const of = end.callback_id !== null ? `callback/${end.callback_id}` : end.node_id !== null ? `node/${end.node_id}` : `process/${end.process_id}`;
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
