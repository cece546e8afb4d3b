// Callback scheduling: lanes per thread, per callback group or per callback, of what the reader chooses.

const scheduleChoice = { lanes: "thread", order: null, colours: "callback", builtIn: false };

/** With more lanes than this the busiest come first, unless the reader wants otherwise. */
const MANY_LANES = 40;
const LANE_ORDERS = { name: "name", load: "load", worst: "longest" };

const LANE_KINDS = { thread: "thread", group: "callback group", callback: "callback" };
const COLOUR_RULES = { callback: "callback", group: "callback group", node: "node" };

function nameOfThread(thread) {
  return thread.tid === thread.pid ? `${thread.name} · ${thread.pid}` : `${thread.name} · thread ${thread.tid}`;
}

function groupName(group, callbacks) {
  const nodes = [...new Set(callbacks.filter((callback) => callback.group === group.id).map((callback) => callback.node_name ?? "?"))];
  return `${nodes.slice(0, 2).join(", ")}${nodes.length > 2 ? ` and ${nodes.length - 2} more` : ""} · group ${group.id}, ${group.kind.replace(/_/g, " ")}`;
}

/** What can be looked at, and which callbacks that means. A path means all of its nodes; a callback also what shares its group or threads. */
async function scheduleTargets(data, callbacks) {
  const groups = new Map(data.groups.map((group) => [group.id, group]));
  const executorOf = (callback) => groups.get(callback.group)?.executor;
  const ids = (values) => [...new Set(values.filter((value) => value !== null && value !== undefined))];
  const processes = new Map(data.threads.map((thread) => [thread.process, `${thread.name} · ${thread.pid}`]));
  const processOf = (callback) => data.threads[callback.threads[0]]?.process;
  const named = callbacks.filter((callback) => callback.id !== null);
  const nodes = new Map(named.filter((callback) => callback.node !== null).map((callback) => [callback.node, callback.node_name]));
  const { data: paths } = document.getElementById("paths-data") ? await part("paths") : { data: { paths: [], details: [] } };
  const detail = new Map(paths.details.map((path) => [path.id, path]));
  const byName = (a, b) => a[1].localeCompare(b[1], undefined, { numeric: true });
  return {
    application: { name: "application", choices: [], callbacks: () => callbacks },
    process: { name: "process", choices: [...processes].sort(byName), callbacks: (id) => callbacks.filter((callback) => processOf(callback) === Number(id)) },
    executor: {
      name: "executor",
      choices: data.executors.filter((executor) => callbacks.some((callback) => executorOf(callback) === executor.id)).map((executor) => [executor.id, `${executor.kind.replace(/_/g, " ")} ${executor.id} of ${processes.get(executor.process) ?? executor.pid}`]),
      callbacks: (id) => callbacks.filter((callback) => executorOf(callback) === Number(id)),
    },
    node: { name: "node", choices: [...nodes].sort(byName), callbacks: (id) => callbacks.filter((callback) => callback.node === Number(id)) },
    group: {
      name: "callback group",
      choices: ids(callbacks.map((callback) => callback.group)).map((id) => [id, groupName(groups.get(id), callbacks)]),
      callbacks: (id) => callbacks.filter((callback) => callback.group === Number(id)),
    },
    path: {
      name: "path",
      choices: paths.paths.filter((path) => path.detailed).map((path) => [path.id, path.title]),
      callbacks: (id) => {
        const through = new Set(detail.get(id)?.nodes);
        return callbacks.filter((callback) => through.has(callback.node_name));
      },
    },
    thread: {
      name: "thread",
      choices: data.threads.map((thread) => [thread.id, nameOfThread(thread)]).sort(byName),
      callbacks: (id) => { const row = data.threads.findIndex((thread) => thread.id === Number(id)); return callbacks.filter((callback) => callback.on.has(row)); },
      threads: (id) => [data.threads.findIndex((thread) => thread.id === Number(id))],
    },
    callback: {
      name: "callback",
      choices: named.map((callback) => [callback.id, callback.name]).sort(byName),
      callbacks: (id) => {
        const chosen = named.find((callback) => callback.id === Number(id));
        if (!chosen) return [];
        return callbacks.filter((callback) => callback === chosen || (chosen.group !== null && callback.group === chosen.group) || [...callback.on].some((thread) => chosen.on.has(thread)));
      },
      threads: (id) => [...(named.find((callback) => callback.id === Number(id))?.on ?? [])],
    },
  };
}

