// The order within each layer: few edges cross. Barycentres, swept forth and back, then neighbours are swapped where that helps; the best is kept.

const ORDER_SWEEPS = 14;
/** Sweeps in a row that make it no better before the search ends. */
const PATIENCE = 4;
/** So many links are swept together; large drawings are swept less often. */
const LINKS_SWEPT = 60_000;
/** Links beyond which neighbours are no longer swapped: it would take too long. */
const MOST_LINKS_SWAPPED = 4000;

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
  const key = new Float64Array(count);
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
      for (const vertex of layer) {
        const tied = forth ? left[vertex] : right[vertex];
        let sum = 0;
        for (const link of tied) sum += forth ? toLeft(link) : toRight(link);
        key[vertex] = tied.length > 0 ? sum / tied.length : place[vertex];
      }
      layer.sort((a, b) => key[a] - key[b] || place[a] - place[b]);
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
  const sweeps = Math.min(ORDER_SWEEPS, Math.max(4, Math.floor(LINKS_SWEPT / (links.length + 1))));
  for (let round = 0, better = 0; round < sweeps && least > 0 && round - better <= PATIENCE; round++) {
    sweep(round % 2 === 0);
    if (links.length <= MOST_LINKS_SWAPPED) swapNeighbours();
    const now = crossings();
    if (now >= least) continue;
    least = now;
    better = round;
    best = layers.map((layer) => layer.slice());
  }
  return { layers: best, crossings: least };
}

/** How finely the places of links at one vertex are told apart. */
const FINE = 32;

/** Pairs of links that cross, counted by a tree of sums. Links from one point, or to one point, do not cross each other. */
function crossingsBetween(links, from, to) {
  if (links.length < 2) return 0;
  let most = 0;
  const ends = new Float64Array(links.length);
  for (let index = 0; index < links.length; index++) {
    const end = Math.floor(to(links[index]) * FINE) + 1;
    if (end > most) most = end;
    ends[index] = Math.floor(from(links[index]) * FINE) * 2 ** 24 + end;
  }
  ends.sort();
  const tree = new Int32Array(most + 1);
  let sum = 0;
  for (let begin = 0; begin < ends.length; ) {
    const source = Math.floor(ends[begin] / 2 ** 24);
    let end = begin;
    for (; end < ends.length && Math.floor(ends[end] / 2 ** 24) === source; end++) {
      let notAbove = 0;
      for (let node = ends[end] % 2 ** 24; node > 0; node -= node & -node) notAbove += tree[node];
      sum += begin - notAbove;
    }
    for (let at = begin; at < end; at++) for (let node = ends[at] % 2 ** 24; node <= most; node += node & -node) tree[node]++;
    begin = end;
  }
  return sum;
}
