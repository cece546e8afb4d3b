// Our own drawings: one small set of strokes, put on a canvas to be looked at and into SVG to be kept.

const DRAWING_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const measuring = document.createElement("canvas").getContext("2d");

function fontOf(size = 12, weight = 400) {
  return `${weight} ${size}px ${DRAWING_FONT}`;
}

function textWidth(text, size, weight) {
  measuring.font = fontOf(size, weight);
  return measuring.measureText(text).width;
}

/** As much of a text as fits, with both its ends where `keepEnd`: names differ at their ends. */
function fitted(text, width, size, weight, keepEnd = false) {
  // No letter is narrower than a pixel or two: what is far too long need not be measured.
  const most = Math.max(1, Math.floor(width / 2));
  if (text.length <= most && textWidth(text, size, weight) <= width) return text;
  let low = 0;
  let high = Math.min(most, text.length);
  const cut = (letters) => {
    const head = keepEnd ? letters >> 1 : letters;
    return `${text.slice(0, head)}…${text.slice(text.length - (letters - head))}`;
  };
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(cut(middle), size, weight) <= width) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? "" : cut(low);
}

class CanvasPen {
  /** Sharp on every screen: `scale` pixels of the device for each of ours. */
  constructor(canvas, width, height, scale = Math.max(1, window.devicePixelRatio || 1)) {
    const [w, h] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
    if (canvas.width !== w) canvas.width = w;
    if (canvas.height !== h) canvas.height = h;
    this.context = canvas.getContext("2d");
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.context.clearRect(0, 0, width, height);
  }

  rect(x, y, width, height, { fill, stroke, lineWidth = 1, alpha = 1 }) {
    const it = this.context;
    it.globalAlpha = alpha;
    if (fill) { it.fillStyle = fill; it.fillRect(x, y, width, height); }
    if (stroke) { it.strokeStyle = stroke; it.lineWidth = lineWidth; it.strokeRect(x, y, width, height); }
    it.globalAlpha = 1;
  }

  /** Points are x, y, x, y … */
  line(points, { stroke, width = 1, alpha = 1, dash = [] }) {
    const it = this.context;
    it.globalAlpha = alpha;
    it.strokeStyle = stroke;
    it.lineWidth = width;
    it.setLineDash(dash);
    it.lineJoin = "round";
    it.beginPath();
    for (let at = 0; at < points.length; at += 2) {
      if (at === 0) it.moveTo(points[0], points[1]);
      else it.lineTo(points[at], points[at + 1]);
    }
    it.stroke();
    it.setLineDash([]);
    it.globalAlpha = 1;
  }

  polygon(points, { fill, stroke, alpha = 1 }) {
    const it = this.context;
    it.globalAlpha = alpha;
    it.beginPath();
    for (let at = 0; at < points.length; at += 2) it.lineTo(points[at], points[at + 1]);
    it.closePath();
    if (fill) { it.fillStyle = fill; it.fill(); }
    if (stroke) { it.strokeStyle = stroke; it.lineWidth = 1; it.stroke(); }
    it.globalAlpha = 1;
  }

  text(text, x, y, { fill, size = 12, weight = 400, align = "left", fit, keepEnd }) {
    const it = this.context;
    it.font = fontOf(size, weight);
    it.fillStyle = fill;
    it.textAlign = align;
    it.textBaseline = "middle";
    it.fillText(fit === undefined ? text : fitted(text, fit, size, weight, keepEnd), x, y);
  }

  clipped(x, y, width, height, draw) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
  }
}

class SvgPen {
  constructor(width, height) {
    this.size = [width, height];
    this.pieces = [];
    this.clips = 0;
  }

