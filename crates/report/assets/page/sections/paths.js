// Paths: all of them in a table, and for each that has details where its time goes.

const CASE_DASHES = { all: "solid", best: "dot", worst: "dash", worst_with_external_latency: "longdash" };
const CASE_WORDS = { all: "all", best: "best", worst: "worst", worst_with_external_latency: "worst with external latency" };
const pathChoice = { case: "all", flow: { coarse: false, delay: false } };

view("paths", {
  title: "Paths",
  async draw(root, inner) {
    const source = await part("paths");
    if (inner) return drawPath(root, source, inner);
    const { paths } = source.data;
    append(root, [h("h1", {}, "Paths")]);
    if (paths.length === 0) {
      const { unknown } = (await part("overview")).data;
      append(root, [
        h("p", { class: "notice warn" }, "No message was seen to arrive in a callback, so there is no path to follow."),
        unknown.length > 0 && [h("ul", {}, unknown.map(({ what }) => h("li", {}, `${what}.`))), remedies(unknown).map(([remedy, command]) => h("p", {}, `${remedy} `, copyable(command)))],
      ]);
      return;
    }
    append(root, [
      h("p", { class: "quiet" }, "What messages caused, hop by hop: from a first publication to the start of the last callback. The slowest come first."),
      h("div", { class: "card" }, pathTable(paths)),
    ]);
  },
});

function pathTable(paths) {
  const number = (key, title, of, kind = "duration", definition) => ({ key, title, kind, definition, value: of });
  return table({
    id: "path-table", file: "paths", filter: "Filter paths…", rows: paths, sort: { key: "p99", descending: true }, link: (row) => `#paths/${row.id}`,
    columns: [
      { key: "title", title: "path", cell: (row) => h("span", {}, name(row.title, false), row.declared && [" ", h("span", { class: "tag" }, "declared")], row.error && [" ", h("span", { class: "tag bad", title: row.error }, "cannot be followed")], row.damaged > 0 && [" ", h("span", { class: "tag warn", title: `${row.damaged} flows are touched by lost events` }, "lost events")], row.assumed > 0 && [" ", h("span", { class: "tag", title: assumption(row) }, "partly assumed")], row.clocks && [" ", h("span", { class: "tag bad", title: row.clocks }, "clocks differ")]) },
      number("hops", "hops", (row) => row.hops, "count"),
      number("flows", "came through", (row) => row.flows, "count", "path"),
      number("p50", "p50", (row) => row.latency?.p50, "duration", "path"),
      number("p95", "p95", (row) => row.latency?.p95),
      number("p99", "p99", (row) => row.latency?.p99),
      number("max", "max", (row) => row.latency?.max),
      number("best", "best response, mean", (row) => row.response_times[1]?.mean, "duration", "response-time"),
      number("worst", "worst response, max", (row) => row.response_times[2]?.max),
      { ...number("lost", "drops", (row) => row.lost, "count"), cell: (row) => h("span", { class: row.lost > 0 ? "bad" : "quiet" }, count(row.lost)) },
    ],
  });
}

async function drawPath(root, { data, column }, id) {
  const row = data.paths.find((path) => path.id === id);
  if (!row) return void append(root, [h("p", { class: "notice bad" }, "There is no such path. "), h("a", { href: "#paths" }, "All paths")]);
  append(root, [
    h("p", { class: "small" }, h("a", { href: "#paths" }, "← all paths")),
    h("h1", {}, name(row.title, false), row.declared && [" ", h("span", { class: "tag" }, "declared")]),
  ]);
  if (row.error) append(root, [h("p", { class: "notice bad" }, row.error)]);
  if (row.clocks) append(root, [h("p", { class: "notice bad", "data-clocks": "" }, `${row.clocks[0].toUpperCase()}${row.clocks.slice(1)}.`)]);
  const known = data.details.find((candidate) => candidate.id === id);
  const detail = known && { ...known, clocks: row.clocks };
  if (!detail) {
    append(root, [h("p", { class: "notice" }, row.error ? "So there are no figures of it." : "Only the worst paths have details here; ", !row.error && h("code", {}, "rostrace latency --from … --to …"), !row.error && " and a report with --path show this one.")]);
    return;
  }
  const schedule = await part("schedule");
  const card = (...content) => h("section", { class: "card" }, content);
  const flow = flowFigure(detail, row.title, { column, ends: data.ends, end: schedule.data.end, executions: executionsOf(schedule), switches: pathChoice.flow, worst: 0 });
  append(root, [
    h("p", { class: "quiet" }, `${count(row.flows)} of ${count(row.sent)} messages came through`, row.lost > 0 && [", ", h("span", { class: "bad" }, `${count(row.lost)} were dropped`)], row.ended > 0 && `, ${count(row.ended)} went no further`, row.damaged > 0 && [", ", h("span", { class: "warn" }, `${count(row.damaged)} touched by lost events`)], ". ", h("a", { href: `#schedule/path/${id}` }, "Schedule of its nodes")),
    row.assumed > 0 && h("p", { class: "notice", "data-assumed": row.assumed }, assumption(row), " ", definitionLink("path")),
    inputAges(row),
    h("div", { class: "path-top" }, overTimeSection(detail, data, column, row, flow), detail.worst.length > 0 && worstCard(detail.worst[0], 0, detail, flow)),
    otherWorst(detail, flow),
    h("h2", {}, "Stages, messages and numbers"),
    card(stageTable(detail)),
    card(flow.element),
    card(chainDrawing(detail, row)),
    responseSection(detail, data, column, row, flow),
  ]);
}

