// One level of a drawing: boxes in layers, edges that never cross a box. An edge that spans several layers has a bend in each; in the column of a layer it
// runs straight, and curves between the columns. Edges to what is outside of the level leave it at its left or right border.

const BOX_DISTANCE = 16;
const BEND_DISTANCE = 9;
const COLUMN_GAP = 40;
/** Bends of all edges together; beyond, edges go straight from box to box. */
const MOST_BENDS = 16_000;
/** Layers up to this height are not made lower. */
const TALL_ENOUGH = 440;
/** How much wider than tall a drawing should be. */
const SHAPE = 1.7;

/**
 * `boxes`: [{width, height, left, right}]: whether something outside on that side is tied to it (how strongly). `edges`: [{from, to, weight, fromAt, toAt}] without cycles,
 * from left to right; `…At` is how far below the top of the box it begins. `at(box, side)`: the same for what leaves the level.
 * The result: {width, height, boxes: [{x, y, from, to}] with the borders of their columns, edges and leaving: {left, right} by box: points between those borders}.
 */
function layeredLayout(boxes, edges, at) {
  const area = boxes.reduce((sum, box) => sum + (box.width + COLUMN_GAP) * (box.height + BOX_DISTANCE), 0);
  const tallest = boxes.reduce((most, box) => Math.max(most, box.height), 0);
  const most = Math.max(tallest, TALL_ENOUGH, Math.sqrt(area / SHAPE) * 1.15);
  const heights = boxes.map((box) => box.height + BOX_DISTANCE);
  const { layer, count } = layersOf(heights, edges, boxes, most + BOX_DISTANCE);

  const vertices = boxes.map((box, index) => ({ layer: layer[index], height: box.height }));
  const links = [];
  let bendsLeft = MOST_BENDS;
  const chain = (first, firstAt, last, lastAt, fromLayer, toLayer, weight) => {
    const bends = [];
    const outward = first === null || last === null;
    let [before, beforeAt] = [first, firstAt];
    if (bendsLeft < toLayer - fromLayer) fromLayer = toLayer;
    for (let between = fromLayer; between < toLayer; between++) {
      const bend = vertices.length;
      bendsLeft--;
      vertices.push({ layer: between, height: 0 });
      bends.push(bend);
      if (before !== null) links.push({ from: before, to: bend, fromAt: beforeAt, toAt: 0, outward, weight: weight * (vertices[before].height === 0 ? 8 : 2) });
      [before, beforeAt] = [bend, 0];
    }
    if (last !== null && before !== null) links.push({ from: before, to: last, fromAt: beforeAt, toAt: lastAt, outward, weight: weight * (vertices[before].height === 0 ? 2 : 1) });
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
  const climbs = new Float64Array(count);
  for (const link of near) {
    const at = vertices[link.from].layer;
    climbs[at] = Math.max(climbs[at], Math.abs(tops[link.from] + link.fromAt - tops[link.to] - link.toAt));
  }
  const columns = [];
  let x = 0;
  for (let index = 0; index < count; index++) {
    const width = ordered.layers[index].reduce((widest, vertex) => Math.max(widest, boxes[vertex]?.width ?? 0), 0);
    columns.push({ from: x, to: x + width });
    x += width + (index + 1 < count ? COLUMN_GAP + Math.min(80, climbs[index] * 0.14) : 0);
  }
  const extents = columns.map(() => ({ top: Infinity, bottom: -Infinity }));
  vertices.forEach(({ layer: at, height }, index) => {
    extents[at].top = Math.min(extents[at].top, tops[index]);
    extents[at].bottom = Math.max(extents[at].bottom, tops[index] + height);
  });
  const steps = columns.map(() => []);
  const stepOf = new Map();
  for (const link of near) {
    // What leaves the level does so from the row that it is in.
    if (link.outward) continue;
    const step = { fromY: tops[link.from] + link.fromAt, toY: tops[link.to] + link.toAt };
    steps[vertices[link.from].layer].push(step);
    stepOf.set(`${link.from} ${link.to}`, step);
  }
  const rows = wrapLayers(columns, steps, extents);
  const moved = (at) => (rows ? rows.shift[rows.rowOf[at]] : { x: 0, y: 0 });
  const straight = (vertex) => {
    const { layer: at } = vertices[vertex];
    const { x: dx, y: dy } = moved(at);
    return [[columns[at].from + dx, tops[vertex] + dy], [columns[at].to + dx, tops[vertex] + dy]];
  };
  const isCut = (a, b) => rows !== null && rows.rowOf[vertices[a].layer] !== rows.rowOf[vertices[b].layer];
  const wayOf = (edge, bends) => {
    const points = [];
    const all = [edge.from, ...bends, edge.to];
    for (let index = 1; index < all.length; index++) {
      const step = stepOf.get(`${all[index - 1]} ${all[index]}`);
      if (step && isCut(all[index - 1], all[index])) points.push(...rows.way(step));
      if (index + 1 < all.length) points.push(...straight(all[index]));
    }
    return points;
  };
  const waysOut = (side) => new Map([...leaving[side]].map(([box, bends]) => [box, bends.filter((bend) => !isCut(bend, box)).flatMap(straight)]));
  return {
    width: rows ? rows.width : x,
    height: rows ? rows.height : Math.max(...extents.map((extent) => extent.bottom)),
    crossings: ordered.crossings,
    boxes: boxes.map((box, index) => {
      const column = columns[layer[index]];
      const { x: dx, y: dy } = moved(layer[index]);
      return { x: dx + column.from + (column.to - column.from - box.width) / 2, y: tops[index] + dy, from: column.from + dx, to: column.to + dx };
    }),
    edges: ways.map((bends, index) => wayOf(edges[index], bends)),
    leaving: { left: waysOut("left"), right: waysOut("right") },
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
