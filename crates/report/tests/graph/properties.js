// What must hold of every picture of a graph, whatever the graph. Run by `graph.rs`, behind the scripts of the page that it is about.

let seed = 1;
function random(below) {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
  return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below);
}

function check(holds, sentence) {
  if (!holds) throw new Error(sentence);
}

/** A made-up system: namespaces in namespaces, most messages to what is near. */
function madeUp(nodes, spaces, edges) {
  const root = { items: [] };
  const levels = [root];
  for (let index = 0; index < spaces; index++) {
    const level = { items: [], least: 60 + random(80) };
    levels[random(4) === 0 ? random(levels.length) : 0].items.push(level);
    levels.push(level);
  }
  const leaves = Array.from({ length: nodes }, (_, index) => {
    const leaf = { width: 60 + random(140), height: 30 + random(30) };
    levels[Math.floor((index * levels.length) / nodes)].items.push(leaf);
    return leaf;
  });
  (function tidy(level) {
    level.items = level.items.filter((item) => !item.items || (tidy(item), item.items.length > 0));
  })(root);
  const tied = new Map();
  for (let index = 0; index < edges; index++) {
    const from = random(nodes);
    const to = random(20) === 0 ? random(nodes) : Math.min(nodes - 1, Math.max(0, from + random(12) - 3));
    if (from !== to) tied.set(`${from} ${to}`, { from: leaves[from], to: leaves[to], weight: 1 + random(5) });
  }
  return { root, leaves, edges: [...tied.values()] };
}

function overlap(a, b) {
  return a.x < b.x + b.width - 0.01 && b.x < a.x + a.width - 0.01 && a.y < b.y + b.height - 0.01 && b.y < a.y + a.height - 0.01;
}

function checkPicture({ root, leaves, edges }, routes) {
  (function inside(level) {
    level.items.forEach((item, index) => {
      check([item.x, item.y, item.width, item.height].every(Number.isFinite), "a box has no place");
      check(item.x >= level.x - 0.01 && item.y >= level.y - 0.01 && item.x + item.width <= level.x + level.width + 0.01 && item.y + item.height <= level.y + level.height + 0.01, "a box leaves the one around it");
      for (const other of level.items.slice(index + 1)) check(!overlap(item, other), "two boxes overlap");
      if (item.items) inside(item);
    });
  })(root);
  edges.forEach((edge, index) => {
    const points = routes[index];
    const touches = (box, [x, y]) => (Math.abs(x - box.x) < 0.01 || Math.abs(x - box.x - box.width) < 0.01) && y > box.y && y < box.y + box.height;
    check(points.flat().every(Number.isFinite), "an edge has no place");
    check(touches(edge.from, points[0]) && touches(edge.to, points.at(-1)), "an edge does not end at its boxes");
    for (let step = 1; step < points.length; step++) {
      const [[x0, y0], [x1, y1]] = [points[step - 1], points[step]];
      const [left, right] = [Math.min(x0, x1), Math.max(x0, x1)];
      const [top, bottom] = [Math.min(y0, y1), Math.max(y0, y1)];
      for (const box of leaves) {
        if (box === edge.from || box === edge.to) continue;
        // A curve stays within the rectangle of its ends.
        check(!(left < box.x + box.width - 0.5 && right > box.x + 0.5 && top < box.y + box.height - 0.5 && bottom > box.y + 0.5), "an edge crosses a box");
      }
    }
    check(!smoothPath(points).includes("NaN"), "a path cannot be drawn");
  });
}

function pictureOf(system) {
  const begin = performance.now();
  const routes = nestedLayout(system.root, system.edges);
  return { routes, time: performance.now() - begin };
}

// Boxes and edges.
for (const [nodes, spaces, edges] of [[1, 0, 0], [2, 0, 1], [12, 0, 14], [40, 6, 60], [90, 20, 200], [300, 0, 400], [300, 40, 900], [300, 30, 3000]]) {
  for (let round = 0; round < 3; round++) {
    seed = nodes * 31 + spaces * 7 + round + 1;
    const system = madeUp(nodes, spaces, edges);
    const { routes, time } = pictureOf(system);
    checkPicture(system, routes);
    if (round === 0) console.log(`${nodes} nodes, ${spaces} namespaces, ${system.edges.length} edges: ${Math.round(time)} ms, ${Math.round(system.root.width)} × ${Math.round(system.root.height)}`);
  }
}

