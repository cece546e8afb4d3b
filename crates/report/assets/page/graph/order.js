// The order within each layer: few edges cross. Barycentres, swept forth and back, then neighbours are swapped where that helps; the best is kept.

const ORDER_SWEEPS = 14;
/** Links beyond which neighbours are no longer swapped: it would take too long. */
const MOST_LINKS_SWAPPED = 6000;

/** `layers`: lists of vertices. `links`: [{from, to, fromShare, toShare}] between neighbouring layers; shares say where at a tall vertex a link begins, from 0 to 1. */
function orderLayers(layers, links, count) {
  const layerOf = new Int32Array(count);
  layers.forEach((layer, index) => layer.forEach((vertex) => { layerOf[vertex] = index; }));
  const right = Array.from({ length: count }, () => []);
  const left = Array.from({ length: count }, () => []);
  const between = Array.from({ length: layers.length }, () => []);
  for (const link of links) {
    right[link.from].push(link);
    left[link.to].push(link);
    between[layerOf[link.from]].push(link);
  }
  const place = new Float64Array(count);
  const number = (layer) => layer.forEach((vertex, index) => { place[vertex] = index; });
  layers.forEach(number);
  const toRight = (link) => place[link.to] + link.toShare * 0.9;
  const toLeft = (link) => place[link.from] + link.fromShare * 0.9;

  function crossings() {
    let sum = 0;
    for (const part of between) sum += crossingsBetween(part, toLeft, toRight);
    return sum;
  }

  function sweep(forth) {
    const size = layers.length;
    for (let step = 1; step < size; step++) {
      const layer = layers[forth ? step : size - 1 - step];
      const key = new Map();
      for (const vertex of layer) {
        const tied = forth ? left[vertex] : right[vertex];
        let sum = 0;
        for (const link of tied) sum += forth ? toLeft(link) : toRight(link);
        key.set(vertex, tied.length > 0 ? sum / tied.length : place[vertex]);
      }
      layer.sort((a, b) => key.get(a) - key.get(b) || place[a] - place[b]);
      number(layer);
    }
  }

  /** How many more crossings `a` above `b` has than `b` above `a`, on one side. */
  function excess(linksOfA, linksOfB, at) {
    let sum = 0;
    for (const a of linksOfA) {
      const ofA = at(a);
      for (const b of linksOfB) sum += Math.sign(ofA - at(b));
    }
    return sum;
  }

  function swapNeighbours() {
    for (let round = 0; round < 6; round++) {
      let swapped = false;
      for (const layer of layers) {
        for (let index = 0; index + 1 < layer.length; index++) {
          const [a, b] = [layer[index], layer[index + 1]];
          if (excess(left[a], left[b], toLeft) + excess(right[a], right[b], toRight) <= 0) continue;
          [layer[index], layer[index + 1]] = [b, a];
          place[b] = index;
          place[a] = index + 1;
          swapped = true;
        }
      }
      if (!swapped) return;
    }
  }

  let best = layers.map((layer) => layer.slice());
  let least = crossings();
  for (let round = 0; round < ORDER_SWEEPS && least > 0; round++) {
    sweep(round % 2 === 0);
    if (links.length <= MOST_LINKS_SWAPPED) swapNeighbours();
    const now = crossings();
    if (now >= least) continue;
    least = now;
    best = layers.map((layer) => layer.slice());
  }
  return { layers: best, crossings: least };
}

/** Pairs of links that cross, counted by a tree of sums. */
function crossingsBetween(links, from, to) {
  if (links.length < 2) return 0;
  const ends = links.map((link) => ({ from: from(link), to: to(link) })).sort((a, b) => a.from - b.from || a.to - b.to);
  const ranks = new Map([...new Set(ends.map((end) => end.to))].sort((a, b) => a - b).map((value, index) => [value, index + 1]));
  const tree = new Int32Array(ranks.size + 1);
  let sum = 0;
  let seen = 0;
  for (let begin = 0; begin < ends.length; ) {
    // Links from one point do not cross each other.
    let end = begin;
    while (end < ends.length && ends[end].from === ends[begin].from) end++;
    for (let at = begin; at < end; at++) {
      let notAbove = 0;
      for (let node = ranks.get(ends[at].to); node > 0; node -= node & -node) notAbove += tree[node];
      sum += seen - notAbove;
    }
    for (let at = begin; at < end; at++, seen++) for (let node = ranks.get(ends[at].to); node < tree.length; node += node & -node) tree[node]++;
    begin = end;
  }
  return sum;
}
