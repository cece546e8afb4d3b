// One level of a drawing: boxes in layers, edges that never cross a box. An edge that spans several layers has a bend in each; in the column of a layer it
// runs straight, and curves between the columns. Edges to what is outside of the level leave it at its left or right border.

const BOX_DISTANCE = 16;
const BEND_DISTANCE = 9;
const COLUMN_GAP = 44;
/** Bends of all edges together; beyond, edges go straight from box to box. */
const MOST_BENDS = 30_000;
/** How much wider than tall a drawing should be. */
const SHAPE = 1.7;

/**
 * `boxes`: [{width, height, left, right}]: whether something outside on that side is tied to it (how strongly). `edges`: [{from, to, weight, fromAt, toAt}] without cycles,
 * from left to right; `…At` is how far below the top of the box it begins. `at(box, side)`: the same for what leaves the level.
 * The result: {width, height, boxes: [{x, y, from, to}] with the borders of their columns, edges: [bends], leaving: {left, right}: bends by box}; a bend is {from, to, y}.
 */
function layeredLayout(boxes, edges, at) {
  const area = boxes.reduce((sum, box) => sum + (box.width + COLUMN_GAP) * (box.height + BOX_DISTANCE), 0);
  const tallest = boxes.reduce((most, box) => Math.max(most, box.height), 0);
  const most = Math.max(tallest, Math.sqrt(area / SHAPE) * 1.15);
  const heights = boxes.map((box) => box.height + BOX_DISTANCE);
  const { layer, count } = layersOf(heights, edges, boxes, most + BOX_DISTANCE);

  const vertices = boxes.map((box, index) => ({ layer: layer[index], height: box.height }));
  const links = [];
  let bendsLeft = MOST_BENDS;
  const chain = (first, firstAt, last, lastAt, fromLayer, toLayer, weight) => {
    const bends = [];
    let [before, beforeAt] = [first, firstAt];
    if (bendsLeft < toLayer - fromLayer) fromLayer = toLayer;
    for (let between = fromLayer; between < toLayer; between++) {
      const bend = vertices.length;
      bendsLeft--;
      vertices.push({ layer: between, height: 0 });
      bends.push(bend);
      if (before !== null) links.push({ from: before, to: bend, fromAt: beforeAt, toAt: 0, weight: weight * (vertices[before].height === 0 ? 8 : 2) });
      [before, beforeAt] = [bend, 0];
    }
    if (last !== null && before !== null) links.push({ from: before, to: last, fromAt: beforeAt, toAt: lastAt, weight: weight * (vertices[before].height === 0 ? 2 : 1) });
    return bends;
  };
  const ways = edges.map((edge) => chain(edge.from, edge.fromAt, edge.to, edge.toAt, layer[edge.from] + 1, layer[edge.to], 1 + Math.log2(1 + edge.weight) / 4));
  const leaving = { left: new Map(), right: new Map() };
  boxes.forEach((box, index) => {
    if (box.left) leaving.left.set(index, chain(null, 0, index, at(index, "left"), 0, layer[index], 1));
    if (box.right) leaving.right.set(index, chain(index, at(index, "right"), null, 0, layer[index] + 1, count, 1));
  });

  const layers = Array.from({ length: count }, () => []);
  for (const vertex of seenFromTheLeft(vertices.length, links)) layers[vertices[vertex].layer].push(vertex);
  const share = (vertex, place) => (vertices[vertex].height > 0 ? place / vertices[vertex].height : 0.5);
  // Where there are too many bends, edges span several layers, and play no part in the order.
  const near = links.filter((link) => vertices[link.to].layer === vertices[link.from].layer + 1);
  const ordered = orderLayers(layers, near.map((link) => ({ ...link, fromShare: share(link.from, link.fromAt), toShare: share(link.to, link.toAt) })), vertices.length);
  const distance = (a, b) => (vertices[a].height > 0 && vertices[b].height > 0 ? BOX_DISTANCE : vertices[a].height > 0 || vertices[b].height > 0 ? BEND_DISTANCE + 4 : BEND_DISTANCE);
  const tops = placeLayers(ordered.layers, vertices.map((vertex) => vertex.height), distance, near);

  // Columns: as wide as their widest box, and further apart where edges climb.
  const columns = [];
  let x = 0;
  for (let index = 0; index < count; index++) {
    const width = ordered.layers[index].reduce((widest, vertex) => Math.max(widest, boxes[vertex]?.width ?? 0), 0);
    columns.push({ from: x, to: x + width });
    let climb = 0;
    for (const link of near) if (vertices[link.from].layer === index) climb = Math.max(climb, Math.abs(tops[link.from] + link.fromAt - tops[link.to] - link.toAt));
    x += width + (index + 1 < count ? COLUMN_GAP + Math.min(110, climb * 0.16) : 0);
  }
  let height = 0;
  vertices.forEach((vertex, index) => { height = Math.max(height, tops[index] + vertex.height); });
  const bend = (vertex) => ({ ...columns[vertices[vertex].layer], y: tops[vertex] });
  return {
    width: x,
    height,
    crossings: ordered.crossings,
    boxes: boxes.map((box, index) => {
      const column = columns[layer[index]];
      return { x: column.from + (column.to - column.from - box.width) / 2, y: tops[index], from: column.from, to: column.to };
    }),
    edges: ways.map((bends) => bends.map(bend)),
    leaving: { left: new Map([...leaving.left].map(([box, bends]) => [box, bends.map(bend)])), right: new Map([...leaving.right].map(([box, bends]) => [box, bends.map(bend)])) },
  };
}

/** All vertices, each after one that it is tied to, so that what belongs together begins together. */
function seenFromTheLeft(count, links) {
  const tied = Array.from({ length: count }, () => []);
  for (const { from, to } of links) {
    tied[from].push(to);
    tied[to].push(from);
  }
  const seen = new Uint8Array(count);
  const order = [];
  for (let first = 0; first < count; first++) {
    const waiting = [first];
    while (waiting.length > 0) {
      const vertex = waiting.pop();
      if (seen[vertex]) continue;
      seen[vertex] = 1;
      order.push(vertex);
      for (let index = tied[vertex].length - 1; index >= 0; index--) waiting.push(tied[vertex][index]);
    }
  }
  return order;
}
