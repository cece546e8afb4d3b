// Charts: Plotly draws them when they come into view; each can be saved as PNG, SVG and CSV, and links to the definition of what it shows.

let plotly = null;

/** The library is in the file, compressed; it is unpacked for the first chart. */
function loadPlotly() {
  plotly ??= inflated("plotly").then((code) => {
    const script = document.createElement("script");
    script.textContent = new TextDecoder().decode(code);
    document.head.append(script);
    return window.Plotly;
  });
  return plotly;
}

const liveCharts = new Set();

/** Milliseconds in which a second click makes a double click, for Plotly. */
const DOUBLE_CLICK = 300;

/** Units of the y axis (or of the x axis of a distribution): how they are scaled and called. */
function scaleOf(kind, largest) {
  if (kind === "duration") {
    const { divisor, unit } = durationUnit(largest || 1);
    return { divisor, unit };
  }
  if (kind === "share") return { divisor: 0.01, unit: "%" };
  return { divisor: 1, unit: { frequency: "Hz", bytes: "B" }[kind] ?? "" };
}

/**
 * A chart.
 *   title, definition: what it shows, and the anchor of its definition
 *   x: "time" (columns of times), or {label, kind} for values
 *   y: {label, kind, log}; kinds: duration, frequency, count, share, bytes
 *   series: [{name, x, y, draw: "line" | "points" | "step" | "bars" | "area", colour, width, offset, hover, hidden}]; x and y are columns of numbers
 *   stacked: bars stand on each other; overlaid: they lie over each other
 *   marks: [{x, name}] vertical lines at times;  limit: {y, name} a horizontal line
 *   onClick(series index, row)
 * The y axis of what has a size can be made logarithmic.
 */
function chart(options) {
  options = { ...options, y: { ...options.y } };
  const plot = h("div", { class: "plot", style: `height:${options.height ?? 260}px` });
  const action = (label, title, act) => h("button", { type: "button", title, onclick: act }, label);
  const figure = h(
    "figure",
    { class: "chart", "data-chart": options.title },
    h(
      "figcaption",
      {},
      options.title,
      options.definition && definitionLink(options.definition),
      h(
        "span",
        { class: "actions" },
        options.y.kind !== "share" && !options.stacked && h("button", { type: "button", class: "log", title: "Logarithmic or linear y axis", "aria-pressed": String(Boolean(options.y.log)), onclick: (event) => toggleLog(chartState, event.currentTarget) }, "log"),
        action("PNG", "Save as picture", () => savePicture(chartState, "png")),
        action("SVG", "Save as drawing", () => savePicture(chartState, "svg")),
        action("CSV", "Save the numbers", () => saveNumbers(options)),
      ),
    ),
    plot,
  );
  const chartState = { options, plot, drawn: false };
  observeOnce(figure, () => draw(chartState));
  liveCharts.add(chartState);
  return figure;
}

function toggleLog(state, button) {
  state.options.y.log = !state.options.y.log;
  button.setAttribute("aria-pressed", String(state.options.y.log));
  draw(state);
}

/** Calls back when an element is about to be seen; at once where that cannot be known. */
function observeOnce(element, act) {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      act();
    },
    { rootMargin: "300px" },
  );
  observer.observe(element);
}

async function draw(state) {
  const library = await loadPlotly();
  if (!state.plot.isConnected) return;
  const { traces, layout } = figureOf(state.options);
  await library.react(state.plot, traces, layout, { responsive: true, displaylogo: false, scrollZoom: false, modeBarButtonsToRemove: ["toImage", "select2d", "lasso2d"] });
  if (!state.drawn && state.options.onClick) {
    state.plot.classList.add("leads");
    // A double click shows all again: what a click leads to waits until it is clear that no second one comes.
    let pending;
    state.plot.on("plotly_click", ({ points }) => {
      clearTimeout(pending);
      pending = setTimeout(() => state.options.onClick(points[0].curveNumber, points[0].pointIndex), DOUBLE_CLICK);
    });
    state.plot.on("plotly_doubleclick", () => clearTimeout(pending));
  }
  state.drawn = true;
  state.plot.dataset.drawn = "true";
}

