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

function processName(program, pid) {
  return `${program || "process"} ${pid}`;
}

function threadName(thread) {
  return `thread ${thread.tid}`;
}

function threadOfProcess(thread) {
  return `${processName(thread.process, thread.pid)} ${threadName(thread)}`;
}

function executorName({ executor, type }) {
  return type ? `${executor} (${type.replace(/_/g, " ")})` : executor;
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
  return b.busy_ns - a.busy_ns;
}

function processTables(data, column, nodes) {
  const busiest = [...data.processes].sort(byBusy).slice(0, BUSIEST);
  const threads = [...data.threads].sort(byBusy).slice(0, BUSIEST);
  return [
    h("h1", {}, "Processes, executors, threads"),
    h("div", { class: "card" }, declaredTable(data.processes, { id: "processes", file: "processes" })),
    cards(
      utilisationChart({ title: data.processes.length > BUSIEST ? `Busiest ${BUSIEST} processes` : "Processes", data, column, entries: busiest.map((process) => ({ name: processName(process.name, process.pid), shares: process.chart })) }),
      utilisationChart({ title: data.threads.length > BUSIEST ? `Busiest ${BUSIEST} threads` : "Threads", data, column, entries: threads.map((thread) => ({ name: threadOfProcess(thread), shares: thread.chart })) }),
    ),
    data.not_seen.map((sentence) => h("p", { class: "notice warn" }, `${sentence}. What their threads ran is below.`)),
    data.executors.length > 0 && section("Executors", h("div", { class: "card" }, declaredTable(data.executors, { id: "executors", file: "executors" })),
      cards(utilisationChart({ title: "Executors", data, column, entries: [...data.executors].sort(byBusy).slice(0, BUSIEST).map((executor) => ({ name: executorName(executor), shares: executor.chart })) }))),
    data.threads.length > 0 && section("Threads", h("div", { class: "card" }, declaredTable(data.threads, { id: "threads", file: "threads" })), shareBars(threads)),
    memorySection(data.memory, column, "processes"),
    nodes.data.calls.length > 0 && section("Calls of services", h("div", { class: "card" }, callTable(nodes.data.calls)), cards(callCharts(nodes.data.calls.slice(0, BUSIEST), nodes.data, nodes.column, "services"))),
  ];
}
