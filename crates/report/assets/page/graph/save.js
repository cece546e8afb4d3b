// The picture as a file. Styles are written into its elements, because a file of its own does not have those of the page.

const KEPT_STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight", "paint-order"];

/** A drawing of its own, of all of the graph. */
function wholePicture(group, { width, height }) {
  const copy = group.cloneNode(true);
  const from = group.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, index) => {
    const style = getComputedStyle(from[index]);
    element.removeAttribute("style");
    for (const property of KEPT_STYLES) {
      const value = style.getPropertyValue(property);
      if (value && value !== "none" || property === "fill") element.setAttribute(property, value);
    }
    for (const attribute of ["tabindex", "role", "class"]) element.removeAttribute(attribute);
  });
  for (const element of copy.querySelectorAll("[opacity='0']")) element.remove();
  copy.setAttribute("transform", "translate(20 20)");
  const [w, height_] = [Math.ceil(width) + 40, Math.ceil(height) + 40];
  return { width: w, height: height_, element: svg("svg", { xmlns: SVG, width: w, height: height_, viewBox: `0 0 ${w} ${height_}` }, svg("rect", { width: w, height: height_, fill: colour("paper") }), copy) };
}

function graphAsSvg(group, size) {
  return new XMLSerializer().serializeToString(wholePicture(group, size).element);
}

/** Browsers draw up to some size. */
const MOST_PIXELS = 10_000;

async function graphAsPng(group, size) {
  const { element, width, height } = wholePicture(group, size);
  const scale = Math.min(2, MOST_PIXELS / Math.max(width, height));
  const address = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(element)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = h("canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** One row for each communication, also of what is closed or hidden. */
function graphAsCsv(graph) {
  const rows = [["topic", "publishing_node", "receiving_node", "callback", "messages", "arrived", "dropped", "publish_rate_hz", "latency_p50_ns", "latency_p99_ns", "latency_max_ns"]];
  for (const { publisher, subscription, messages, arrived, dropped, p50, p99, max } of graph.communications) {
    rows.push([subscription.topic.name, publisher ? publisher.node.name : "", subscription.node.name, subscription.callback?.name, messages, arrived, dropped, publisher?.rate, p50, p99, max]);
  }
  return `${rows.map((row) => row.map(csvCell).join(",")).join("\n")}\n`;
}