function largestOf(columns) {
  let largest = 0;
  for (const column of columns) for (const value of column) if (Math.abs(value) > largest) largest = Math.abs(value);
  return largest;
}

/** What Plotly is given. */
function figureOf(options) {
  const y = scaleOf(options.y.kind, largestOf(options.series.map((series) => series.y)));
  const overTime = options.x === "time";
  const x = overTime ? null : scaleOf(options.x.kind, largestOf(options.series.map((series) => series.x)));
  const written = WRITTEN[options.y.kind] ?? count;
  const traces = options.series.map((series, index) => {
    const paint = series.colour ?? seriesColour(index);
    const xs = overTime ? onAxis(series.x) : Float64Array.from(series.x, (value) => value / x.divisor);
    const ys = Float64Array.from(series.y, (value) => value / y.divisor);
    const hover = series.hover ?? Array.from(series.y, (value, row) => (overTime ? `${written(value)} at ${clockTime(series.x[row])}` : `${WRITTEN[options.x.kind]?.(series.x[row]) ?? series.x[row]}: ${written(value)}`));
    const common = { name: escapePlotly(series.name ?? ""), x: xs, y: ys, text: hover.map(escapePlotly), hovertemplate: "%{text}<extra>%{fullData.name}</extra>", visible: series.hidden ? "legendonly" : true };
    if (series.draw === "bars") {
      const width = series.width && Float64Array.from(series.width, (value) => value / (overTime ? 1e9 : x.divisor));
      const sized = overTime && axis === "index" ? {} : { width, offset: series.width ? 0 : undefined };
      return { ...common, ...sized, type: "bar", textposition: "none", marker: { color: paint, line: { width: 0 } }, opacity: options.overlaid ? 0.65 : 1 };
    }
    if (series.draw === "outline") {
      // Histograms that lie over each other: lines along their tops, down to nothing at both ends.
      const width = series.width[0] / x.divisor;
      const [left, right] = [xs[0], xs[xs.length - 1] + width];
      const low = options.y.log ? null : 0;
      return { ...common, x: [left, ...xs, right], y: [low, ...ys, low], text: ["", ...common.text, ""], type: "scatter", mode: "lines", line: { color: paint, width: 2, shape: "hv", dash: series.dash }, fill: options.y.log ? undefined : "tozeroy", fillcolor: `${paint}1f`, connectgaps: false };
    }
    if (series.draw === "points") return { ...common, type: "scatter", mode: "markers", marker: { color: paint, size: 4 } };
    return { ...common, type: "scatter", mode: xs.length < 3 ? "lines+markers" : "lines", line: { color: paint, width: 1.4, shape: series.draw === "step" ? "hv" : "linear", dash: series.dash }, fill: series.draw === "area" ? "tozeroy" : undefined, connectgaps: false };
  });
  const ink = colour("ink");
  const line = colour("line");
  const label = (text, unit) => (unit ? `${text} [${unit}]` : text);
  const axisLook = { color: ink, gridcolor: line, zerolinecolor: line, automargin: true };
  const shapes = [];
  const annotations = [];
  for (const mark of overTime && axis !== "index" ? options.marks ?? [] : []) {
    const at = onAxis([mark.x])[0];
    shapes.push({ type: "line", x0: at, x1: at, yref: "paper", y0: 0, y1: 1, line: { color: colour("bad"), width: 1, dash: "dot" } });
    annotations.push({ x: at, yref: "paper", y: 1, text: escapePlotly(mark.name), showarrow: false, yanchor: "bottom", font: { size: 11, color: colour("bad") } });
  }
  if (options.limit) {
    const at = options.limit.y / y.divisor;
    shapes.push({ type: "line", xref: "paper", x0: 0, x1: 1, y0: at, y1: at, line: { color: colour("warn"), width: 1, dash: "dash" } });
    annotations.push({ xref: "paper", x: 1, y: at, text: escapePlotly(options.limit.name), showarrow: false, xanchor: "right", yanchor: "bottom", font: { size: 11, color: colour("warn") } });
  }
  const layout = {
    barmode: options.stacked ? "stack" : options.overlaid ? "overlay" : "group",
    bargap: 0,
    margin: { l: 56, r: 12, t: 14, b: 40 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: ink, size: 12, family: "system-ui, sans-serif" },
    hovermode: "closest",
    hoverlabel: { align: "left", namelength: 60 },
    showlegend: options.series.length > 1,
    legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom", font: { size: 12 } },
    clickmode: "event",
    xaxis: { ...axisLook, title: { text: overTime ? AXES[axis].title : label(options.x.label, x.unit) } },
    yaxis: { ...axisLook, type: options.y.log ? "log" : "linear", title: { text: label(options.y.log ? `${options.y.label}, logarithmic` : options.y.label, y.unit) }, rangemode: options.y.fromZero === false ? "normal" : "tozero" },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("quiet"), activecolor: colour("accent") },
    shapes,
    annotations,
    // What was zoomed to stays when colours change.
    uirevision: overTime ? axis : "values",
  };
  return { traces, layout };
}

