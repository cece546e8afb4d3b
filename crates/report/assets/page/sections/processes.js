// Processes, executors and threads: who was busy when. One process alone is in process.js.

view("processes", {
  title: "Processes",
  async draw(root, inner) {
    const { data, column } = await part("processes");
    if (inner === "") return void append(root, processTables(data, column, (await part("nodes"))));
    const process = data.processes.find((candidate) => String(candidate.id) === inner);
    append(root, process ? processPage(process, data, column) : [missing("process", "processes")]);
  },
});

/** So many lines are drawn at once. */
const BUSIEST = 12;

function processName(process) {
  return `${process.name || "process"} ${process.pid}`;
}

function threadName(thread) {
  return `thread ${thread.tid}`;
}

/** Shares over time come in millionths. */
function sharesOf(column, reference) {
  return Float64Array.from(column(reference), (value) => value / 1e6);
}

/** One line for each: [{name, shares}]. */
function utilisationChart({ title, entries, data, column, ...options }) {
  const kept = entries.filter((entry) => entry.shares);
  if (kept.length === 0 || data.t.n === 0) return null;
  const x = column(data.t);
  return h("div", { class: "card" }, chart({
    title: `${title} (share of every ${duration(data.width)})`, definition: "executor-thread-process", x: "time", y: { label: "time in callbacks", kind: "share" }, height: chartHeight(kept.length),
    series: kept.map((entry) => ({ name: entry.name, x, y: sharesOf(column, entry.shares), draw: "step", colour: entry.colour })), ...options,
  }));
}

function byBusy(a, b) {
  return b.busy - a.busy;
}

function processTables(data, column, nodes) {
  const busiest = [...data.processes].sort(byBusy).slice(0, BUSIEST);
  const threads = [...data.threads].sort(byBusy).slice(0, BUSIEST);
  const processOf = new Map(data.processes.map((process) => [process.id, process]));
  return [
    h("h1", {}, "Processes, executors, threads"),
    h("div", { class: "card" }, processTable(data, column)),
    cards(
      utilisationChart({ title: data.processes.length > BUSIEST ? `Busiest ${BUSIEST} processes` : "Processes", data, column, entries: busiest.map((process) => ({ name: processName(process), shares: process.shares })) }),
      utilisationChart({ title: data.threads.length > BUSIEST ? `Busiest ${BUSIEST} threads` : "Threads", data, column, entries: threads.map((thread) => ({ name: `${processName(processOf.get(thread.process))} ${threadName(thread)}`, shares: thread.over_time.callbacks })) }),
    ),
    data.not_seen.map((sentence) => h("p", { class: "notice warn" }, `${sentence}. What their threads ran is below.`)),
    data.executors.length > 0 && section("Executors", h("div", { class: "card" }, executorTable(data.executors, column)),
      cards(utilisationChart({ title: "Executors", data, column, entries: [...data.executors].sort(byBusy).slice(0, BUSIEST).map((executor) => ({ name: executorName(executor), shares: executor.shares })) }))),
    data.threads.length > 0 && section("Threads", h("div", { class: "card" }, threadTable(data.threads, processOf, column)), shareBars(threads, processOf)),
    memorySection(data.memory, column, "processes"),
    nodes.data.calls.length > 0 && section("Calls of services", h("div", { class: "card" }, callTable(nodes.data.calls)), cards(callCharts(nodes.data.calls.slice(0, BUSIEST), nodes.data, nodes.column, "services"))),
  ];
}

function processTable(data, column) {
  return table({
    id: "processes", file: "processes", rows: data.processes, filter: data.processes.length > 8 ? "Filter by process or node" : undefined, sort: { key: "busy", descending: true }, link: (row) => `#processes/${row.id}`,
    columns: [
      { key: "name", title: "process", text: (row) => [processName(row), ...row.node_names].join("\n"), cell: (row) => name(processName(row)) },
      { key: "host", title: "host" },
      { key: "nodes", title: "nodes", kind: "count", value: (row) => row.nodes.length },
      { key: "threads", title: "threads", kind: "count" },
      { key: "executions", title: "executions", kind: "count" },
      { key: "busy", title: "time in callbacks", kind: "duration", definition: "executor-thread-process" },
      { key: "observed", title: "observed", kind: "duration" },
      { key: "cores", title: "cores", kind: "share", definition: "executor-thread-process", cell: (row) => (row.cores === null ? MISSING : digits(row.cores)) },
      { key: "spark", title: "over time", drawnOnly: true, sortable: false, text: () => "", cell: (row) => sparkline(thinned(column(row.shares))) },
    ].filter(Boolean),
  });
}

function executorName(executor) {
  return `executor_${executor.id} (${executor.kind.replace(/_/g, " ")})`;
}

function executorTable(executors, column) {
  return table({
    id: "executors", file: "executors", rows: executors, filter: executors.length > 8 ? "Filter" : undefined, sort: { key: "busy", descending: true },
    columns: [
      { key: "name", title: "executor", text: executorName, value: executorName },
      { key: "pid", title: "process", text: (row) => String(row.pid), cell: (row) => h("a", { href: `#processes/${row.process}` }, String(row.pid)) },
      { key: "threads", title: "threads", kind: "count", value: (row) => row.threads.length },
      { key: "callbacks", title: "callbacks", kind: "count" },
      { key: "executions", title: "executions", kind: "count" },
      { key: "busy", title: "time in callbacks", kind: "duration", definition: "executor-thread-process" },
      { key: "utilisation", title: "utilisation", kind: "share", definition: "executor-thread-process" },
      { key: "spark", title: "over time", drawnOnly: true, sortable: false, text: () => "", cell: (row) => sparkline(thinned(column(row.shares))) },
    ],
  });
}

function threadTable(threads, processOf, column) {
  return table({
    id: "threads", file: "threads", rows: threads, filter: threads.length > 8 ? "Filter by process or thread" : undefined, sort: { key: "busy", descending: true }, link: (row) => `#processes/${row.process}`,
    columns: [
      { key: "tid", title: "thread", text: (row) => `${processName(processOf.get(row.process))} ${row.tid}`, cell: (row) => name(`${processName(processOf.get(row.process))} ${threadName(row)}`) },
      { key: "utilisation", title: "utilisation", kind: "share", definition: "executor-thread-process" },
      { key: "busy", title: "in callbacks", kind: "duration", definition: "executor-thread-process" },
      { key: "executor_work", title: "in the executor", kind: "duration" },
      { key: "waiting", title: "waiting", kind: "duration" },
      { key: "unobserved", title: "unobserved", kind: "duration" },
      { key: "observed", title: "observed", kind: "duration" },
      { key: "executions", title: "executions", kind: "count" },
      { key: "spins", title: "spins", kind: "count", definition: "executor-thread-process", value: (row) => row.spins?.duration?.n },
      { key: "spin_max", title: "longest spin", kind: "duration", value: (row) => row.spins?.duration?.max },
      threads.some((thread) => thread.delays) && { key: "delay_p99", title: "scheduling delay p99", kind: "duration", definition: "kernel-and-memory", value: (row) => row.delays?.delay?.p99 },
      threads.some((thread) => thread.delays) && { key: "delay_max", title: "scheduling delay max", kind: "duration", value: (row) => row.delays?.delay?.max },
      { key: "spark", title: "over time", drawnOnly: true, sortable: false, text: () => "", cell: (row) => sparkline(thinned(column(row.over_time.callbacks))) },
    ].filter(Boolean),
  });
}
