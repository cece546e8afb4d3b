// Drawings that would be much wider than tall continue in a second row, as lines of text do. Edges from one row to the next run down the right margin, back between the
// rows and down the left margin, each in a lane of its own.

const LANE = 7;
/** Edges that may go from row to row: some, or as many as fill this share of the height; with more, the margins would be what is looked at. */
const LANES = 12;
const LANES_SHARE = 0.12;
const ROW_DISTANCE = 34;

/**
 * `columns`: [{from, to}] of the layers; `links`: [{from, to, fromY, toY}] between neighbouring layers, by layer; `extents`: [{top, bottom}] of what is in each layer.
 * Returns nothing if one row is best, else {rowOf: by layer, shift: [{x, y}] by row, width, height, way(link): points between the two ends}.
 */
function wrapLayers(columns, links, extents) {
  const count = columns.length;
  const span = (from, to) => {
    let [top, bottom] = [Infinity, -Infinity];
    for (let layer = from; layer < to; layer++) {
      top = Math.min(top, extents[layer].top);
      bottom = Math.max(bottom, extents[layer].bottom);
    }
    return { top, height: bottom - top };
  };
  const width = columns.at(-1).to;
  const number = Math.min(Math.round(Math.sqrt(width / (SHAPE * Math.max(span(0, count).height, 1)))), Math.floor(count / 2));
  if (number < 2 || width < 1300) return null;

  const lanesMost = Math.max(LANES, (span(0, count).height * LANES_SHARE) / LANE);
  const starts = [0];
  for (let row = 1; row < number; row++) {
    const ideal = (width * row) / number;
    let best = null;
    for (let layer = starts.at(-1) + 1; layer < count; layer++) {
      const off = Math.abs(columns[layer].from - ideal) / (width / number);
      if (off > 0.45) continue;
      const cost = links[layer - 1].length + 14 * off;
      if (links[layer - 1].length <= lanesMost && (!best || cost < best.cost)) best = { layer, cost };
    }
    if (best) starts.push(best.layer);
  }
  if (starts.length < 2) return null;

  const rowOf = Int32Array.from({ length: count }, (_, layer) => starts.findLastIndex((start) => start <= layer));
  const cuts = starts.slice(1).map((start) => links[start - 1].toSorted((a, b) => b.fromY - a.fromY));
  const lanes = Math.max(...cuts.map((cut) => cut.length));
  const margin = 14 + lanes * LANE;
  const shift = [];
  let y = 0;
  const widths = [];
  starts.forEach((start, row) => {
    const end = starts[row + 1] ?? count;
    const { top, height } = span(start, end);
    shift.push({ x: margin - columns[start].from, y: y - top });
    widths.push(columns[end - 1].to - columns[start].from);
    y += height + (row + 1 < starts.length ? ROW_DISTANCE + cuts[row].length * LANE : 0);
  });
  const lane = new Map();
  cuts.forEach((cut, row) => cut.forEach((link, index) => lane.set(link, { row, index, of: cut.length })));
  const bottoms = starts.map((start, row) => {
    const { top, height } = span(start, starts[row + 1] ?? count);
    return shift[row].y + top + height;
  });
  return {
    rowOf, shift, height: y, width: Math.max(...widths) + 2 * margin,
    way(link) {
      const { row, index, of } = lane.get(link);
      const right = margin + widths[row] + 8 + index * LANE;
      const between = bottoms[row] + ROW_DISTANCE / 2 + index * LANE;
      const left = margin - 8 - (of - 1 - index) * LANE;
      const [fromY, toY] = [link.fromY + shift[row].y, link.toY + shift[row + 1].y];
      return [[right, fromY], [right, between], [left, between], [left, toY]];
    },
  };
}