// The same input, the same picture.
const twice = [0, 1].map(() => {
  seed = 99;
  const system = madeUp(120, 15, 300);
  return JSON.stringify([pictureOf(system).routes, system.leaves.map(({ x, y }) => [x, y])]);
});
check(twice[0] === twice[1], "two pictures of one graph differ");

// What has no edges becomes no long row, a long chain no long line, and a star no tower.
const shapes = {
  loose: Array.from({ length: 100 }, () => null),
  chain: Array.from({ length: 60 }, (_, index) => index > 0 && [index - 1, index]),
  star: Array.from({ length: 60 }, (_, index) => index > 0 && [0, index]),
};
for (const [shape, ties] of Object.entries(shapes)) {
  const leaves = ties.map(() => ({ width: 100, height: 40 }));
  const system = { root: { items: leaves }, leaves, edges: ties.filter(Boolean).map(([from, to]) => ({ from: leaves[from], to: leaves[to], weight: 1 })) };
  checkPicture(system, pictureOf(system).routes);
  const ratio = system.root.width / system.root.height;
  check(ratio > 0.5 && ratio < 4, `the picture of a ${shape} is ${ratio.toFixed(2)} times as wide as tall`);
}

// Without cycles nothing is turned round; with one, as little as can be.
check(!turnedEdges(3, [{ from: 0, to: 1, weight: 1 }, { from: 1, to: 2, weight: 1 }, { from: 0, to: 2, weight: 1 }]).includes(true), "an edge was turned without need");
check(JSON.stringify(turnedEdges(2, [{ from: 0, to: 1, weight: 1 }, { from: 1, to: 0, weight: 5 }])) === "[true,false]", "the heavier edge was turned");

// Crossings are counted as they are seen.
for (let round = 0; round < 50; round++) {
  const links = Array.from({ length: 2 + random(30) }, () => ({ from: random(4), fromShare: random(2), to: 4 + random(4), toShare: random(2) }));
  const [above, below] = [[3, 0, 2, 1], [5, 4, 7, 6]];
  const ends = links.map((link) => [above.indexOf(link.from) * 2 + link.fromShare, below.indexOf(link.to) * 2 + link.toShare]);
  let naive = 0;
  for (const one of ends) for (const other of ends) if (one[0] < other[0] && one[1] > other[1]) naive++;
  const of = (key) => links.map((link) => link[key]);
  const [right, left] = [linksOfSide(8, of("from"), of("fromShare")), linksOfSide(8, of("to"), of("toShare"))];
  check(crossingsBetween(above, below, right, of("to"), left, new Int32Array(8)) === naive, "crossings were miscounted");
}

// What runs together ends where it should: a box that many long edges begin at, and one where they end.
for (const outward of [true, false]) {
  const leaves = Array.from({ length: 12 }, () => ({ width: 100, height: 40 }));
  const edges = leaves.slice(1).map((leaf, index) => ({ from: leaves[index], to: leaf, weight: 1 }));
  for (const leaf of leaves.slice(2, -2)) edges.push(outward ? { from: leaves[0], to: leaf, weight: 1 } : { from: leaf, to: leaves.at(-1), weight: 1 });
  const system = { root: { items: leaves }, leaves, edges };
  checkPicture(system, pictureOf(system).routes);
}

// What is seen: names of all kinds, open and closed.
function system() {
  const nodes = ["/a/one", "/a/two", "/a/deep/three", "/a/deep/four", "/b/five", "/b/six", "/seven", "<b>\"'&", "\u202eright/to/left", "x".repeat(5000)]
    .map((name, id) => ({ name, lives: [{ id, pid: 1, process: "p" }], executions: 1, busy: 0.1, lateness: 5, latest: null }));
  const topics = [...nodes.slice(0, -1).map((_, id) => ({ id, name: `/topic_${id}`, hidden: null })), { id: 99, name: "/tf", hidden: "transforms" }, { id: 100, name: "/nobody", hidden: null }];
  const publishers = nodes.slice(0, -1).map((_, index) => ({ topic: index, node: index, messages: 10, rate: 1, per_second: 1 }));
  publishers.push({ topic: 9, node: 0, messages: 10, rate: 1, per_second: 1 }, { topic: 10, node: 0, messages: 0, rate: null, per_second: 0 });
  const subscriptions = nodes.slice(1).map((_, index) => ({ topic: index, node: index + 1, received: 9, rate: 1, callback: index }));
  subscriptions.push({ topic: 9, node: 4, received: 9, rate: 1, callback: null });
  const callbacks = nodes.slice(1).map((_, index) => ({ id: index, node: index + 1, name: `← /topic_${index}`, executions: 9, per_second: 1, busy: 0.1, p99: 5, max: 6, lateness: 7 }));
  const communications = subscriptions.map((_, index) => ({ publisher: index < 9 ? index : null, subscription: index, messages: 10, arrived: 9, dropped: 1, p50: 1, p99: index + 2, max: 50 }));
  const causes = publishers.slice(1, 9).map((_, index) => ({ callback: index, publisher: index + 1, messages: 10 }));
  const services = [{ name: "/add", is_action: false }, { name: "/dock", is_action: true }];
  const calls = [[0, 6, 4], [1, 0, 1], [0, 2, 2]].map(([service, client, server]) => ({ service, client, server, callback: server - 1, calls: 4, answered: 3, unattributed: 0, per_second: 0.4, p50: 1, p99: 2, max: 3 }));
  return linkedGraph({ nodes, topics, publishers, subscriptions, communications, callbacks, causes, services, calls });
}

