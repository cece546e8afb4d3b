// The order within each layer: few lines cross. Barycentres, swept forth and back, then neighbours are swapped where that helps; the best is kept.

const ORDER_SWEEPS = 14;
/** Sweeps in a row that make it no better before the search ends. */
const PATIENCE = 3;
/** So many links are swept together; large drawings are swept less often. */
const LINKS_SWEPT = 40_000;
const SWAP_ROUNDS = 6;
/** Neighbours with so many pairs of links are not compared: it would take too long. */
const MOST_PAIRS = 4_000;

/**
 * The links at one side of each vertex, from the top down: numbers of `link` from `start[vertex]` to `start[vertex + 1]`. `slot`, by link, is the place at the
 * vertex where it begins, of `slots[vertex]`: links of one place do not cross.
 */
function linksOfSide(count, ends, shares) {
  const start = new Int32Array(count + 1);
  for (const end of ends) start[end + 1]++;
  for (let vertex = 0; vertex < count; vertex++) start[vertex + 1] += start[vertex];
  const link = new Int32Array(ends.length);
  const next = start.slice(0, count);
  for (let number = 0; number < ends.length; number++) {
    // Few have several, so they are put into their places as they come.
    let row = next[ends[number]]++;
    for (; row > start[ends[number]] && shares[link[row - 1]] > shares[number]; row--) link[row] = link[row - 1];
    link[row] = number;
  }
  const slot = new Int32Array(ends.length);
  const slots = new Int32Array(count);
  for (let vertex = 0; vertex < count; vertex++) {
    for (let row = start[vertex]; row < start[vertex + 1]; row++) {
      if (row === start[vertex] || shares[link[row - 1]] !== shares[link[row]]) slots[vertex]++;
      slot[link[row]] = slots[vertex] - 1;
    }
  }
  return { start, link, slot, slots };
}

/** `layers`: lists of vertices. `links`: [{from, to, fromShare, toShare}] between neighbouring layers; shares say where at a tall vertex a link begins, from 0 to 1. */
function orderLayers(layers, links, count) {
  const from = Int32Array.from(links, (link) => link.from);
  const to = Int32Array.from(links, (link) => link.to);
  const fromShare = Float64Array.from(links, (link) => link.fromShare * 0.9);
  const toShare = Float64Array.from(links, (link) => link.toShare * 0.9);
  const right = linksOfSide(count, from, fromShare);
  const left = linksOfSide(count, to, toShare);
  const place = new Float64Array(count);
  const key = new Float64Array(count);
  const number = (layer) => { for (let index = 0; index < layer.length; index++) place[layer[index]] = index; };
  layers.forEach(number);

  const base = new Int32Array(count);
  function crossings() {
    let sum = 0;
    for (let index = 0; index + 1 < layers.length; index++) sum += crossingsBetween(layers[index], layers[index + 1], right, to, left, base);
    return sum;
  }

  function sweep(forth) {
    const size = layers.length;
    const [side, far, share] = forth ? [left, from, fromShare] : [right, to, toShare];
    for (let step = 1; step < size; step++) {
      const layer = layers[forth ? step : size - 1 - step];
      for (const vertex of layer) {
        const begin = side.start[vertex];
        const end = side.start[vertex + 1];
        let sum = 0;
        for (let row = begin; row < end; row++) sum += place[far[side.link[row]]] + share[side.link[row]];
        key[vertex] = end > begin ? sum / (end - begin) : place[vertex];
      }
      layer.sort((a, b) => key[a] - key[b] || place[a] - place[b]);
      number(layer);
    }
  }

  /** How many more crossings `a` above `b` has than `b` above `a`, on one side. */
  function excess(side, far, share, a, b) {
    const { start, link } = side;
    const endOfA = start[a + 1];
    const endOfB = start[b + 1];
    if ((endOfA - start[a]) * (endOfB - start[b]) > MOST_PAIRS) return 0;
    let sum = 0;
    for (let row = start[a]; row < endOfA; row++) {
      const ofA = place[far[link[row]]] + share[link[row]];
      for (let other = start[b]; other < endOfB; other++) {
        const ofB = place[far[link[other]]] + share[link[other]];
        if (ofA > ofB) sum++;
        else if (ofA < ofB) sum--;
      }
    }
    return sum;
  }

  function swapNeighbours() {
    const changed = new Uint8Array(layers.length + 2).fill(1);
    for (let round = 0; round < SWAP_ROUNDS; round++) {
      let swapped = false;
      for (let at = 0; at < layers.length; at++) {
        // What is around has to have changed, or there is nothing new to gain.
        if (!changed[at] && !changed[at + 1] && !changed[at + 2]) continue;
        changed[at + 1] = swapInLayer(layers[at]);
        if (changed[at + 1]) swapped = true;
      }
      if (!swapped) return;
    }
  }

  function swapInLayer(layer) {
    let swapped = 0;
    for (let index = 0; index + 1 < layer.length; index++) {
      const a = layer[index];
      const b = layer[index + 1];
      if (excess(left, from, fromShare, a, b) + excess(right, to, toShare, a, b) <= 0) continue;
      layer[index] = b;
      layer[index + 1] = a;
      place[b] = index;
      place[a] = index + 1;
      swapped = 1;
    }
    return swapped;
  }

  let best = layers.map((layer) => layer.slice());
  let least = crossings();
  const sweeps = Math.min(ORDER_SWEEPS, Math.max(4, Math.floor(LINKS_SWEPT / (links.length + 1))));
  for (let round = 0, better = 0; round < sweeps && least > 0 && round - better <= PATIENCE; round++) {
    sweep(round % 2 === 0);
    swapNeighbours();
    const now = crossings();
    if (now >= least) continue;
    least = now;
    better = round;
    best = layers.map((layer) => layer.slice());
  }
  return { layers: best, crossings: least };
}

/**
 * Pairs of links between two layers that cross, counted by a tree of sums. Links from one place, or to one place, do not cross each other. `base`, by vertex, is room
 * to work in.
 */
function crossingsBetween(above, below, right, to, left, base) {
  let size = 0;
  for (const vertex of below) {
    base[vertex] = size;
    size += left.slots[vertex];
  }
  const tree = new Int32Array(size + 1);
  let sum = 0;
  let counted = 0;
  for (const vertex of above) {
    const last = right.start[vertex + 1];
    for (let begin = right.start[vertex], end; begin < last; begin = end) {
      // All of one place are looked at before any of them is put into the tree.
      for (end = begin; end < last && right.slot[right.link[end]] === right.slot[right.link[begin]]; end++) {
        const link = right.link[end];
        let notBelow = 0;
        for (let node = base[to[link]] + left.slot[link] + 1; node > 0; node -= node & -node) notBelow += tree[node];
        sum += counted - notBelow;
      }
      for (let row = begin; row < end; row++) {
        const link = right.link[row];
        for (let node = base[to[link]] + left.slot[link] + 1; node <= size; node += node & -node) tree[node]++;
      }
      counted += end - begin;
    }
  }
  return sum;
}
