// Tables that sort and filter. Long ones show their first rows; filtering looks at all.

const ROWS_SHOWN = 200;

/** What a column counts, as kinds of `WRITTEN`; the others are texts. */
const KIND_OF_UNIT = { duration: "duration", count: "count", share: "share", hertz: "frequency", instant: "time", plain: "plain" };

/**
 * A table as the analysis declares it (crates/analyze/src/table): `all` are its rows with their declaration, `rows` those of them that are wanted.
 *   chosen: a set of rows to compare, without: names of columns that go without saying
 */
function declaredTable(all, { rows = all, chosen, onChange, without = [], ...options }) {
  const { columns, shown, filter, sort, column } = all.declared;
  const units = new Map(columns.map(({ name: key, unit }) => [key, KIND_OF_UNIT[unit] ?? "text"]));
  const has = (key) => rows.some((row) => row[key] !== null && row[key] !== "");
  const seen = shown.filter((it) => !without.includes(it.name) && (it.drawn === "chart" || rows.length === 0 || has(it.name)));
  const unseen = columns.filter(({ name: key }) => !seen.some((it) => it.name === key && it.drawn !== "chart"));
  return table({
    rows, filter: rows.length > 8 ? filter : undefined, sort: { key: sort, descending: true }, link: (row) => row.link && `#${row.link}`, ...options,
    columns: [
      chosen && choiceColumn(chosen, (row) => row.id, onChange),
      ...seen.map((it, number) => declaredColumn(it, units.get(it.name), rows, column, number === 0, number === 0 && !("link" in options))),
      ...unseen.map(({ name: key }) => ({ key, kind: units.get(key), unseen: true })),
    ].filter(Boolean),
  });
}

function declaredColumn({ name: key, title, drawn, definition, room }, kind, rows, column, isFirst, isLinked) {
  if (drawn === "chart") return { key: `${key}_chart`, title, width: room, drawnOnly: true, sortable: false, text: () => "", cell: (row) => sparkline(thinned(column(row.chart))) };
  const { warn, bad } = drawn.alarm ?? {};
  const written = (row) => {
    const [text, most] = [WRITTEN[kind](row[key]), drawn.up_to && WRITTEN[kind](row[drawn.up_to])];
    return most && most !== text ? `${digits(row[key])} – ${most}` : text;
  };
  const cell = (row) => {
    if (row[key] === null || row[key] === "") return MISSING;
    if (bad !== undefined) return h("span", { class: row[key] >= bad ? "bad" : row[key] >= warn ? "warn" : kind === "count" ? "quiet" : undefined }, written(row));
    const content = kind === "text" ? name(written(row)) : kind === "time" ? h("span", { title: wallClock(row[key]) }, written(row)) : written(row);
    if (!isLinked && row.links?.[key]) return h("a", { href: `#${row.links[key]}` }, content);
    return isFirst && row.built_in ? [content, h("span", { class: "tag" }, "built in")] : content;
  };
  // What should not be is shown on every screen.
  const width = bad !== undefined && kind === "count" && rows.some((row) => row[key] >= bad) ? undefined : room;
  return { key, title, kind, definition, width, cell };
}

/**
 *   columns: [{key, title, kind, definition, cell(row), value(row), text(row)}]; kind as in WRITTEN, numbers are set to the right.
 *     unseen columns are searched and saved, those with a width ("wide", "medium", "normal") shown where there is room;
 *     value is what is sorted by (default row[key]), cell what is shown (default: value written as its kind), text what is searched (texts only)
 *   rows, sort: {key, descending}, filter: placeholder of the filter or nothing, link(row): address of the row, file: name for CSV, id
 */
