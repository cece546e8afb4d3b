// One level of a drawing: boxes in layers, edges that never cross a box. In the column of a layer an edge runs straight, and it curves between the columns. Edges
// to what is outside of the level leave it at its left or right border.

const BOX_DISTANCE = 16;
const BEND_DISTANCE = 9;
const COLUMN_GAP = 40;
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
  const { layerOf, heightOf, links, ways, leaving } = linesOf(boxes, edges, at, layer, count);

  const layers = Array.from({ length: count }, () => []);
  for (const vertex of seenFromTheLeft(layerOf.length, links)) layers[layerOf[vertex]].push(vertex);
  // Where there are too many bends, edges span several layers, and play no part in the order.
  const near = links.filter((link) => layerOf[link.to] === layerOf[link.from] + 1);
  const ordered = orderLayers(layers, near, layerOf.length);
  const distance = (a, b) => (heightOf[a] > 0 && heightOf[b] > 0 ? BOX_DISTANCE : heightOf[a] > 0 || heightOf[b] > 0 ? BEND_DISTANCE + 4 : BEND_DISTANCE);
  const tops = placeLayers(ordered.layers, heightOf, distance, near);

  // Columns: as wide as their widest box, and further apart where edges climb.
  const climbs = new Float64Array(count);
  const steps = Array.from({ length: count }, () => []);
  for (const link of near) {
    const before = layerOf[link.from];
    link.fromY = tops[link.from] + link.fromAt;
    link.toY = tops[link.to] + link.toAt;
    climbs[before] = Math.max(climbs[before], Math.abs(link.fromY - link.toY));
    // What leaves the level does so from the row that it is in.
    if (!link.outward) steps[before].push(link);
  }
  const columns = [];
  let x = 0;
  for (let index = 0; index < count; index++) {
    const width = ordered.layers[index].reduce((widest, vertex) => Math.max(widest, boxes[vertex]?.width ?? 0), 0);
    columns.push({ from: x, to: x + width });
    x += width + (index + 1 < count ? COLUMN_GAP + Math.min(80, climbs[index] * 0.14) : 0);
  }
  const extents = columns.map(() => ({ top: Infinity, bottom: -Infinity }));
  layerOf.forEach((place, vertex) => {
    extents[place].top = Math.min(extents[place].top, tops[vertex]);
    extents[place].bottom = Math.max(extents[place].bottom, tops[vertex] + heightOf[vertex]);
  });
  const rows = wrapLayers(columns, steps, extents);
  const unmoved = { x: 0, y: 0 };
  const moved = (place) => (rows ? rows.shift[rows.rowOf[place]] : unmoved);
  const isCut = (a, b) => rows !== null && rows.rowOf[layerOf[a]] !== rows.rowOf[layerOf[b]];
  /** On through the column of a bend; a line that stays at its height needs no further points. */
  const run = (points, bend) => {
    const column = columns[layerOf[bend]];
    const { x: dx, y: dy } = moved(layerOf[bend]);
    const y = tops[bend] + dy;
    const last = points.at(-1);
    if (points.length > 1 && points.at(-2)[1] === last[1] && Math.abs(last[1] - y) < 0.5 && last[0] <= column.from + dx) last[0] = column.to + dx;
    else points.push([column.from + dx, y], [column.to + dx, y]);
  };
  const pointsOf = (way) => {
    const points = [];
    way.links.forEach((link, index) => {
      if (isCut(link.from, link.to) && layerOf[link.to] === layerOf[link.from] + 1) points.push(...rows.way(link));
      if (index < way.bends.length) run(points, way.bends[index]);
    });
    return points;
  };
  const pointsOut = (side) => new Map([...leaving[side]].map(([box, way]) => {
    const points = [];
    for (const bend of way.bends) if (!isCut(bend, box)) run(points, bend);
    return [box, points];
  }));
  return {
    width: rows ? rows.width : x,
    height: rows ? rows.height : Math.max(...extents.map((extent) => extent.bottom)),
    crossings: ordered.crossings,
    boxes: boxes.map((box, index) => {
      const column = columns[layer[index]];
      const { x: dx, y: dy } = moved(layer[index]);
      return { x: dx + column.from + (column.to - column.from - box.width) / 2, y: tops[index] + dy, from: column.from + dx, to: column.to + dx };
    }),
    edges: ways.map(pointsOf),
    leaving: { left: pointsOut("left"), right: pointsOut("right") },
  };
}
