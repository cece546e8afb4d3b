// Distributions: a histogram and the cumulative distribution of the same values.

/** entries: [{name, spread, column}]; of: what is counted. Both charts as cards, or nothing. */
function spreadCharts({ title, entries, ranks, kind, label, of, definition, file }) {
  const kept = entries.filter((entry) => entry.spread);
  if (kept.length === 0) return [];
  const common = { definition, height: chartHeight(kept.length) };
  const bars = kept.map((entry) => ({ ...histogramBars(entry, kind), draw: kept.length > 1 ? "outline" : "bars" }));
  const counts = bars.flatMap((series) => Array.from(series.y)).filter((value) => value > 0);
  // Rare and frequent values both have to be seen.
  const log = needsLog(counts);
  return [
    h("div", { class: "card" }, chart({
      ...common, title: `Histogram of ${title}`, file: file && `${file} histogram of ${title}`, x: { label, kind }, y: { label: of, kind: "count", log },
      overlaid: kept.length > 1, series: bars,
    })),
    h("div", { class: "card" }, chart({
      ...common, title: `Cumulative distribution of ${title}`, file: file && `${file} distribution of ${title}`, x: { label, kind }, y: { label: "share of values", kind: "share" },
      series: kept.map((entry) => cumulativeLine(entry, ranks, kind)),
    })),
  ];
}

function needsLog(counts) {
  return Math.max(...counts) > 60 * Math.min(...counts);
}

function histogramBars({ name: title, spread, column }, kind) {
  const counts = column(spread.counts);
  const width = Math.max(1, spread.to - spread.from) / counts.length;
  const written = WRITTEN[kind] ?? count;
  const x = Float64Array.from(counts, (_, bin) => spread.from + bin * width);
  // A bar for a whole number stands around it.
  if (kind === "frequency" && width === 1) {
    return { name: title, draw: "bars", x: x.map((value) => value - 0.5), y: counts, width: x.map(() => width), hover: Array.from(counts, (number, bin) => `${x[bin]} Hz: ${count(number)}`) };
  }
  return {
    name: title, draw: "bars", x, y: counts, width: x.map(() => width),
    hover: Array.from(counts, (number, bin) => `${written(x[bin])} to ${written(x[bin] + width)}: ${count(number)}`),
  };
}

function cumulativeLine({ name: title, spread, column }, ranks, kind) {
  const x = column(spread.quantiles);
  const y = Float64Array.from(ranks, (rank) => rank / 1000);
  const written = WRITTEN[kind] ?? count;
  return { name: title, draw: "step", x, y, hover: Array.from(x, (value, row) => `${ranks[row] / 10} % are at most ${written(value)}`) };
}