function assumption(row) {
  return `Assumed for ${count(row.assumed)} of ${count(row.flows)} messages, since no trace shows it: a node stored the message, and another callback of the same node published what it made of the newest one stored.`;
}

/** Of executions that several paths end in, how old their inputs were together. */
function inputAges(row) {
  if (!row.inputs) return undefined;
  const { paths, executions, fused, newest, oldest } = row.inputs;
  const shown = (numbers) => `mean ${duration(numbers?.mean)}, p99 ${duration(numbers?.p99)}, max ${duration(numbers?.max)}`;
  return h("p", { class: "quiet", "data-inputs": paths }, `${count(paths)} paths end in this callback. It ran ${count(executions)} times for their messages, and ${count(fused)} of these times it used messages of more than one of them. Age of the newest of these messages: ${shown(newest)}. Age of the oldest: ${shown(oldest)}.`);
}

/** Where the time goes; the means add up. */
function stageTable(detail) {
  const whole = { id: "end-to-end", kind: "whole", name: "end to end", duration: detail.latency };
  const rows = [...detail.stages.map((stage, number) => ({ ...stage, number, id: `stage-${number}` })), { ...whole, number: detail.stages.length }];
  // Of a sum that is wrong nothing is a share.
  const mean = detail.clocks ? 0 : detail.latency?.mean;
  return [
    h("h2", { style: "margin-top:0" }, "Stages ", definitionLink("path")),
    table({
      id: "stage-table", file: "stages", rows,
      columns: [
        { key: "name", title: "stage", cell: (row) => h(row.kind === "whole" ? "strong" : "span", {}, name(row.name), " ", row.kind !== "whole" && h("span", { class: "tag" }, row.kind.replace(/_/g, " "))) },
        ...statisticColumns(rows, (row) => row.duration),
        { key: "share", title: "share", kind: "share", value: (row) => (mean > 0 && row.duration ? row.duration.mean / mean : undefined) },
        { key: "lost", title: "dropped", kind: "count", value: (row) => row.lost ?? undefined, cell: (row) => h("span", { class: row.lost > 0 ? "bad" : "quiet" }, row.lost === null || row.lost === undefined ? "" : count(row.lost)) },
        { key: "ended", title: "ended here", kind: "count", value: (row) => row.ended ?? undefined, cell: (row) => (row.ended ? count(row.ended) : "") },
      ],
    }),
  ];
}