/** The lanes of the chosen kind, in the order in which people look for them. */
function scheduleLanes(data, callbacks, kind, threads) {
  if (kind === "callback") {
    const groups = new Map(data.groups.map((group) => [group.id, group]));
    const rank = (callback) => [groups.get(callback.group)?.executor ?? 1e9, callback.group ?? 1e9, callback.number];
    const order = [...callbacks].sort((a, b) => { const [x, y] = [rank(a), rank(b)]; return x[0] - y[0] || x[1] - y[1] || x[2] - y[2]; });
    return order.map((callback) => laneOf({ label: callback.name, section: callback.group }, [callback]));
  }
  if (kind === "group") {
    const known = [...new Set(callbacks.map((callback) => callback.group))].sort((a, b) => (a ?? 1e9) - (b ?? 1e9));
    return known.map((id) => {
      const members = callbacks.filter((callback) => callback.group === id);
      const group = data.groups.find((candidate) => candidate.id === id);
      return laneOf({ label: group ? groupName(group, callbacks) : "without a known group", overlaps: true }, members);
    });
  }
  const shown = threads ?? [...new Set(callbacks.flatMap((callback) => [...callback.on]))];
  const place = (row) => data.threads[row];
  shown.sort((a, b) => place(a).process - place(b).process || place(a).tid - place(b).tid);
  return shown.filter((row) => place(row)).map((row) => {
    const members = callbacks.filter((callback) => callback.on.has(row));
    return laneOf({ label: nameOfThread(place(row)), section: place(row).process, thread: row }, members, (callback, at) => callback.threads[at] === row);
  });
}

/** The busiest or the one with the longest execution first, where that is wanted. */
function inOrder(data, lanes) {
  const order = scheduleChoice.order ?? orderOf(data.threads.length);
  if (order === "name") return lanes;
  const weight = (lane) => {
    let [busy, longest] = [0, 0];
    lane.starts.forEach((start, place) => {
      busy += busyOf(lane.callbacks.get(lane.owners[place]), lane.rows[place]);
      longest = Math.max(longest, lane.ends[place] - start);
    });
    return order === "load" ? busy : longest;
  };
  return lanes.map((lane) => ({ lane: { ...lane, section: undefined }, weight: weight(lane) })).sort((a, b) => b.weight - a.weight).map(({ lane }) => lane);
}

function orderOf(lanes) {
  return lanes > MANY_LANES ? "load" : "name";
}

/** By callback: a colour that is that of its group or node if so chosen. With a callback in focus the others step back. */
function schedulePaint(callbacks, rule, focus) {
  const numbers = new Map();
  const keyOf = (callback) => ({ callback: callback.number, group: callback.group, node: callback.node_name })[rule];
  for (const callback of callbacks) if (!numbers.has(keyOf(callback))) numbers.set(keyOf(callback), numbers.size);
  const colours = new Map();
  const paint = (callback) => {
    if (focus !== undefined && callback.id !== focus) return colour("quiet");
    const key = keyOf(callback);
    if (!colours.has(key)) colours.set(key, manyColours(numbers.get(key)));
    return colours.get(key);
  };
  return { paint, keyOf, forget: () => colours.clear(), keys: numbers };
}

function choiceOf(label, choices, value, act) {
  return h("label", { class: "choice" }, h("span", { class: "quiet small" }, label), " ",
    h("select", { onchange: (event) => act(event.target.value) }, choices.map(([key, text]) => h("option", { value: key, selected: String(key) === String(value) }, text.length > 90 ? `${text.slice(0, 44)}…${text.slice(-44)}` : text))));
}

