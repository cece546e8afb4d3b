// One callback: what it is, its metrics over time and as distributions, its schedule, and its worst executions.

function callbackPage(callback, data, column) {
  return [
    h("p", {}, h("a", { href: "#callbacks" }, "Callbacks")),
    h("h1", {}, name(callback.name, false)),
    callback.damaged > 0 && h("p", { class: "notice bad" }, `${count(callback.damaged)} executions touch a time in which events were lost. `, definitionLink("what-counts-and-what-does-not")),
    tiles([
      ["executions", count(callback.answers ?? callback.count)],
      ["frequency", frequency(callback.rate_hz), { definition: "callback" }],
      ["duration p99", duration(callback.duration_ns.p99), { definition: "callback" }],
      ["lateness p99", duration(callback.lateness_ns.p99), { definition: "timer" }],
      ["utilisation", share(callback.utilisation), { definition: "callback" }],
      ["worst / period", share(callback.worst_over_period), { definition: "callback", state: worstClass(callback.worst_over_period) }],
      callback.skipped > 0 && ["skipped", count(callback.skipped), { definition: "timer", state: "warn" }],
    ]),
    h("div", { class: "card" }, callbackFacts(callback)),
    section("Numbers", callbackNumbers(callback)),
    callback.count > 0 && section("Schedule", scheduleStrip(callback, column)),
    section("Worst executions", worstList(callback.worst.map((execution) => ({
      at: execution.start, why: execution.why, note: `on thread ${execution.tid}, ran ${duration(execution.duration)} `,
    })))),
    callbackCharts([callback], data, column, { file: callback.name }).map((charts, index) => section(CALLBACK_METRICS[index].title, cards(charts))),
  ];
}

function callbackFacts(callback) {
  return facts([
    ["node", callback.node_id !== null && h("a", { href: `#nodes/${callback.node_id}` }, name(callback.node, false))],
    ["trigger", callback.kind === "subscription" ? [`subscription `, h("a", { href: `#topics/${encodeURIComponent(callback.topic)}` }, name(callback.topic, false))] : name(triggerText(callback), false)],
    ["process", h("a", { href: `#processes/${callback.process_id}` }, name(processName(callback.process, callback.pid), false))],
    [callback.threads.length === 1 ? "thread" : "threads", callback.threads.slice(0, 40).join(", ")],
    ["executor", callback.executor && `executor_${callback.executor.id} (${callback.executor.kind.replace(/_/g, " ")})`],
    ["callback group", callback.group && `callback_group_${callback.group.id} (${callback.group.kind.replace(/_/g, " ")})`],
    ["function", callback.symbol && h("code", { class: "name" }, callback.symbol)],
  ]);
}

function callbackNumbers(callback) {
  const numbers = statisticsTable({
    id: "numbers", file: `${callback.name} numbers`,
    rows: [
      { name: "duration", numbers: callback.duration_ns, definition: "callback" },
      { name: "period", numbers: callback.period_ns_observed, definition: "callback" },
      { name: "gap", numbers: callback.gap_ns, definition: "callback" },
      { name: "jitter", numbers: callback.jitter_ns, definition: "callback" },
      { name: "lateness", numbers: callback.lateness_ns, definition: callback.kind === "timer" ? "timer" : "communication" },
    ],
  });
  return numbers && h("div", { class: "card" }, numbers);
}

/** Executions one after the other: a box from start to end, and a thin line from when it should have begun. */
function scheduleStrip(callback, column) {
  const strip = callback.strip;
  if (!strip) return null;
  const starts = column(strip.start);
  const durations = column(strip.duration);
  const dues = column(strip.due);
  const begin = Math.min(starts[0], dues[0]);
  let end = begin + 1;
  starts.forEach((start, row) => { end = Math.max(end, start + Math.max(0, durations[row])); });
  const x = (time) => ((time - begin) / (end - begin)) * 1000;
  const worst = callback.worst[0]?.start;
  const boxes = Array.from(starts, (start, row) => {
    const known = durations[row] >= 0;
    const title = `${sinceBegin(start)}: ${known ? `ran ${duration(durations[row])}` : "its end is not known"}${dues[row] < start ? `, ${duration(start - dues[row])} late` : ""}`;
    return svg("g", {},
      dues[row] < start && svg("rect", { class: "late", x: x(dues[row]), y: 39, width: Math.max(0.4, x(start) - x(dues[row])), height: 5 }),
      svg("rect", { class: start === worst ? "run worst" : "run", x: x(start), y: 6, width: Math.max(0.8, x(start + Math.max(0, durations[row])) - x(start)), height: 30 }, svg("title", {}, title)));
  });
  return h("div", { class: "card" },
    h("div", { class: "row" },
      h("span", { class: "quiet small" }, `${strip.whole ? `all ${count(starts.length)} executions` : `${count(starts.length)} executions around the worst one`}, ${sinceBegin(begin)} to ${sinceBegin(end)}`),
      h("a", { href: `#schedule/callback/${callback.id}/at/${worst ?? Math.round(begin)}` }, "In the schedule")),
    svg("svg", { class: "strip", viewBox: "0 0 1000 46", preserveAspectRatio: "none", role: "img", "aria-label": "Executions one after the other" },
      svg("rect", { class: "lane", x: 0, y: 20, width: 1000, height: 2 }), boxes));
}