/** Boxes and arrows, in rows as wide as the page. */
function chainDrawing(detail, row) {
  const links = detail.chain.slice(0, -1);
  const whole = detail.chain[detail.chain.length - 1];
  const shown = (spread) => (spread ? [`min ${duration(spread.min)}`, `avg ${duration(spread.mean)}`, `max ${duration(spread.max)}`] : []);
  const nodes = links.filter((link) => link.kind === "node");
  const arrows = links.filter((link) => link.kind !== "node");
  const largest = Math.max(1, ...links.map((link) => link.spread?.mean ?? 0));
  const layout = (width) => {
    const [boxWidth, boxHeight, line] = [Math.min(210, Math.max(150, width * 0.5 - 20)), 78, 15];
    const arrowWidth = Math.min(190, Math.max(110, width - boxWidth - 40));
    // The arrow behind the last box of a row leads to the next row.
    const fits = Math.floor((width - 16) / (boxWidth + arrowWidth));
    const perRow = Math.max(1, nodes.length * (boxWidth + arrowWidth) - arrowWidth <= width - 16 ? nodes.length : fits);
    const vertical = perRow === 1;
    const rowHeight = vertical ? boxHeight + 74 : boxHeight + 34;
    const rows = Math.ceil(nodes.length / perRow);
    const place = (number) => ({ x: 8 + (vertical ? 0 : (number % perRow) * (boxWidth + arrowWidth)), y: 8 + Math.floor(number / perRow) * rowHeight });
    return {
      height: rows * rowHeight + 26,
      draw(pen, top) {
        const [ink, quiet, border, soft, accent] = ["ink", "quiet", "line", "soft", "accent"].map(colour);
        const heat = (spread) => 1 + 3 * Math.sqrt((spread?.mean ?? 0) / largest);
        nodes.forEach((node, number) => {
          const { x, y } = place(number);
          pen.rect(x, y + top, boxWidth, boxHeight, { fill: soft, stroke: border });
          if (node.spread) pen.rect(x, y + top, 4, boxHeight, { fill: accent, alpha: Math.max(0.25, Math.sqrt(node.spread.mean / largest)) });
          pen.text(node.name, x + 12, y + top + 14, { fill: ink, size: 12.5, weight: 600, fit: boxWidth - 18, keepEnd: true });
          shown(node.spread).forEach((text, at) => pen.text(text, x + 12, y + top + 33 + at * line, { fill: at === 1 ? ink : quiet, size: 11.5 }));
          const arrow = arrows[number];
          if (!arrow) return;
          const wraps = !vertical && number % perRow === perRow - 1;
          const label = (left, middle, fit, above = 0) => {
            pen.text(arrow.name, left, middle + above, { fill: accent, size: 11.5, fit, keepEnd: true });
            shown(arrow.spread).forEach((text, at) => pen.text(text, left, middle + 15 + at * line, { fill: at === 1 ? ink : quiet, size: 11.5 }));
          };
          const style = { stroke: accent, width: heat(arrow.spread) };
          if (vertical) {
            const at = x + 26;
            pen.line([at, y + top + boxHeight, at, y + top + rowHeight - 8], style);
            pen.polygon([at - 5, y + top + rowHeight - 9, at + 5, y + top + rowHeight - 9, at, y + top + rowHeight], { fill: accent });
            label(at + 14, y + top + boxHeight + 12, width - at - 24);
          } else {
            const [from, to, middle] = [x + boxWidth, x + boxWidth + arrowWidth, y + top + 24];
            const end = wraps ? Math.min(to, width - 8) : to;
            pen.line([from, middle, end - 8, middle], style);
            pen.polygon([end - 9, middle - 5, end - 9, middle + 5, end, middle], { fill: accent });
            label(from + 10, middle, end - from - 20, -11);
          }
        });
        pen.text(`end to end: ${shown(whole.spread).join(" · ") || "cannot be calculated"}`, 8, rows * rowHeight + 12 + top, { fill: ink, size: 13, weight: 600, fit: width - 16 });
      },
    };
  };
  const numbers = () => `part,kind,count,min_ns,mean_ns,max_ns\n${detail.chain.map((link) => [csvCell(link.name || "end to end"), link.kind, link.spread?.count ?? "", link.spread?.min ?? "", link.spread?.mean ?? "", link.spread?.max ?? ""].join(",")).join("\n")}\n`;
  const described = `Chain latency: ${detail.chain.map((link) => `${link.name || "end to end"} ${shown(link.spread).join(", ")}`).join("; ")}`;
  return drawing({ title: "Chain latency", definition: "path", file: `Chain latency of ${row.title}`, layout, numbers, described });
}

/** The cases of response times that have values. */
function casesOf(detail, data) {
  return data.cases.map((key, number) => ({ key, ...detail.responses[number] })).filter((it) => it.statistics);
}

