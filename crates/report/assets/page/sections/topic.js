// One topic: its ends, its communications with their stages, and what did not arrive.

function topicPage(topic, data, column) {
  const communications = topic.communications.map((it) => ({ ...it, name: communicationName(topic, it) }));
  const ends = [
    ...topic.publishers.map((end) => ({ ...end, key: `p${end.id}`, side: "publisher", name: `${end.node_name || "?"} → ${topic.name}` })),
    ...topic.subscriptions.map((end) => ({ ...end, key: `s${end.id}`, side: "subscription", name: `${end.node_name || "?"} ← ${topic.name}` })),
  ];
  const chosen = new Set();
  const compare = compareButton("topics", chosen);
  return [
    h("p", {}, h("a", { href: "#topics" }, "Topics")),
    h("h1", {}, name(topic.name, false)),
    tiles([
      ["messages", count(topic.published)],
      ["published at", frequency(topic.publish_rate), { definition: "publisher-subscription-topic" }],
      ["received at", receiveRate(topic), { definition: "publisher-subscription-topic" }],
      ["latency p99, worst", duration(topic.latency?.p99), { definition: "communication" }],
      ["lost", count(topic.lost), { definition: "communication", state: topic.lost > 0 ? "bad" : "" }],
    ]),
    h("div", { class: "row" }, compare.link),
    section("Publishers and subscriptions", h("div", { class: "card" }, endTable(ends, chosen, compare.fill))),
    communications.length > 0 && section("Communications", h("div", { class: "card" }, communicationTable([topic], data, column, { chosen, onChange: compare.fill, showTopic: false }))),
    latencyCharts(communications, data, column, topic.name),
    section("Stages", stageCharts(communications, data, column)),
    section("Messages that did not arrive", cards(dropCharts(topic, data, column))),
    endCharts(ends, data, column, topic.name),
    section("Message size", cards(chartOverTime({ title: "Message size over time", definition: "kernel-and-memory", kind: "bytes", label: "size", onClick: leadToEnd(ends, "size", column), entries: ends.map((end) => ({ name: end.name, series: end.series.size, column, draw: "points" })) }))),
    section("Slowest messages", communications.filter((it) => it.worst.length > 0).slice(0, 12).map((it) => [
      communications.length > 1 && h("h3", {}, name(it.name, false)),
      worstList(it.worst.map((message) => ({ at: message.why.begin, why: message.why, note: "published" }))),
    ]).flat()),
  ];
}

function endTable(ends, chosen, onChange) {
  return table({
    id: "ends", file: "publishers and subscriptions", rows: ends.map((end) => ({ ...end, id: end.key })),
    columns: [
      choiceColumn(chosen, (row) => row.key, onChange),
      { key: "side", title: "end" },
      { key: "node_name", title: "node", cell: (row) => (row.node === null ? MISSING : h("a", { href: `#nodes/${row.node}` }, name(row.node_name))) },
      { key: "pid", title: "process", cell: (row) => h("a", { href: `#processes/${row.process}` }, String(row.pid)) },
      { key: "callback", title: "callback", text: () => "", cell: (row) => (row.callback === null ? MISSING : h("a", { href: `#callbacks/${row.callback}` }, "open")) },
      { key: "depth", title: "depth", kind: "count" },
      { key: "messages", title: "messages", kind: "count" },
      { key: "rate", title: "rate", kind: "frequency", definition: "publisher-subscription-topic" },
      { key: "period_p50", title: "period p50", kind: "duration", definition: "publisher-subscription-topic", value: (row) => row.period?.p50 },
      { key: "period_p99", title: "period p99", kind: "duration", value: (row) => row.period?.p99 },
      { key: "period_max", title: "period max", kind: "duration", value: (row) => row.period?.max },
      { key: "age_p50", title: "message age p50", kind: "duration", definition: "publisher-subscription-topic", value: (row) => row.age?.p50 },
      { key: "age_max", title: "message age max", kind: "duration", value: (row) => row.age?.max },
      { key: "damaged", title: "damaged", kind: "count", definition: "what-counts-and-what-does-not" },
    ],
  });
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
      series: data.stages.map((stage, index) => ({ name: stage, draw: "bars", colour: STAGE_COLOURS[stage], x, y: column(communication.split.stages[index]), width })),
    }));
  });
  const tables = shown.map((communication) => h("div", { class: "card" }, shown.length > 1 && h("h3", {}, name(communication.name, false)), statisticsTable({
    id: `stages-${communication.id}`, of: "stage", file: `${communication.name} stages`,
    rows: [...data.stages.map((stage, index) => ({ name: stage, numbers: communication.stages[index], definition: "communication" })), { name: "latency", numbers: communication.latency, definition: "communication" }],
  })));
  return [cards(drawings), ...tables];
}

/** Lost messages of all communications over time, by cause. */
function dropCharts(topic, data, column) {
  if (!topic.drops) return null;
  const x = column(topic.drops.t);
  const series = data.causes.map((cause, index) => topic.drops.counts[index] && ({
    name: CAUSE_OF_DROP[cause].title, colour: CAUSE_OF_DROP[cause].colour, draw: "bars", x, y: column(topic.drops.counts[index]), width: x.map(() => topic.drops.width),
  })).filter(Boolean);
  const rows = data.causes.map((cause, index) => ({ id: cause, cause: CAUSE_OF_DROP[cause].title, messages: topic.dropped[index] })).filter((row) => row.messages > 0);
  return [
    h("div", { class: "card" }, chart({ title: "Messages that did not arrive, by when they were published", definition: "communication", x: "time", y: { label: "messages", kind: "count" }, stacked: true, series, height: 300, file: `${topic.name} drops` })),
    h("div", { class: "card" }, table({ id: "drops", file: `${topic.name} drops`, rows, columns: [{ key: "cause", title: "cause", definition: "communication" }, { key: "messages", title: "messages", kind: "count" }] })),
  ];
}
