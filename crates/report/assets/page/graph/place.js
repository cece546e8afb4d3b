// How far down each vertex of a layer stands: as near to what it is tied to as the order and the distances in its layer allow.

const PLACE_ROUNDS = 20;
/** Rounds times vertices. */
const MOST_PLACED = 160_000;

/**
 * `layers`: ordered vertices. `heights` by vertex. `distance(a, b)`: between two neighbours of a layer. `links`: [{from, to, fromAt, toAt, weight}]; `…At` is how
 * far below the top of the vertex the link begins. The result is the top of each vertex, from 0 on.
 */
function placeLayers(layers, heights, distance, links) {
  const count = heights.length;
  const rightward = tiesOf(count, links, "from", "to", (link) => link.toAt - link.fromAt);
  const leftward = tiesOf(count, links, "to", "from", (link) => link.fromAt - link.toAt);
  // How far below the first of its layer each has to be, at least.
  const offset = new Float64Array(count);
  const top = new Float64Array(count);
  let largest = 0;
  for (const layer of layers) {
    for (let index = 1; index < layer.length; index++) offset[layer[index]] = offset[layer[index - 1]] + heights[layer[index - 1]] + distance(layer[index - 1], layer[index]);
    const last = layer.at(-1);
    const middle = last === undefined ? 0 : (offset[last] + heights[last]) / 2;
    for (const vertex of layer) top[vertex] = offset[vertex] - middle;
    largest = Math.max(largest, layer.length);
  }
  const blocks = { at: new Float64Array(largest), weight: new Float64Array(largest), end: new Int32Array(largest) };
  const rounds = Math.min(PLACE_ROUNDS, Math.max(8, Math.floor(MOST_PLACED / (count + 1))));
  for (let round = 0; round < rounds; round++) {
    const forth = (rounds - round) % 2 === 1;
    // At first one side decides, so that what is long becomes straight; then both, so that what is tied comes together; at last one again.
    const oneSided = round < rounds / 2 || round >= rounds - 2;
    const sides = oneSided ? [forth ? leftward : rightward] : [leftward, rightward];
    for (let step = 0; step < layers.length; step++) settle(layers[forth ? step : layers.length - 1 - step], sides, offset, blocks, top);
  }
  let least = Infinity;
  for (const layer of layers) for (const vertex of layer) least = Math.min(least, top[vertex]);
  return top.map((at) => at - least);
}

/** What each vertex is tied to at one side: rows from `start[vertex]` to `start[vertex + 1]`. */
function tiesOf(count, links, own, far, shiftOf) {
  const start = new Int32Array(count + 1);
  for (const link of links) start[link[own] + 1]++;
  for (let vertex = 0; vertex < count; vertex++) start[vertex + 1] += start[vertex];
  const next = start.slice(0, count);
  const [other, shift, weight] = [new Int32Array(links.length), new Float64Array(links.length), new Float64Array(links.length)];
  for (const link of links) {
    const row = next[link[own]]++;
    other[row] = link[far];
    shift[row] = shiftOf(link);
    weight[row] = link.weight;
  }
  return { start, other, shift, weight };
}

/**
 * The places nearest to what is wished, in the sense of least squares, that keep order and distances: neighbours that would collide move as one block. `blocks` is
 * room to work in.
 */
function settle(layer, sides, offset, blocks, top) {
  let last = -1;
  for (let index = 0; index < layer.length; index++) {
    const vertex = layer[index];
    let sum = 0;
    let weight = 0;
    for (const side of sides) {
      for (let row = side.start[vertex]; row < side.start[vertex + 1]; row++) {
        sum += (top[side.other[row]] + side.shift[row]) * side.weight[row];
        weight += side.weight[row];
      }
    }
    let at = (weight > 0 ? sum / weight : top[vertex]) - offset[vertex];
    if (weight === 0) weight = 0.01;
    for (; last >= 0 && blocks.at[last] > at; last--) {
      const both = blocks.weight[last] + weight;
      at = (blocks.at[last] * blocks.weight[last] + at * weight) / both;
      weight = both;
    }
    last++;
    blocks.at[last] = at;
    blocks.weight[last] = weight;
    blocks.end[last] = index + 1;
  }
  for (let block = 0, index = 0; block <= last; block++) {
    for (; index < blocks.end[block]; index++) top[layer[index]] = blocks.at[block] + offset[layer[index]];
  }
}