/** Where the time goes as it passes: the stages of the chosen case. A bar leads to its message. */
function overTimeSection(detail, data, column, row, flow) {
  const cases = casesOf(detail, data);
  if (cases.length === 0) return null;
  const holder = h("div");
  const fill = () => {
    const chosen = cases.find((it) => it.key === pathChoice.case) ?? cases[0];
    holder.replaceChildren(stackedBars(detail, chosen, column, row, flow));
  };
  fill();
  return h("section", { class: "card", "data-section": "over-time" }, h("div", { class: "row controls" }, choiceOf("case", cases.map((it) => [it.key, CASE_WORDS[it.key]]), pathChoice.case, (to) => { pathChoice.case = to; fill(); })), holder);
}

/** Shows the message that began at a time, in the message flow. */
function leadToMessage(flow, begin, length) {
  flow.show(begin, Math.max(1e5, length));
  flow.element.scrollIntoView({ behavior: "smooth" });
}

/** Histograms and series of the cases. */
function responseSection(detail, data, column, row, flow) {
  const cases = casesOf(detail, data);
  if (cases.length === 0) return h("p", { class: "notice" }, "This path has no response time: no message came through.");
  const colourOf = (key) => seriesColour(data.cases.indexOf(key));
  const few = ["all", "worst", "best"].map((key) => cases.find((it) => it.key === key)).filter(Boolean);
  const external = cases.filter((it) => it.key === "worst_with_external_latency");
  const counts = [...few, ...external].flatMap((it) => it.histogram?.counts ?? []).filter((number) => number > 0);
  const histogram = chart({
    title: "Response time, distribution", definition: "response-time", file: `Response times of ${row.title}`, x: { label: "response time", kind: "duration" }, y: { label: "responses", kind: "count", log: needsLog(counts) }, overlaid: true, height: 320,
    series: [...few, ...external].filter((it) => it.histogram).map((it) => {
      const bins = it.histogram;
      const from = bins.counts.map((_, bin) => bins.from + bin * bins.width);
      return { name: CASE_WORDS[it.key], draw: "outline", dash: CASE_DASHES[it.key], colour: colourOf(it.key), x: from, y: bins.counts, width: from.map(() => bins.width), hidden: it.key === "worst_with_external_latency", hover: bins.counts.map((number, bin) => `${count(number)} from ${duration(from[bin])} to ${duration(from[bin] + bins.width)}`) };
    }),
  });
  const series = chart({
    title: "Response time over time", definition: "response-time", file: `Response times of ${row.title} over time`, x: "time", height: 320, y: { label: "response time", kind: "duration" },
    onClick: (index, at) => { const it = [...few, ...external][index]; leadToMessage(flow, column(it.begin)[at], column(it.time)[at]); },
    series: [...few, ...external].map((it) => ({ name: CASE_WORDS[it.key], draw: "line", dash: CASE_DASHES[it.key], colour: colourOf(it.key), x: column(it.begin), y: column(it.time), hidden: it.key === "worst_with_external_latency" })),
  });
  return [
    h("h2", {}, "Response time ", definitionLink("response-time")),
    h("div", { class: "card" }, table({ id: "response-table", file: "response_times", rows: cases.map((it) => ({ ...it, id: it.key })), columns: [{ key: "case", title: "case", value: (it) => CASE_WORDS[it.key] }, ...statisticColumns(cases, (it) => it.statistics)] })),
    h("div", { class: "grid" }, h("div", { class: "card" }, histogram), h("div", { class: "card" }, series)),
  ];
}

/** The first stage is on top, as CARET draws it. */
function stackedBars(detail, chosen, column, row, flow) {
  const external = chosen.key === "worst_with_external_latency";
  const names = [...(external ? ["before the first input"] : []), ...detail.stages.map((stage) => stage.name)];
  const [begins, widths] = [column(chosen.bars.begin), column(chosen.bars.width)];
  const parts = chosen.bars.parts.map(column);
  const series = parts.map((values, part) => ({
    name: names[part] ?? "", draw: "bars", x: begins, y: values, width: widths.map((width) => width * 0.99),
    colour: external && part === 0 ? colour("quiet") : manyColours(part - (external ? 1 : 0)),
    hover: Array.from(values, (value, at) => `${duration(value)} of ${duration(parts.reduce((sum, other) => sum + other[at], 0))} at ${sinceBegin(begins[at])}`),
  })).reverse();
  return [
    chart({ title: `Response time by stage, ${CASE_WORDS[chosen.key]}`, definition: "response-time", file: `Stages of ${row.title}, ${CASE_WORDS[chosen.key]}`, x: "time", y: { label: "latency", kind: "duration" }, stacked: true, height: 300 + Math.min(120, names.length * 8), series, onClick: (_, at) => leadToMessage(flow, begins[at], parts.reduce((sum, other) => sum + other[at], 0)) }),
    begins.length < chosen.bars.of && h("p", { class: "quiet small" }, `${count(begins.length)} bars stand for ${count(chosen.bars.of)} responses: of neighbours the largest is shown.`),
  ].filter(Boolean).reduce((holder, element) => { holder.append(element); return holder; }, h("div"));
}