  add(tag, attributes, content) {
    const written = Object.entries(attributes).filter(([, value]) => value !== undefined && value !== null && value !== "").map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`);
    this.pieces.push(`<${tag}${written.join("")}${content === undefined ? "/>" : `>${escapeXml(content)}</${tag}>`}`);
  }

  rect(x, y, width, height, { fill, stroke, lineWidth, alpha }) {
    this.add("rect", { x: rounded(x), y: rounded(y), width: rounded(Math.max(0, width)), height: rounded(height), fill: fill ?? "none", stroke, "stroke-width": stroke && lineWidth, opacity: alpha });
  }

  line(points, { stroke, width, alpha, dash }) {
    this.add("polyline", { points: listed(points), fill: "none", stroke, "stroke-width": width, "stroke-linejoin": "round", opacity: alpha, "stroke-dasharray": dash?.join(" ") });
  }

  polygon(points, { fill, stroke, alpha }) {
    this.add("polygon", { points: listed(points), fill: fill ?? "none", stroke, opacity: alpha });
  }

  text(text, x, y, { fill, size = 12, weight = 400, align = "left", fit, keepEnd }) {
    const anchor = { left: undefined, center: "middle", right: "end" }[align];
    this.add("text", { x: rounded(x), y: rounded(y), fill, "font-size": size, "font-weight": weight === 400 ? undefined : weight, "text-anchor": anchor, "dominant-baseline": "central", style: "unicode-bidi:isolate" }, fit === undefined ? text : fitted(text, fit, size, weight, keepEnd));
  }

  clipped(x, y, width, height, draw) {
    const id = `clip${++this.clips}`;
    this.pieces.push(`<clipPath id="${id}"><rect x="${rounded(x)}" y="${rounded(y)}" width="${rounded(width)}" height="${rounded(height)}"/></clipPath><g clip-path="url(#${id})">`);
    draw();
    this.pieces.push("</g>");
  }

  toString() {
    const [width, height] = this.size;
    return `<svg xmlns="${SVG}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escapeXml(DRAWING_FONT)}">${this.pieces.join("")}</svg>\n`;
  }
}

function rounded(number) {
  return Math.round(number * 100) / 100;
}

function listed(points) {
  const pairs = [];
  for (let at = 0; at < points.length; at += 2) pairs.push(`${rounded(points[at])},${rounded(points[at + 1])}`);
  return pairs.join(" ");
}

/** XML knows fewer characters than names in traces may have. */
function escapeXml(text) {
  const known = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd").replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
  return known.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

/** A drawing as a file: its title on top, then what `draw(pen)` draws below. */
async function saveDrawing(title, format, width, height, draw) {
  const head = 34;
  const paint = (pen) => {
    pen.rect(0, 0, width, height + head, { fill: colour("paper") });
    pen.text(title, 14, head / 2 + 2, { fill: colour("ink"), size: 14, weight: 600, fit: width - 28 });
    draw(pen, head);
  };
  if (format === "svg") {
    const pen = new SvgPen(width, height + head);
    paint(pen);
    download(fileName(title, "svg"), "image/svg+xml", pen.toString());
    return;
  }
  const canvas = document.createElement("canvas");
  paint(new CanvasPen(canvas, width, height + head, 2));
  const picture = await new Promise((done) => canvas.toBlob(done, "image/png"));
  download(fileName(title, "png"), "image/png", picture);
}

/** The frame of a drawing: caption, definition, and the buttons that save it. */
function drawingFrame({ title, definition, file, save, numbers, tools }, ...content) {
  const action = (label, hint, act) => h("button", { type: "button", title: hint, onclick: act }, label);
  return h("figure", { class: "chart", "data-chart": title },
    h("figcaption", {}, title, definition && definitionLink(definition),
      h("span", { class: "actions" }, tools,
        action("PNG", "Save as picture", () => save("png")),
        action("SVG", "Save as drawing", () => save("svg")),
        numbers && action("CSV", "Save the numbers", () => download(fileName(file ?? title, "csv"), "text/csv", numbers())))),
    content);
}

const liveDrawings = new Set();

/** Drawings are drawn again when colours or the axis change, as long as they are in the page. */
function redrawDrawings() {
  for (const drawing of liveDrawings) {
    if (drawing.element.isConnected) drawing.redraw();
    else liveDrawings.delete(drawing);
  }
}
onThemeChange.push(redrawDrawings);
onAxisChange.push(redrawDrawings);

/** Forgets drawings of views that were left, and remembers a new one. */
function keepDrawing(element, redraw) {
  for (const drawing of liveDrawings) if (drawing.wasSeen && !drawing.element.isConnected) liveDrawings.delete(drawing);
  const drawing = { element, redraw, wasSeen: false };
  liveDrawings.add(drawing);
  new ResizeObserver(() => {
    if (!element.isConnected) return;
    drawing.wasSeen = true;
    // Not within the observer: what is drawn may change its size once more.
    setTimeout(redraw);
  }).observe(element);
}

/**
 * A drawing that stands still: `layout(width)` returns {height, draw(pen, top)}. What is drawn is shown in words by `described` to those who do
 * not see it.
 */
function drawing({ title, definition, file, layout, numbers, described }) {
  const canvas = h("canvas", { class: "drawing", role: "img", "aria-label": described ?? title });
  const redraw = () => {
    const width = canvas.parentElement.clientWidth;
    if (width === 0) return;
    const { height, draw: drawAll } = layout(width);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    drawAll(new CanvasPen(canvas, width, height), 0);
    canvas.dataset.drawn = "true";
  };
  const save = (format) => {
    const { height, draw: drawAll } = layout(1200);
    return saveDrawing(file ?? title, format, 1200, height, drawAll);
  };
  const holder = h("div", { class: "drawn" }, canvas);
  keepDrawing(holder, redraw);
  return drawingFrame({ title, definition, file, save, numbers }, holder);
}