view("schedule", {
  title: "Schedule",
  async draw(root, inner) {
    const source = await part("schedule");
    const { data } = source;
    const { lost, traces } = (await part("overview")).data;
    const all = executionsOf(source);
    // #schedule/callback/12/at/3400000: of what, which one, and an instant in nanoseconds since the begin.
    const [kind = "application", id, , at] = inner ? inner.split("/") : [];
    const targets = await scheduleTargets(data, all);
    const target = targets[kind] ?? targets.application;
    append(root, [h("h1", {}, "Schedule")]);
    if (all.length === 0) return void append(root, [h("p", { class: "notice" }, "No execution of a callback is in this part of the trace.")]);
    const holder = h("div");
    const address = (to, which) => { location.hash = which === undefined ? `#schedule${to === "application" ? "" : `/${to}`}` : `#schedule/${to}/${which}`; };
    const kinds = Object.entries(targets).filter(([key, it]) => key === "application" || it.choices.length > 0).map(([key, it]) => [key, it.name]);
    append(root, [
      h("div", { class: "row controls" },
        choiceOf("of", kinds, kind, (to) => address(to, targets[to].choices[0]?.[0])),
        target.choices.length > 0 && choiceOf("", target.choices, id, (which) => address(kind, which)),
        choiceOf("lanes per", Object.entries(LANE_KINDS), scheduleChoice.lanes, (to) => { scheduleChoice.lanes = to; fill(); }),
        choiceOf("by", Object.entries(LANE_ORDERS), scheduleChoice.order ?? orderOf(data.threads.length), (to) => { scheduleChoice.order = to; fill(); }),
        choiceOf("colours by", Object.entries(COLOUR_RULES), scheduleChoice.colours, (to) => { scheduleChoice.colours = to; fill(); }),
        h("label", { class: "choice" }, h("input", { type: "checkbox", checked: scheduleChoice.builtIn, onchange: (event) => { scheduleChoice.builtIn = event.target.checked; fill(); } }), " built-in callbacks")),
      data.apart > 0 && h("p", { class: "notice warn", "data-reduced": data.shown }, `Reduced: ${count(data.executions)} executions became ${count(data.shown)}. Neighbours of one callback less than ${duration(data.apart)} apart are drawn as one; the longest of each callback are kept. `, h("code", {}, "rostrace timeline"), " shows every one."),
      holder,
    ]);
    const focus = kind === "callback" && id !== undefined ? Number(id) : undefined;
    let range = null;
    function fill() {
      const wanted = (callback) => scheduleChoice.builtIn || !callback.built_in || callback.id === focus;
      const callbacks = target.callbacks(id).filter(wanted);
      if (callbacks.length === 0) return holder.replaceChildren(h("p", { class: "notice" }, "Nothing of this ran in this part of the trace."));
      range ??= at === undefined ? { view: spanOf(callbacks, data.end) } : aroundInstance(callbacks, focus, Number(at), data.end);
      holder.replaceChildren(...scheduleFigure(source, callbacks, { focus, threads: target.threads?.(id), view: range?.view, chosen: range?.chosen, lost, traces, title: kind === "application" ? "Callback scheduling" : `Callback scheduling of ${target.choices.find(([key]) => String(key) === id)?.[1] ?? target.name}`, keep: (from, to) => { range = { view: [from, to] }; } }));
    }
    fill();
  },
});

/** From the first execution to the last, with a little room. */
function spanOf(callbacks, end) {
  let [from, to] = [Infinity, 0];
  for (const callback of callbacks) {
    if (callback.starts.length === 0) continue;
    from = Math.min(from, callback.starts[0]);
    to = Math.max(to, callback.ends[callback.ends.length - 1]);
  }
  const room = (to - from) * 0.01;
  return from < to ? [Math.max(FROM, from - room), Math.min(Math.max(end, FROM + 1000), to + room)] : [FROM, Math.max(end, FROM + 1000)];
}

/** The callback that was executed at an instant, the innermost of several; the last one before it where nothing ran. */
function runningAt(callbacks, at, rowOf) {
  const begun = callbacks.filter((callback) => callback.starts[rowOf(callback)] <= at);
  const latest = (some) => some.reduce((best, callback) => (best === undefined || callback.starts[rowOf(callback)] > best.starts[rowOf(best)] ? callback : best), undefined);
  return latest(begun.filter((callback) => callback.ends[rowOf(callback)] >= at)) ?? latest(begun) ?? callbacks[0];
}

/** The execution at an instant, with some time around it. */
function aroundInstance(callbacks, focus, at, end) {
  const rowOf = (callback) => Math.max(0, firstNotBefore(callback.starts, at + 1) - 1);
  const callback = callbacks.find((candidate) => candidate.id === focus) ?? runningAt(callbacks, at, rowOf);
  const row = rowOf(callback);
  if (callback.starts.length === 0) return { view: [FROM, end] };
  const around = Math.max(20_000, (callback.ends[row] - callback.starts[row]) * 3, (callback.lateness?.[row] || 0) * 2);
  return { view: [callback.starts[row] - around, callback.ends[row] + around], chosen: { callback, row } };
}