for (const topics of [false, true]) {
  for (const [hidden, services] of [[false, false], [true, false], [false, true], [true, true]]) {
    for (let opened = 0; opened < 16; opened++) {
      const graph = system();
      const spaces = ["/a", "/a/deep", "/b"].map((path) => findSpace(graph.namespaces, path));
      const open = new Set([...spaces, graph.nodes[4]].filter((_, index) => (opened >> index) & 1));
      const seen = seenGraph(graph, { open, topics, hidden, services });
      for (const box of seen.boxes) if (!box.items) Object.assign(box, { width: 80, height: 40 });
      const leaves = seen.boxes.filter((box) => !box.items);
      checkPicture({ root: seen.root, leaves, edges: seen.edges }, nestedLayout(seen.root, seen.edges));
      for (const edge of seen.edges) check(seen.boxes.includes(edge.from) && seen.boxes.includes(edge.to), "an edge leads to what is not seen");
      check(seen.boxes.some((box) => box.subject.name === "/tf") === hidden, "a hidden topic is seen, or a shown one is not");
      const asked = seen.edges.flatMap((edge) => [...edge.calls]);
      // Who asks itself needs no edge, and one that stays inside of a closed namespace is not seen.
      const inside = !open.has(spaces[0]);
      check(asked.length === (services ? (inside ? 1 : 2) : 0), "a call of a service is not seen once");
      check(seen.apart.length === 0, "a node that talks stands apart");
    }
  }
}

function findSpace(space, path) {
  if (space.path === path) return space;
  for (const child of space.children) {
    const found = child.kind === "namespace" && findSpace(child, path);
    if (found) return found;
  }
  return null;
}

// The edge nearest to a point is the one that is drawn there.
check(distanceTo([[0, 0], [10, 0]], 5, 3, 6) === 3 && distanceTo([[0, 0], [10, 0]], 5, 7, 6) === null, "a straight line is measured wrongly");
check(distanceTo([[0, 0], [100, 80]], 50, 40, 6) < 1 && distanceTo([[0, 0], [100, 80]], 50, 10, 6) === null, "a curve is measured wrongly");

// A closed namespace has the edges of all that is in it, added up, and the worst of their latencies.
const closed = seenGraph(system(), { open: new Set(), topics: false, hidden: false });
const between = closed.edges.find((edge) => edge.from.subject.path === "/a" && edge.to.subject.path === "/b");
check(between && [...between.topics].map((topic) => topic.name).join() === "/topic_3", "the edges of a closed namespace are not those of its nodes");
const figures = edgeFigures({ calls: new Set([{ per_second: 0.5, calls: 5, p50: 2, p99: 1, max: 3 }]), communications: new Set([{ p50: 1, p99: 5, max: 9, dropped: 2 }, { p50: 3, p99: 4, max: null, dropped: 1 }]), publishers: new Set([{ per_second: 1.5, messages: 3 }, { per_second: 2, messages: 4 }]) });
check(figures.rate === 4 && figures.dropped === 3 && figures.p50 === 3 && figures.p99 === 5 && figures.max === 9 && figures.messages === 12, "figures are not added up");

// A large system begins closed, a small one open.
const crowd = Array.from({ length: 300 }, (_, index) => ({ name: `/space_${index % 20}/node_${index}`, kind: "node" }));
check(openedAtFirst(namespacesOf(crowd), () => true).size <= 1, "a large system begins open");
check(openedAtFirst(namespacesOf(crowd.slice(0, 50)), () => true).size === 20, "a small system begins closed");
console.log("all hold");
