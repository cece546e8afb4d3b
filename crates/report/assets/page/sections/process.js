// One process: its threads over time, whose callbacks took the time, cycles of its executors, and what kernel and allocator tell.

function processPage(process, data, column) {
  const threads = data.threads.filter((thread) => thread.process_id === process.id).sort(byBusy);
  const executors = data.executors.filter((executor) => executor.process_id === process.id);
  const memory = data.memory.filter((it) => it.process === process.id);
  const file = processName(process.name, process.pid);
  return [
    h("p", {}, h("a", { href: "#processes" }, "Processes")),
    h("h1", {}, name(file, false)),
    process.damaged && h("p", { class: "notice bad" }, "Events of this process were lost, so that times are uncertain. ", definitionLink("what-counts-and-what-does-not")),
    tiles([
      ["executions", count(process.callback_instances)],
      ["time in callbacks", duration(process.busy_ns), { definition: "executor-thread-process" }],
      ["observed", duration(process.observed_ns), { definition: "executor-thread-process" }],
      ["cores", plain(process.cores), { definition: "executor-thread-process" }],
      memory.length > 0 && ["most memory", bytes(memory[0].peak), { definition: "kernel-and-memory" }],
    ]),
    h("div", { class: "card" }, facts([
      ["host", process.host && name(process.host, false)],
      ["ROS 2", process.distribution],
      ["middleware", process.rmw_implementation && name(process.rmw_implementation, false)],
      ["nodes", process.node_ids.length > 0 && process.node_ids.map((id, index) => [h("a", { href: `#nodes/${id}` }, name(process.node_names[index], false)), " "])],
    ])),
    cards(
      utilisationChart({ title: "Threads over time", data, column, file: `${file} threads`, entries: threads.slice(0, BUSIEST).map((thread) => ({ name: threadName(thread), shares: thread.over_time.callbacks })) }),
      executors.length > 0 && utilisationChart({ title: "Executors over time", data, column, file: `${file} executors`, entries: executors.slice(0, BUSIEST).map((executor) => ({ name: executorName(executor), shares: executor.chart })) }),
      threads.slice(0, 6).map((thread) => threadTimeChart(thread, data, column, file)),
    ),
    executors.length > 0 && section("Executors", h("div", { class: "card" }, declaredTable(data.executors, { id: "executors", file: "executors", rows: executors }))),
    threads.length > 0 && section("Threads", h("div", { class: "card" }, declaredTable(data.threads, { id: "threads", file: "threads", rows: threads, link: undefined, without: ["process"] })), shareBars(threads)),
    section("Spin cycles", describedThreads(threads, data, column, file, { of: (thread) => thread.spin_cycles, numbers: "duration", title: "spin", label: "duration of a cycle", counted: "cycles", definition: "executor-thread-process" })),
    section("Scheduling delays", describedThreads(threads, data, column, file, { of: (thread) => thread.delays, numbers: "delay", title: "scheduling delay", label: "ready to running", counted: "delays", definition: "kernel-and-memory" })),
    memorySection(memory, column, file),
  ];
}

/** What a thread did, stretch by stretch; the rest of it is not observed. */
function threadTimeChart(thread, data, column, file) {
  const x = column(data.t);
  const width = x.map(() => data.width);
  const part = (title, reference, paint) => ({ name: title, draw: "bars", colour: paint, x, y: sharesOf(column, reference), width });
  return h("div", { class: "card" }, chart({
    title: `What ${threadName(thread)} did`, definition: "executor-thread-process", x: "time", y: { label: "share of the time", kind: "share" }, stacked: true, height: 280, file: `${file} ${threadName(thread)}`,
    series: [part("callbacks", thread.over_time.callbacks, colour("cause-execution")), part("executor", thread.over_time.executor, colour("cause-executor")), part("waiting for work", thread.over_time.waiting, colour("cause-unknown"))],
  }));
}