/** The chart, its legend, and what is known of the execution that was clicked on. */
function scheduleFigure({ data }, callbacks, { focus, threads, view: range, chosen, title, keep, lost, traces }) {
  const lanes = inOrder(data, scheduleLanes(data, callbacks, scheduleChoice.lanes, threads));
  const colours = schedulePaint(callbacks, scheduleChoice.colours, focus);
  const facts = h("div", { class: "card", hidden: true, "data-instance": "" });
  let selected = null;
  const chart = timeView({
    title, definition: "callback", file: title, from: FROM, to: Math.max(FROM + 1000, data.end), view: range,
    described: `${count(lanes.length)} lanes of executions over time`,
    gutter: (width) => Math.min(width * 0.3, 300),
    height: () => lanes.length * LANE_HEIGHT + 6,
    onView: (from, to) => keep?.(from, to),
    draw(pen, frame) {
      colours.forget();
      for (const [lostFrom, lostTo] of lost) {
        const [x, to] = [Math.max(frame.left, frame.x(lostFrom)), Math.min(frame.left + frame.width, frame.x(lostTo))];
        if (to > x) pen.rect(x, frame.top, Math.max(1, to - x), frame.height, { fill: colour("bad"), alpha: 0.12 });
      }
      const [line, soft, ink] = [colour("line"), colour("soft"), colour("ink")];
      lanes.forEach((lane, number) => {
        const y = frame.top - frame.scroll + 3 + number * LANE_HEIGHT;
        if (y + LANE_HEIGHT < frame.top || y > frame.top + frame.height) return;
        if (number % 2 === 0) pen.rect(0, y, frame.left + frame.width, LANE_HEIGHT, { fill: soft, alpha: 0.6 });
        if (number > 0 && lanes[number - 1].section !== lane.section) pen.line([0, y, frame.left + frame.width, y], { stroke: line });
        pen.text(lane.label, 6, y + LANE_HEIGHT / 2 + 2, { fill: ink, size: 11.5, fit: frame.left - 14, keepEnd: true });
        pen.clipped(frame.left, y, frame.width, LANE_HEIGHT, () => {
          lane.drawn = drawLane(pen, frame, lane, y, colours.paint);
          if (selected && lane.callbacks.get(selected.callback.number) && (lane.thread === undefined || selected.callback.threads[selected.row] === lane.thread)) {
            const from = frame.x(selected.callback.starts[selected.row]);
            const to = frame.x(selected.callback.ends[selected.row]);
            pen.rect(from - 2, y + 6, Math.max(2, to - from) + 4, LANE_HEIGHT - 7, { stroke: ink, lineWidth: 2 });
          }
        });
      });
    },
    hit(x, y, frame) {
      const lane = lanes[Math.floor((y - frame.top + frame.scroll - 3) / LANE_HEIGHT)];
      const found = lane && executionAt(lane, frame, x);
      if (!found) return lane && x < frame.left ? { lines: [lane.label] } : null;
      return { ...found, lines: executionLines(found).concat(nameOfThread(data.threads[found.callback.threads[found.row]])) };
    },
    onClick: (found) => { if (found.callback) select(found); },
    numbers: () => executionNumbers(data, callbacks),
  });
  function select(found) {
    selected = found;
    facts.hidden = false;
    facts.replaceChildren(instanceFacts(data, traces, found, {
      zoom: () => { const around = aroundInstance([found.callback], found.callback.id, found.callback.starts[found.row], data.end); chart.show(...around.view); },
      step: (by) => {
        const row = found.row + by;
        if (row < 0 || row >= found.callback.starts.length) return;
        const [from, to] = chart.view();
        const middle = (found.callback.starts[row] + found.callback.ends[row]) / 2;
        if (middle < from || middle > to) chart.show(middle - (to - from) / 2, middle + (to - from) / 2);
        select({ callback: found.callback, row });
      },
    }));
    chart.redraw();
  }
  if (chosen) select(chosen);
  // For whoever wants to know how dense it looks: of each lane the share of the pixels, and how strong they are.
  chart.figure.shownLoad = () => lanes.map((lane) => ({ label: lane.label, drawn: lane.drawn ?? [] }));
  const names = { callback: (callback) => callback.name, group: (callback) => (callback.group === null ? "without a known group" : groupName(data.groups[callback.group], callbacks)), node: (callback) => callback.node_name ?? "unknown node" };
  const shownKeys = new Map();
  for (const callback of callbacks) if (!shownKeys.has(colours.keyOf(callback))) shownKeys.set(colours.keyOf(callback), callback);
  const chips = [...shownKeys.values()].slice(0, 24).map((callback) => h("span", { class: "chip" }, h("i", { style: `background:${colours.paint(callback)}` }), name(names[scheduleChoice.colours](callback))));
  const legend = focus === undefined && shownKeys.size > 1 && h("div", { class: "legend" }, chips, shownKeys.size > 24 && h("span", { class: "quiet small" }, `and ${shownKeys.size - 24} more`));
  const due = callbacks.some((callback) => callback.lateness) && h("p", { class: "quiet small hint" }, "Arrows: when a timer was due; red if it began late by a tenth of its period, and by a millisecond at least.");
  const signs = h("p", { class: "quiet small hint" }, "Where many executions share a pixel: the stronger the pale body, the more of that time was in callbacks; the bar is as high as the longest of them.");
  const gaps = lost.length > 0 && h("p", { class: "quiet small hint" }, "Red background: events are missing then, so that what looks idle may not have been.");
  return [h("div", { class: "card" }, chart.figure, gaps, signs, due, legend), facts];
}