function table({ columns, rows, sort, filter, link, file, id }) {
  let order = sort ?? { key: null, descending: false };
  let wanted = "";
  let shown = ROWS_SHOWN;
  const valueOf = (column, row) => (column.value ? column.value(row) : row[column.key]);
  const textOf = (column, row) => (column.text ? column.text(row) : column.kind === undefined || column.kind === "text" ? String(valueOf(column, row) ?? "") : "");
  const searched = rows.map((row) => [...columns.map((column) => textOf(column, row)), ...(row.node_names ?? [])].join("\n").toLowerCase());

  const body = h("tbody");
  const state = h("span", { class: "quiet small", "aria-live": "polite" });
  const more = h("button", { type: "button", onclick: () => { shown = Infinity; fill(); } });
  const seen = columns.filter((column) => !column.unseen);
  const classOf = (column) => [isNumber(column) && "number", column.width && `${column.width}-only`].filter(Boolean).join(" ") || undefined;
  const headings = seen.map((column) =>
    h("th", { class: classOf(column), scope: "col" },
      column.sortable === false ? column.title : h("button", { type: "button", onclick: () => sortBy(column) }, column.title),
      column.definition && [" ", definitionLink(column.definition)]),
  );

  function sortBy(column) {
    const descending = order.key === column.key ? !order.descending : isNumber(column);
    order = { key: column.key, descending };
    fill();
  }

  function chosen() {
    const words = wanted.split(/\s+/).filter(Boolean);
    const kept = rows.filter((_, index) => words.every((word) => searched[index].includes(word)));
    const column = columns.find((candidate) => candidate.key === order.key);
    if (!column) return kept;
    const sign = order.descending ? -1 : 1;
    return kept.map((row, index) => ({ row, index, value: valueOf(column, row) })).sort((a, b) => {
      // What is missing comes last, either way.
      const missing = Number(a.value === undefined || a.value === null) - Number(b.value === undefined || b.value === null);
      if (missing !== 0) return missing;
      const by = typeof a.value === "string" ? a.value.localeCompare(b.value, undefined, { numeric: true }) : a.value - b.value;
      return by * sign || a.index - b.index;
    }).map(({ row }) => row);
  }

  function fill() {
    const all = chosen();
    seen.forEach((column, index) => {
      if (column.key === order.key) headings[index].setAttribute("aria-sort", order.descending ? "descending" : "ascending");
      else headings[index].removeAttribute("aria-sort");
    });
    body.replaceChildren(...all.slice(0, shown).map(rowOf));
    state.textContent = all.length === rows.length ? `${count(rows.length)} rows` : `${count(all.length)} of ${count(rows.length)} rows`;
    more.hidden = all.length <= shown;
    more.textContent = `Show all ${count(all.length)}`;
  }

  function rowOf(row) {
    const address = link?.(row);
    const linked = seen.findIndex((column) => !column.drawnOnly);
    const cells = seen.map((column, index) => {
      let content = column.cell ? column.cell(row) : (WRITTEN[column.kind ?? "text"] ?? WRITTEN.text)(valueOf(column, row));
      if (column.kind === "time" && !column.cell && typeof valueOf(column, row) === "number") content = h("span", { title: wallClock(valueOf(column, row)) }, content);
      if (typeof content === "string" && (column.kind ?? "text") === "text") content = name(content);
      if (index === linked && address) content = h("a", { href: address }, content);
      return h("td", { class: index === linked && address ? [classOf(column), "row-name"].filter(Boolean).join(" ") : classOf(column), "data-column": column.key, "data-value": isNumber(column) ? valueOf(column, row) ?? "" : undefined }, content);
    });
    return h("tr", { "data-row": row.id ?? undefined }, cells);
  }

  /** Times as the program exports them. */
  function saved(column, row) {
    const value = valueOf(column, row);
    if (column.kind === "time" && typeof value === "number") return absolute(value);
    return isNumber(column) ? value : textOf(column, row);
  }

  function save() {
    const kept = columns.filter((column) => column.key && !column.drawnOnly);
    const lines = [kept.map((column) => csvCell(column.key)).join(",")];
    for (const row of chosen()) lines.push(kept.map((column) => csvCell(saved(column, row))).join(","));
    download(fileName(file ?? id ?? "table", "csv"), "text/csv", `${lines.join("\n")}\n`);
  }

  const tools = h("div", { class: "row" },
    filter && h("input", { type: "search", placeholder: filter, "aria-label": filter, oninput: (event) => { wanted = event.target.value.toLowerCase(); shown = ROWS_SHOWN; fill(); } }),
    state, more,
    h("button", { type: "button", class: "small", onclick: save, title: "Save the rows shown as CSV" }, "CSV"));
  fill();
  return h("div", { class: "table", id }, tools, h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, headings)), body)));
}

function isNumber(column) {
  return column.kind !== undefined && column.kind !== "text";
}

/** A small line of values with a dot at the worst. */
function sparkline(values) {
  if (values.length < 2) return "";
  let low = Infinity;
  let high = -Infinity;
  let worst = 0;
  values.forEach((value, index) => {
    if (value < low) low = value;
    if (value > high) { high = value; worst = index; }
  });
  const x = (index) => (1 + (index / (values.length - 1)) * 106).toFixed(1);
  const y = (value) => (20 - ((value - low) / (high - low || 1)) * 17).toFixed(1);
  const line = Array.from(values, (value, index) => `${index === 0 ? "M" : "L"}${x(index)} ${y(value)}`).join("");
  return svg("svg", { class: "spark", viewBox: "0 0 110 22", "aria-hidden": "true" }, svg("path", { d: line }), svg("circle", { cx: x(worst), cy: y(high), r: 2 }));
}