/** Whose callbacks took the time of each thread: bars of the share of its busy time. */
function shareBars(threads) {
  const busy = threads.filter((thread) => thread.busy_ns > 0);
  if (busy.length === 0) return null;
  return h("div", { class: "card" },
    h("h3", {}, "Share of each callback in the busy time of its thread ", definitionLink("executor-thread-process")),
    h("div", { class: "shares" }, busy.map((thread) => [
      h("span", { class: "small" }, name(threadOfProcess(thread))),
      stackedBar(thread.ran.filter((it) => it.busy !== null).map((it, index) => ({ value: it.busy, colour: it.callback === null ? colour("cause-others") : seriesColour(index), title: `${it.name}: ${duration(it.busy)}, ${share(it.of_busy)} of the busy time, ${count(it.executions)} executions` })), thread.busy_ns),
      h("span", { class: "number small" }, share(thread.utilisation)),
    ])),
    h("h3", {}, "The same as a table"),
    table({
      id: "shares", file: "shares", filter: "Filter by callback", sort: { key: "busy", descending: true },
      rows: busy.flatMap((thread) => thread.ran.map((it, index) => ({ ...it, id: `${thread.id}-${index}`, thread }))), link: (row) => (row.callback === null ? undefined : `#callbacks/${row.callback}`),
      columns: [
        { key: "name", title: "callback" },
        { key: "thread", title: "thread", text: (row) => threadOfProcess(row.thread), value: (row) => threadOfProcess(row.thread) },
        { key: "executions", title: "executions", kind: "count" },
        { key: "busy", title: "time in it", kind: "duration", definition: "executor-thread-process" },
        { key: "of_busy", title: "of the thread's busy time", kind: "share", definition: "executor-thread-process" },
        { key: "of_process", title: "of the process's time", kind: "share", definition: "executor-thread-process" },
      ],
    }));
}

/** Numbers and charts of something that threads have many of. */
function describedThreads(threads, data, column, file, { of, numbers, title, label, counted, definition }) {
  const kept = threads.filter((thread) => of(thread));
  if (kept.length === 0) return null;
  const shown = kept.slice(0, BUSIEST);
  return [
    h("div", { class: "card" }, statisticsTable({ id: title.replace(/ /g, "-"), of: "thread", file: `${file} ${title}`, rows: kept.map((thread) => ({ name: threadName(thread), numbers: of(thread)[numbers], definition })) })),
    cards(
      chartOverTime({ title: `${title[0].toUpperCase()}${title.slice(1)} over time`, definition, kind: "duration", label, file: `${file} ${title}`, entries: shown.map((thread) => ({ name: threadName(thread), series: of(thread).series, column, draw: "points" })) }),
      spreadCharts({ title, kind: "duration", label, of: counted, definition, ranks: data.ranks, file, entries: shown.map((thread) => ({ name: threadName(thread), spread: of(thread).spread, column })) }),
    ),
  ];
}

function memoryName(memory) {
  return `${memory.name || "process"} ${memory.pid ?? (memory.tid === null ? "" : `thread ${memory.tid}`)}`;
}

/** What was allocated and freed, and what was in use over time. */
function memorySection(memory, column, file) {
  if (memory.length === 0) return null;
  return section("Memory",
    memory.some((it) => it.uncertain) && h("p", { class: "notice warn" }, "Events were lost: what is in use may be too much or too little."),
    h("div", { class: "card" }, table({
      id: "memory", file: `${file} memory`, rows: memory, filter: memory.length > 8 ? "Filter by process" : undefined, sort: { key: "peak", descending: true },
      columns: [
        { key: "name", title: "process", text: memoryName, value: memoryName },
        { key: "peak", title: "most in use", kind: "bytes", definition: "kernel-and-memory" },
        { key: "peak_at", title: "at", kind: "time" },
        { key: "allocations", title: "blocks allocated", kind: "count", definition: "kernel-and-memory" },
        { key: "allocated", title: "allocated", kind: "bytes" },
        { key: "frees", title: "blocks freed", kind: "count" },
        { key: "freed", title: "freed", kind: "bytes" },
        { key: "unknown_frees", title: "blocks of before freed", kind: "count", definition: "kernel-and-memory" },
      ],
    })),
    cards(chartOverTime({
      title: "Memory in use that was allocated during the recording", definition: "kernel-and-memory", kind: "bytes", label: "in use", file: `${file} memory`,
      entries: [...memory].sort((a, b) => b.peak - a.peak).slice(0, BUSIEST).map((it) => ({ name: memoryName(it), series: it.bytes, column, draw: "step" })),
    })));
}
