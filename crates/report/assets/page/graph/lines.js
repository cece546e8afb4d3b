// The lines of a level before it is known where they run: an edge that spans several layers has a bend in each of them. Long edges that begin at one place of a box,
// or end at one, run together as far as they can, as a trunk with branches: there are fewer lines to look at, and fewer to arrange.

/** Bends of all edges together; beyond, edges go straight from box to box. */
const MOST_BENDS = 16_000;

/**
 * `layer` of each box, of `count`; the rest as for `layeredLayout`. Vertices are boxes, then bends. The result: `layerOf` and `heightOf` the vertices, `links` between them
 * [{from, to, fromAt, toAt, fromShare, toShare, outward, weight}], and ways {bends, links: the link before each bend, and the last one}: `ways` by edge,
 * `leaving`: {left, right} by box.
 */
function linesOf(boxes, edges, at, layer, count) {
  const layerOf = Array.from(layer);
  const heightOf = boxes.map((box) => box.height);
  const links = [];
  let bendsLeft = MOST_BENDS;
  const bendIn = (place) => {
    bendsLeft--;
    heightOf.push(0);
    return layerOf.push(place) - 1;
  };
  const share = (vertex, place) => (heightOf[vertex] > 0 ? place / heightOf[vertex] : 0.5);
  const link = (from, to, fromAt, toAt, outward) => {
    const made = { from, to, fromAt, toAt, fromShare: share(from, fromAt), toShare: share(to, toAt), outward, weight: 0, fromY: 0, toY: 0 };
    links.push(made);
    return made;
  };
  const stiffness = ({ from, to }) => (heightOf[from] === 0 && heightOf[to] === 0 ? 8 : heightOf[from] === 0 || heightOf[to] === 0 ? 2 : 1);

  const trunks = new Map();
  const owners = trunkOwners(edges, layer);
  const ways = edges.map((edge, index) => {
    const [first, last] = [layer[edge.from] + 1, layer[edge.to]];
    const way = { bends: [], links: [] };
    if (first < last && bendsLeft >= last - first) {
      if (!trunks.has(owners[index])) trunks.set(owners[index], { bends: new Int32Array(count).fill(-1), before: [], after: [] });
      const trunk = trunks.get(owners[index]);
      for (let place = first; place < last; place++) {
        if (trunk.bends[place] < 0) trunk.bends[place] = bendIn(place);
        way.bends.push(trunk.bends[place]);
        if (place > first) way.links.push(trunk.before[place] ??= link(trunk.bends[place - 1], trunk.bends[place], 0, 0, false));
      }
      const fromBox = () => link(edge.from, way.bends[0], edge.fromAt, 0, false);
      const toBox = () => link(way.bends.at(-1), edge.to, 0, edge.toAt, false);
      way.links.unshift(owners[index].endsWith("→") ? trunk.before[first] ??= fromBox() : fromBox());
      way.links.push(owners[index].endsWith("→") ? toBox() : trunk.after[last - 1] ??= toBox());
    } else way.links.push(link(edge.from, edge.to, edge.fromAt, edge.toAt, false));
    const weight = 1 + Math.log2(1 + edge.weight) / 4;
    for (const made of way.links) made.weight += weight * stiffness(made);
    return way;
  });

  const leaving = { left: new Map(), right: new Map() };
  const out = (box, first, last, side) => {
    const way = { bends: [], links: [] };
    if (bendsLeft < last - first) return way;
    for (let place = first; place < last; place++) {
      way.bends.push(bendIn(place));
      if (place > first) way.links.push(link(way.bends.at(-2), way.bends.at(-1), 0, 0, true));
    }
    if (way.bends.length > 0) way.links.push(side === "left" ? link(way.bends.at(-1), box, 0, at(box, side), true) : link(box, way.bends[0], at(box, side), 0, true));
    for (const made of way.links) made.weight += stiffness(made);
    return way;
  };
  boxes.forEach((box, index) => {
    if (box.left) leaving.left.set(index, out(index, 0, layer[index], "left"));
    if (box.right) leaving.right.set(index, out(index, layer[index] + 1, count, "right"));
  });
  return { layerOf, heightOf, links, ways, leaving };
}

/** Names the trunk of each edge, which is that of the end with more long edges; those of the left end have an arrow behind. */
function trunkOwners(edges, layer) {
  const names = edges.map((edge) => [`${edge.from} ${edge.fromAt.toFixed(1)} →`, `${edge.to} ${edge.toAt.toFixed(1)}`]);
  const users = new Map();
  edges.forEach((edge, index) => {
    if (layer[edge.to] - layer[edge.from] < 2) return;
    for (const own of names[index]) users.set(own, (users.get(own) ?? 0) + 1);
  });
  return names.map(([from, to]) => ((users.get(to) ?? 0) > (users.get(from) ?? 0) ? to : from));
}

/** All vertices, each after one that it is tied to, so that what belongs together begins together. */
function seenFromTheLeft(count, links) {
  const start = new Int32Array(count + 1);
  for (const { from, to } of links) {
    start[from + 1]++;
    start[to + 1]++;
  }
  for (let vertex = 0; vertex < count; vertex++) start[vertex + 1] += start[vertex];
  const next = start.slice(0, count);
  const tied = new Int32Array(links.length * 2);
  for (const { from, to } of links) {
    tied[next[from]++] = to;
    tied[next[to]++] = from;
  }
  const seen = new Uint8Array(count);
  const order = [];
  const waiting = [];
  for (let first = 0; first < count; first++) {
    waiting.push(first);
    while (waiting.length > 0) {
      const vertex = waiting.pop();
      if (seen[vertex]) continue;
      seen[vertex] = 1;
      order.push(vertex);
      for (let row = start[vertex + 1] - 1; row >= start[vertex]; row--) if (!seen[tied[row]]) waiting.push(tied[row]);
    }
  }
  return order;
}