/** The clicked execution. */
function instanceFacts(data, traces, { callback, row }, { zoom, step }) {
  const thread = data.threads[callback.threads[row]];
  const start = callback.starts[row];
  const lateness = callback.lateness?.[row];
  const fact = (term, ...content) => [h("dt", {}, term), h("dd", {}, content)];
  const command = `rostrace why ${traces} --callback '${callback.name.replace(/'/g, "'\\''")}' --at ${absolute(start)}`;
  return h("div", {},
    h("div", { class: "row" }, h("h3", {}, name(callback.name, false)), h("span", { class: "actions row" },
      h("button", { type: "button", onclick: () => step(-1) }, "← before"), h("button", { type: "button", onclick: () => step(1) }, "next →"), h("button", { type: "button", onclick: zoom }, "Zoom to it"))),
    h("dl", { class: "facts" },
      fact("start", `${sinceBegin(start)} · ${clockTime(start)} · ${absolute(start)} ns`),
      fact("end", callback.durations[row] < 0 ? "not in the trace" : `${sinceBegin(callback.ends[row])} · ${absolute(callback.ends[row])} ns`),
      fact("duration", callback.durations[row] < 0 ? MISSING : duration(callback.durations[row])),
      lateness !== undefined && !Number.isNaN(lateness) && fact("lateness", h("span", { class: lateness >= callback.late_from ? "bad" : undefined }, duration(lateness)), ` after it was due at ${sinceBegin(start - lateness)}`),
      callback.times?.[row] > 1 && fact("stands for", `${count(callback.times[row])} executions that lie close together`),
      callback.id !== null && fact("callback", h("a", { href: `#callbacks/${callback.id}` }, "duration, period and distribution"), " · ", h("a", { href: `#schedule/callback/${callback.id}/at/${Math.round(start)}` }, "its schedule")),
      callback.node !== null && fact("node", h("a", { href: `#nodes/${callback.node}` }, name(callback.node_name, false))),
      callback.of && fact(callback.kind === "subscription" ? "topic" : "service", name(callback.of, false)),
      callback.symbol && fact("function", name(callback.symbol)),
      fact("thread", h("a", { href: `#schedule/thread/${thread.id}` }, nameOfThread(thread)), thread.host && ` on ${thread.host}`),
      callback.group !== null && fact("callback group", h("a", { href: `#schedule/group/${callback.group}` }, `${data.groups[callback.group].kind.replace(/_/g, " ")} ${callback.group}`)),
      fact("why", copyable(command))));
}

function executionNumbers(data, callbacks) {
  const lines = ["callback,node,pid,tid,start_ns,end_ns,duration_ns,lateness_ns,executions"];
  for (const callback of callbacks) {
    for (let row = 0; row < callback.starts.length; row++) {
      const thread = data.threads[callback.threads[row]];
      const ended = callback.durations[row] >= 0;
      const late = callback.lateness?.[row];
      lines.push([csvCell(callback.name), csvCell(callback.node_name), thread.pid, thread.tid, absolute(callback.starts[row]), ended ? absolute(callback.ends[row]) : "", ended ? callback.durations[row] : "", late === undefined || Number.isNaN(late) ? "" : late, callback.times?.[row] ?? 1].join(","));
    }
  }
  return `${lines.join("\n")}\n`;
}
