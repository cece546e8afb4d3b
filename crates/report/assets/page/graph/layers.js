// Layers of a drawing: edges point to the right as far as cycles allow, and no layer grows much taller than the drawing should be.
// Here and in the files beside it vertices are numbers, and the same input always gives the same picture.

/** Whether each edge {from, to, weight} has to be turned round so that there is no cycle: few and light ones (greedy, after Eades, Lin and Smyth). */
function turnedEdges(count, edges) {
  const out = Array.from({ length: count }, () => []);
  const into = Array.from({ length: count }, () => []);
  const balance = new Float64Array(count);
  const outs = new Int32Array(count);
  const ins = new Int32Array(count);
  for (const edge of edges) {
    out[edge.from].push(edge);
    into[edge.to].push(edge);
    outs[edge.from]++;
    ins[edge.to]++;
    balance[edge.from] += edge.weight;
    balance[edge.to] -= edge.weight;
  }
  const rank = new Int32Array(count);
  const left = new Set(Array.from({ length: count }, (_, vertex) => vertex));
  let first = 0;
  let last = count - 1;
  const sources = [];
  const sinks = [];
  const note = (vertex) => {
    if (ins[vertex] === 0) sources.push(vertex);
    else if (outs[vertex] === 0) sinks.push(vertex);
  };
  const take = (vertex, place) => {
    left.delete(vertex);
    rank[vertex] = place;
    for (const edge of out[vertex]) {
      if (!left.has(edge.to)) continue;
      ins[edge.to]--;
      balance[edge.to] += edge.weight;
      note(edge.to);
    }
    for (const edge of into[vertex]) {
      if (!left.has(edge.from)) continue;
      outs[edge.from]--;
      balance[edge.from] -= edge.weight;
      note(edge.from);
    }
  };
  for (let vertex = 0; vertex < count; vertex++) note(vertex);
  while (left.size > 0) {
    if (sinks.length > 0) {
      const vertex = sinks.pop();
      if (left.has(vertex)) take(vertex, last--);
    } else if (sources.length > 0) {
      const vertex = sources.pop();
      if (left.has(vertex)) take(vertex, first++);
    } else {
      let best = -1;
      for (const vertex of left) if (best < 0 || balance[vertex] > balance[best]) best = vertex;
      take(best, first++);
    }
  }
  return edges.map((edge) => rank[edge.from] > rank[edge.to]);
}

/** Vertices such that every edge leads to a later one; edges have no cycle. */
function topologicalOrder(count, edges) {
  const waits = new Int32Array(count);
  const out = Array.from({ length: count }, () => []);
  for (const { from, to } of edges) {
    waits[to]++;
    out[from].push(to);
  }
  const order = [];
  for (let vertex = 0; vertex < count; vertex++) if (waits[vertex] === 0) order.push(vertex);
  for (let at = 0; at < order.length; at++) for (const to of out[order[at]]) if (--waits[to] === 0) order.push(to);
  return order;
}

/**
 * The layer of each vertex. `edges` have no cycle; `heights` of the vertices may add up to about `most` in a layer; `pulls[vertex]` is {left, right}: how
 * strongly something outside of the drawing, on either side, is tied to it.
 */
function layersOf(heights, edges, pulls, most) {
  const count = heights.length;
  const into = Array.from({ length: count }, () => []);
  const out = Array.from({ length: count }, () => []);
  for (const edge of edges) {
    into[edge.to].push(edge);
    out[edge.from].push(edge);
  }
  const layer = new Int32Array(count);
  const used = [];
  const fits = (vertex, at) => (used[at] ?? 0) === 0 || used[at] + heights[vertex] <= most;
  const put = (vertex, at) => {
    layer[vertex] = at;
    while (used.length <= at) used.push(0);
    used[at] += heights[vertex];
  };
  const order = topologicalOrder(count, edges);
  for (const vertex of order) {
    let at = 0;
    for (const { from } of into[vertex]) at = Math.max(at, layer[from] + 1);
    while (!fits(vertex, at)) at++;
    put(vertex, at);
  }
  // Where a vertex has room to move, it goes to where more ties it.
  const pull = new Float64Array(count);
  for (let vertex = 0; vertex < count; vertex++) pull[vertex] = pulls[vertex].right - pulls[vertex].left;
  for (const { from, to, weight } of edges) {
    pull[from] += weight;
    pull[to] -= weight;
  }
  const move = (vertex, towards) => {
    used[layer[vertex]] -= heights[vertex];
    let at = towards;
    const step = towards > layer[vertex] ? -1 : 1;
    while (at !== layer[vertex] && !fits(vertex, at)) at += step;
    put(vertex, at);
  };
  for (let round = 0; round < 2; round++) {
    for (const vertex of order.toReversed()) {
      if (pull[vertex] <= 0) continue;
      const limit = out[vertex].reduce((least, { to }) => Math.min(least, layer[to] - 1), used.length - 1);
      if (limit > layer[vertex]) move(vertex, limit);
    }
    for (const vertex of order) {
      if (pull[vertex] >= 0) continue;
      const limit = into[vertex].reduce((most, { from }) => Math.max(most, layer[from] + 1), 0);
      if (limit < layer[vertex]) move(vertex, limit);
    }
  }
  // Moving may have emptied some.
  const filled = new Int32Array(used.length);
  for (const at of layer) filled[at] = 1;
  const renumbered = new Int32Array(used.length);
  let next = 0;
  for (let at = 0; at < used.length; at++) renumbered[at] = filled[at] ? next++ : next;
  return { layer: layer.map((at) => renumbered[at]), count: next };
}