/** Plotly reads a little markup in texts; a name has none. */
function escapePlotly(text) {
  const short = text.length > 120 ? `${text.slice(0, 119)}…` : text;
  return short.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

async function savePicture(state, format) {
  const library = await loadPlotly();
  const { traces, layout } = figureOf(state.options);
  const figure = { data: traces, layout: { ...layout, paper_bgcolor: colour("paper"), title: { text: escapePlotly(state.options.file ?? state.options.title), font: { size: 14 } }, margin: { ...layout.margin, t: 40 } } };
  const address = await library.toImage(figure, { format, width: 1200, height: Math.max(420, state.options.height ?? 0), scale: format === "png" ? 2 : 1 });
  // Not a link to the data: browsers limit the length of those.
  const [head, body] = [address.slice(0, address.indexOf(",")), address.slice(address.indexOf(",") + 1)];
  const content = head.includes(";base64") ? Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0)) : decodeURIComponent(body);
  download(fileName(state.options.file ?? state.options.title, format), format === "png" ? "image/png" : "image/svg+xml", content);
}

/** One row for each value, with exact times. */
function saveNumbers(options) {
  const overTime = options.x === "time";
  const unit = { duration: "_ns", frequency: "_hz", share: "", bytes: "_bytes" };
  const heading = ["series", overTime ? "time_ns" : `${options.x.label}${unit[options.x.kind] ?? ""}`, `${options.y.label}${unit[options.y.kind] ?? ""}`];
  const lines = [heading.map(csvCell).join(",")];
  for (const series of options.series) {
    for (let row = 0; row < series.y.length; row++) {
      lines.push([csvCell(series.name ?? ""), overTime ? absolute(series.x[row]) : series.x[row], series.y[row]].join(","));
    }
  }
  download(fileName(options.file ?? options.title, "csv"), "text/csv", `${lines.join("\n")}\n`);
}

function csvCell(value) {
  const text = String(value ?? "");
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** To the definition of a metric. */
function definitionLink(anchor) {
  return h("a", { class: "definition", href: `#definitions/${anchor}`, title: "What this is, exactly", "aria-label": "Definition" }, "?");
}

/** Charts of a view that is left are forgotten. */
function forgetCharts() {
  for (const state of liveCharts) if (state.drawn) window.Plotly.purge(state.plot);
  liveCharts.clear();
}

function redrawCharts() {
  for (const state of liveCharts) if (state.drawn) draw(state);
}
onThemeChange.push(redrawCharts);
// What is printed is all there, seen or not.
addEventListener("beforeprint", () => { for (const state of liveCharts) draw(state); });
onAxisChange.push(redrawCharts);
