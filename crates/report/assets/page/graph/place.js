// How far down each vertex of a layer stands: as near to what it is tied to as the order and the distances in its layer allow.

const PLACE_ROUNDS = 20;
/** Rounds times vertices. */
const MOST_PLACED = 160_000;

/**
 * `layers`: ordered vertices. `heights` by vertex. `distance(a, b)`: between two neighbours of a layer. `links`: [{from, to, fromAt, toAt, weight}]; `…At` is how
 * far below the top of the vertex the link begins. The result is the top of each vertex, from 0 on.
 */
function placeLayers(layers, heights, distance, links) {
  const tied = Array.from({ length: heights.length }, () => []);
  for (const { from, to, fromAt, toAt, weight } of links) {
    tied[from].push({ other: to, shift: toAt - fromAt, weight, leftward: false });
    tied[to].push({ other: from, shift: fromAt - toAt, weight, leftward: true });
  }
  const top = new Float64Array(heights.length);
  for (const layer of layers) {
    let at = 0;
    layer.forEach((vertex, index) => {
      if (index > 0) at += heights[layer[index - 1]] + distance(layer[index - 1], vertex);
      top[vertex] = at;
    });
    const last = layer.at(-1);
    const middle = last === undefined ? 0 : (top[last] + heights[last]) / 2;
    for (const vertex of layer) top[vertex] -= middle;
  }
  const rounds = Math.min(PLACE_ROUNDS, Math.max(8, Math.floor(MOST_PLACED / (heights.length + 1))));
  for (let round = 0; round < rounds; round++) {
    const forth = (rounds - round) % 2 === 1;
    // At first one side decides, so that what is long becomes straight; then both, so that what is tied comes together; at last one again.
    const oneSided = round < rounds / 2 || round >= rounds - 2;
    for (let step = 0; step < layers.length; step++) {
      const layer = layers[forth ? step : layers.length - 1 - step];
      const wishes = layer.map((vertex) => {
        let sum = 0;
        let weight = 0;
        for (const tie of tied[vertex]) {
          if (oneSided && tie.leftward !== forth) continue;
          sum += (top[tie.other] + tie.shift) * tie.weight;
          weight += tie.weight;
        }
        return weight > 0 ? { at: sum / weight, weight } : { at: top[vertex], weight: 0.01 };
      });
      settle(layer, wishes, heights, distance, top);
    }
  }
  let least = Infinity;
  for (const layer of layers) for (const vertex of layer) least = Math.min(least, top[vertex]);
  return top.map((at) => at - least);
}

/** The places nearest to what is wished, in the sense of least squares, that keep order and distances: neighbours that would collide move as one block. */
function settle(layer, wishes, heights, distance, top) {
  const blocks = [];
  let offset = 0;
  layer.forEach((vertex, index) => {
    if (index > 0) offset += heights[layer[index - 1]] + distance(layer[index - 1], vertex);
    let block = { at: wishes[index].at - offset, weight: wishes[index].weight, members: 1 };
    while (blocks.length > 0 && blocks.at(-1).at > block.at) {
      const above = blocks.pop();
      const weight = above.weight + block.weight;
      block = { at: (above.at * above.weight + block.at * block.weight) / weight, weight, members: above.members + block.members };
    }
    blocks.push(block);
  });
  let index = 0;
  offset = 0;
  for (const block of blocks) {
    for (let member = 0; member < block.members; member++, index++) {
      if (index > 0) offset += heights[layer[index - 1]] + distance(layer[index - 1], layer[index]);
      top[layer[index]] = block.at + offset;
    }
  }
}