/** The slowest messages but one, and why; that one stands on top. */
function otherWorst(detail, flow) {
  return [
    detail.worst.length > 1 && h("details", { class: "others" }, h("summary", {}, `${count(detail.worst.length - 1)} more of the slowest`), detail.worst.slice(1).map((worst, rank) => worstCard(worst, rank + 1, detail, flow))),
  ];
}

/** The parts that make up most of it, largest first; those of one name together. */
function mostly(worst, detail) {
  const sums = new Map();
  for (const wait of worst.waits) {
    const known = sums.get(wait.text) ?? { ...wait, duration: 0 };
    known.duration += wait.duration;
    sums.set(wait.text, known);
  }
  const parts = [...sums.values()].sort((a, b) => b.duration - a.duration);
  const large = parts.filter((part, rank) => rank === 0 || part.duration > worst.total * 0.05).slice(0, 6);
  return h("ul", { class: "mostly" }, large.map((part) => h("li", {}, h("strong", { class: "number" }, duration(part.duration)), h("span", { class: "quiet number" }, detail.clocks ? " " : ` ${share(part.duration / worst.total)} `), part.callback === undefined ? name(part.text, false) : h("a", { href: `#callbacks/${part.callback}` }, name(part.text, false)))));
}

function worstCard(worst, rank, detail, flow) {
  // In the order of time, unless they are too many.
  const parts = worst.parts?.map(([, duration, wait]) => ({ ...worst.waits[wait], duration })) ?? worst.waits;
  const total = parts.reduce((sum, part) => sum + part.duration, 0);
  const bar = h("div", { class: "stack", role: "img", "aria-label": "Its parts in the order of time" }, parts.filter((part) => part.duration > 0).map((part) => h("i", { style: `flex:${part.duration / worst.total} 0 0;background:${causeColour(part.cause)}`, title: `${part.text}: ${duration(part.duration)}` })));
  const stage = (hop) => detail.stages.filter((it) => it.kind === "communication")[hop]?.name ?? "";
  const rows = parts.map((part, at) => ({ ...part, id: `${rank}-${at}`, at }));
  return h("section", { class: "card", "data-worst": rank, "data-total": total, "data-latency": worst.total },
    rank === 0 && h("h2", {}, "Why the slowest took so long ", definitionLink("why")),
    h("div", { class: "row" }, h("strong", { class: "number" }, `${rank + 1}. ${duration(worst.total)}`), h("span", { class: "quiet" }, `began ${sinceBegin(worst.begin)} · ${clockTime(worst.begin)}`),
      h("button", { type: "button", onclick: () => leadToMessage(flow, worst.begin, worst.total) }, "Show in the message flow")),
    worst.damaged && h("p", { class: "notice bad" }, "Events were lost meanwhile: what ran then may be missing here."),
    bar,
    mostly(worst, detail),
    h("details", {}, h("summary", {}, `${count(parts.length)} parts${worst.parts ? ", in the order of time" : ", those of one cause together"}`),
      table({
        rows, file: `why_${rank + 1}`,
        columns: [
          { key: "text", title: "part", cell: (part) => h("span", {}, h("i", { class: "chip", style: `display:inline-block;width:10px;height:10px;margin-right:6px;background:${causeColour(part.cause)}` }), part.callback === undefined ? part.text : h("a", { href: `#callbacks/${part.callback}` }, name(part.text, false))) },
          { key: "hop", title: "hop", value: (part) => stage(part.hop) },
          { key: "duration", title: "time", kind: "duration" },
          { key: "share", title: "share", kind: "share", value: (part) => (detail.clocks ? undefined : part.duration / worst.total) },
          !worst.parts && { key: "times", title: "times", kind: "count" },
        ].filter(Boolean),
      }),
      h("p", { class: "quiet small" }, `Together ${duration(total)}: ${count(total)} ns of ${count(worst.total)} ns.`)));
}
