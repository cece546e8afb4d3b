// How pages are put together: cards, sections, facts, tiles, numbers in tables, and many things in one chart.

/** Points of a series of a part, or nothing. */
function pointsOf(column, series) {
  return series ? { x: column(series.t), y: column(series.v) } : null;
}

/** Charts with many lines are taller, for their legends. */
function chartHeight(lines) {
  return lines < 2 ? 250 : 270 + Math.min(lines, 24) * 16;
}

/**
 * A chart over time of things with a name and a series each: [{name, series, column, draw, colour}], or nothing if none has values.
 * Further options are those of `chart`.
 */
function chartOverTime({ entries, kind, label, ...options }) {
  const series = entries
    .filter((entry) => entry.series)
    .map((entry) => ({ name: entry.name, colour: entry.colour, draw: entry.draw, ...pointsOf(entry.column, entry.series) }));
  if (series.length === 0) return null;
  const reduced = entries.some((entry) => entry.series && entry.series.of > entry.series.t.n);
  return h("div", { class: "card" },
    chart({ x: "time", y: { label, kind }, height: chartHeight(series.length), series, ...options }),
    reduced && h("p", { class: "quiet small" }, "Drawn from the first, least, largest and last value of each stretch; numbers elsewhere are of all values."));
}

/** Values of a line in few points for a small drawing: the least and the largest of each stretch. */
function thinned(values, places = 54) {
  if (values.length <= places * 2) return values;
  const kept = [];
  for (let place = 0; place < places; place++) {
    const from = Math.floor((place * values.length) / places);
    const to = Math.floor(((place + 1) * values.length) / places);
    let low = from;
    let high = from;
    for (let row = from; row < to; row++) {
      if (values[row] < values[low]) low = row;
      if (values[row] > values[high]) high = row;
    }
    kept.push(values[Math.min(low, high)], values[Math.max(low, high)]);
  }
  return kept;
}

/** Cards beside each other, without those that are missing. */
function cards(...content) {
  const kept = content.flat(Infinity).filter(Boolean);
  return kept.length > 0 && h("div", { class: kept.length % 3 === 0 ? "grid three" : "grid" }, kept);
}

/** A heading above something, if there is something. */
function section(title, ...content) {
  const kept = content.flat(Infinity).filter(Boolean);
  return kept.length > 0 && [h("h2", {}, title), ...kept];
}

/** Facts as pairs of a word and its value; those without a value are left out. */
function facts(pairs) {
  const kept = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false);
  return h("dl", { class: "facts" }, kept.map(([word, value]) => [h("dt", {}, word), h("dd", {}, value)]));
}

/** A few numbers at the top of a page, large: [[label, text, {definition, state}]]. */
function tiles(entries) {
  return h("div", { class: "tiles" }, entries.filter(Boolean).map(([label, text, { definition, state } = {}]) =>
    h("div", { class: `tile ${state ?? ""}`, "data-tile": label }, h("span", { class: "quiet small" }, label, definition && [" ", definitionLink(definition)]), h("strong", { class: "number" }, text))));
}

/** Words for the members of statistics that have no word of their own: percentiles are read as they are called. */
const STATISTIC_TITLES = { count: "values", standard_deviation: "std. dev.", worst_at_ns: "largest at" };

/** A column for each number that describes many, whatever there are; `numbersOf(row)` are those of a row. */
function statisticColumns(rows, numbersOf) {
  const known = rows.map(numbersOf).find(Boolean) ?? {};
  return Object.keys(known).map((key) => ({
    key, title: STATISTIC_TITLES[key] ?? key.replace("_", "."), kind: key === "count" ? "count" : key === "worst_at_ns" ? "time" : "duration", value: (row) => numbersOf(row)?.[key],
  }));
}

/** One row for each kind of number: [{name, numbers, definition, link}]. */
function statisticsTable({ rows, id, file, of = "metric" }) {
  const kept = rows.filter((row) => row.numbers?.count > 0);
  if (kept.length === 0) return null;
  return table({
    id, file,
    rows: kept.map((row) => ({ id: row.name, ...row })),
    link: (row) => row.link,
    columns: [
      { key: "name", title: of, cell: (row) => [name(row.name), row.definition && [" ", definitionLink(row.definition)]] },
      ...statisticColumns(kept, (row) => row.numbers),
    ],
  });
}

/** A box to choose rows by; `chosen` is a set of keys. */
function choiceColumn(chosen, keyOf, onChange) {
  return {
    key: "choose", title: "", drawnOnly: true, sortable: false, text: () => "",
    cell: (row) => h("input", {
      type: "checkbox", "aria-label": "Choose for comparison", checked: chosen.has(keyOf(row)),
      onchange: (event) => { if (event.target.checked) chosen.add(keyOf(row)); else chosen.delete(keyOf(row)); onChange(); },
    }),
  };
}

/** Leads to the comparison of what is chosen. */
function compareButton(viewName, chosen) {
  const link = h("a", { class: "button", "data-compare": viewName });
  const fill = () => {
    link.textContent = chosen.size === 0 ? "Choose rows to compare them" : `Compare ${chosen.size} in one chart`;
    if (chosen.size === 0) link.removeAttribute("href");
    else link.setAttribute("href", `#${viewName}/compare/${[...chosen].join(",")}`);
    link.classList.toggle("strong", chosen.size > 0);
  };
  fill();
  return { link, fill };
}

/** Rows without what nobody wrote, unless a box is ticked; `draw(rows)` makes what is shown of them. */
function withBuiltIn(all, draw) {
  const own = all.filter((row) => !row.built_in);
  const place = h("div");
  const fill = (rows) => place.replaceChildren(...[draw(rows)].flat());
  fill(own);
  const number = all.length - own.length;
  const box = number > 0 && h("label", { class: "small" }, h("input", { type: "checkbox", "data-built-in": true, onchange: (event) => fill(event.target.checked ? all : own) }), ` also ${count(number)} built in`);
  return { place, box };
}
