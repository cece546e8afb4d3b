// One topic: its ends, its communications with their stages, and what did not arrive.

function topicPage(topic, data, column) {
  const isIts = ({ topic_id }) => topic_id === topic.id;
  const communications = namedCommunications(data, isIts);
  const ends = namedEnds(data, isIts);
  const its = (rows, options) => rows.some(isIts) && h("div", { class: "card" }, declaredTable(rows, { rows: rows.filter(isIts), chosen, onChange: compare.fill, link: undefined, ...options }));
  const lost = topic.lost + topic.overwritten;
  const chosen = new Set();
  const compare = compareButton("topics", chosen);
  return [
    h("p", {}, h("a", { href: "#topics" }, "Topics")),
    h("h1", {}, name(topic.topic, false)),
    tiles([
      ["messages", count(topic.messages)],
      ["published at", frequency(topic.rate_hz), { definition: "publisher-subscription-topic" }],
      ["received at, slowest", frequency(topic.receive_rate_min_hz), { definition: "publisher-subscription-topic" }],
      ["latency p99, worst", duration(topic.latency_p99_ns), { definition: "communication" }],
      ["lost or overwritten", count(lost), { definition: "communication", state: lost > 0 ? "bad" : "" }],
    ]),
    h("div", { class: "row" }, compare.link),
    section("Publishers and subscriptions", its(data.publishers, { id: "publishers", file: "publishers" }), its(data.subscriptions, { id: "subscriptions", file: "subscriptions" })),
    section("Communications", its(data.communications, { id: "communications", file: "communications", without: ["topic"] })),
    latencyCharts(communications, data, column, topic.topic),
    section("Stages", stageCharts(communications, data, column)),
    section("Messages that did not arrive", cards(dropCharts(topic, data, column))),
    endCharts(ends, data, column, topic.topic),
    section("Message size", cards(chartOverTime({ title: "Message size over time", definition: "kernel-and-memory", kind: "bytes", label: "size", onClick: leadToEnd(ends, "size", column), entries: ends.map((end) => ({ name: end.name, series: end.series.size, column, draw: "points" })) }))),
    section("Slowest messages", communications.filter((it) => it.worst.length > 0).slice(0, 12).map((it) => [
      communications.length > 1 && h("h3", {}, name(it.name, false)),
      worstList(it.worst.map((message) => ({ at: message.why.begin, why: message.why, note: "published" }))),
    ]).flat()),
  ];
}

/** The slowest message of each stretch of time, cut into its stages; and the numbers of the stages. */
function stageCharts(communications, data, column) {
  const shown = communications.filter((it) => it.split).slice(0, 12);
  const drawings = shown.map((communication) => {
    const x = column(communication.split.t);
    const last = x.length > 1 ? x[x.length - 1] - x[x.length - 2] : 1e6;
    const width = x.map((time, row) => 0.99 * Math.max(1, (row + 1 < x.length ? x[row + 1] - time : last)));
    const title = communications.length > 1 ? `Stages of ${communication.name}` : "Stages of the slowest message of each stretch of time";
    return h("div", { class: "card" }, chart({
      title, definition: "communication", x: "time", y: { label: "latency", kind: "duration" }, stacked: true, height: 300, file: `${communication.name} stages`,
      onClick: communication.callback === null ? undefined : (_, row) => {
        const latency = communication.split.stages.reduce((sum, stage) => sum + (column(stage)[row] || 0), 0);
        location.hash = `#schedule/callback/${communication.callback}/at/${Math.round(x[row] + latency)}`;
      },
      series: data.stages.map((stage, index) => ({ name: stage, draw: "bars", colour: colour(`stage-${stage}`), x, y: column(communication.split.stages[index]), width })),
    }));
  });
  const tables = shown.map((communication) => h("div", { class: "card" }, shown.length > 1 && h("h3", {}, name(communication.name, false)), statisticsTable({
    id: `stages-${communication.id}`, of: "stage", file: `${communication.name} stages`,
    rows: [...data.stages.map((stage) => ({ name: stage, numbers: communication[`${stage}_stage_ns`], definition: "communication" })), { name: "latency", numbers: communication.latency_ns, definition: "communication" }],
  })));
  return [cards(drawings), ...tables];
}

/** Lost messages of all communications over time, by cause. */
function dropCharts(topic, data, column) {
  if (!topic.drops) return null;
  const x = column(topic.drops.t);
  const series = data.causes.map((cause, index) => topic.drops.counts[index] && ({
    name: CAUSE_OF_DROP[cause], colour: colour(`drop-${cause}`), draw: "bars", x, y: column(topic.drops.counts[index]), width: x.map(() => topic.drops.width),
  })).filter(Boolean);
  const rows = data.causes.map((cause, index) => ({ id: cause, cause: CAUSE_OF_DROP[cause], messages: topic.dropped[index] })).filter((row) => row.messages > 0);
  return [
    h("div", { class: "card" }, chart({ title: "Messages that did not arrive, by when they were published", definition: "communication", x: "time", y: { label: "messages", kind: "count" }, stacked: true, series, height: 300, file: `${topic.topic} drops` })),
    h("div", { class: "card" }, table({ id: "drops", file: `${topic.topic} drops`, rows, columns: [{ key: "cause", title: "cause", definition: "communication" }, { key: "messages", title: "messages", kind: "count" }] })),
  ];
}
