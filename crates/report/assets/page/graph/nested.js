// Boxes in boxes: each open box is a level of its own, laid out before the one around it. Which way an edge goes is decided from the outside in, so that it leaves
// inner levels at the right border.

const INSIDE = { top: 30, side: 20, bottom: 16 };
const PART_DISTANCE = 26;
/** Edges up to which a picture is arranged again, when it is known what is where. */
const ARRANGED_AGAIN = 1500;

/**
 * `root` is {items}; an item is a leaf {width, height}, or {items} with `least` as its least width. `edges`: [{from, to, weight}] between leaves.
 * Gives every item x, y, width, height and `parent`; returns for each edge its points from tail to head: pairs of x and y.
 */
function nestedLayout(root, edges) {
  const first = arrangeNested(root, edges);
  const inner = first.levels.filter((level) => level.parent);
  if (inner.length === 0 || edges.length > ARRANGED_AGAIN) return first.routes;
  // Inside, things follow the order of what they are tied to outside, if that makes the edges climb less.
  const before = inner.map((level) => level.items);
  const after = inner.map((level) => orderedByOutside(level, edges));
  const reorder = (lists) => inner.forEach((level, index) => { level.items = lists[index]; });
  reorder(after);
  const second = arrangeNested(root, edges);
  if (climbOf(second.routes) <= climbOf(first.routes)) return second.routes;
  reorder(before);
  return arrangeNested(root, edges).routes;
}

function climbOf(routes) {
  let sum = 0;
  for (const points of routes) for (let index = 1; index < points.length; index++) sum += Math.abs(points[index][1] - points[index - 1][1]);
  return sum;
}

/** The items of a level in the order in which the far ends of their edges lie. */
function orderedByOutside(level, edges) {
  const itemOf = (leaf) => {
    for (let item = leaf; item; item = item.parent) if (item.parent === level) return item;
    return null;
  };
  const sums = new Map(level.items.map((item) => [item, { y: 0, count: 0 }]));
  for (const { from, to } of edges) {
    const [tail, head] = [itemOf(from), itemOf(to)];
    if ((tail === null) === (head === null)) continue;
    const far = tail === null ? from : to;
    const sum = sums.get(tail ?? head);
    sum.y += far.y + far.height / 2;
    sum.count++;
  }
  const wish = (item) => (sums.get(item).count > 0 ? sums.get(item).y / sums.get(item).count : item.y + item.height / 2);
  return level.items.toSorted((a, b) => wish(a) - wish(b));
}

function arrangeNested(root, edges) {
  const levels = [];
  (function enter(level, parent) {
    level.parent = parent;
    if (!level.items) return;
    levels.push(level);
    level.inner = [];
    level.items.forEach((item, index) => {
      item.index = index;
      item.ties = { left: new Set(), right: new Set() };
      enter(item, level);
    });
  })(root, null);

  const routes = edges.map((edge) => {
    const above = new Map();
    for (let item = edge.from; item.parent; item = item.parent) above.set(item.parent, item);
    let item = edge.to;
    while (!above.has(item.parent)) item = item.parent;
    const level = item.parent;
    const route = { edge, level, tail: above.get(level), head: item };
    level.inner.push(route);
    return route;
  });
  for (const level of levels) turnInner(level);
  for (const level of levels.toReversed()) arrangeLevel(level);
  root.x = root.y = 0;
  for (const level of levels) {
    for (const item of level.items) {
      item.x += level.x;
      item.y += level.y;
    }
  }
  return { levels, routes: routes.map(bendsOf) };
}

/** Merges the edges between the same two items of a level, and says which of the two is on the left. */
function turnInner(level) {
  const merged = new Map();
  for (const route of level.inner) {
    const key = `${route.tail.index} ${route.head.index}`;
    if (!merged.has(key)) merged.set(key, { from: route.tail.index, to: route.head.index, weight: 0, routes: [] });
    const edge = merged.get(key);
    edge.weight += route.edge.weight;
    edge.routes.push(route);
  }
  const edges = [...merged.values()];
  const turned = turnedEdges(level.items.length, edges);
  const channels = new Map();
  edges.forEach((edge, index) => {
    const [left, right] = turned[index] ? [edge.to, edge.from] : [edge.from, edge.to];
    const key = `${left} ${right}`;
    if (!channels.has(key)) channels.set(key, { from: left, to: right, weight: 0, routes: [] });
    const channel = channels.get(key);
    channel.weight += edge.weight;
    for (const route of edge.routes) {
      route.turned = turned[index];
      route.channel = channel;
      channel.routes.push(route);
      tie(route.edge.from, level, turned[index] ? "left" : "right");
      tie(route.edge.to, level, turned[index] ? "right" : "left");
    }
  });
  level.channels = [...channels.values()];
}

/** A leaf is reached from one side through all boxes around it, up to a level. */
function tie(leaf, level, side) {
  for (let item = leaf; item.parent !== level; item = item.parent) item.ties[side].add(leaf);
}

/** How far below the top of an item an edge of a leaf in it is on a side. */
function portOf(item, side, leaf) {
  return item.items ? item.ports[side].get(leaf) : item.height / 2;
}

function meanPort(item, side, leaves) {
  let sum = 0;
  for (const leaf of leaves) sum += portOf(item, side, leaf);
  return sum / leaves.length;
}

/** Places the items of a level relative to it, and says where its edges reach its borders. */
function arrangeLevel(level) {
  const { items, channels } = level;
  const isRoot = level.parent === null;
  const inside = isRoot ? { top: 0, side: 0, bottom: 0 } : INSIDE;
  const parts = partsOf(items, channels).map((members) => {
    const numbers = new Map(members.map((item, index) => [item.index, index]));
    const own = channels.filter((channel) => numbers.has(channel.from));
    const layout = layeredLayout(
      members.map((item) => ({ width: item.width, height: item.height, left: item.ties.left.size, right: item.ties.right.size })),
      own.map((channel) => {
        const [left, right] = [items[channel.from], items[channel.to]];
        const leaf = (route, end) => (route.turned === (end === "left") ? route.edge.to : route.edge.from);
        return {
          from: numbers.get(channel.from), to: numbers.get(channel.to), weight: channel.weight,
          fromAt: meanPort(left, "right", channel.routes.map((route) => leaf(route, "left"))),
          toAt: meanPort(right, "left", channel.routes.map((route) => leaf(route, "right"))),
        };
      }),
      (index, side) => meanPort(members[index], side, [...members[index].ties[side]]),
    );
    return { members, own, layout, through: members.some((item) => item.ties.left.size + item.ties.right.size > 0) };
  });
  const { width, height } = packParts(parts);
  level.width = Math.max(width + 2 * inside.side, level.least ?? 0);
  level.height = height + inside.top + inside.bottom;
  level.ports = { left: new Map(), right: new Map() };
  for (const { members, own, layout, x, y } of parts) {
    const [dx, dy] = [inside.side + x, inside.top + y];
    const moved = (points) => {
      for (const point of points) {
        point[0] += dx;
        point[1] += dy;
      }
      return points;
    };
    members.forEach((item, index) => {
      const box = layout.boxes[index];
      item.x = box.x + dx;
      item.y = box.y + dy;
      item.column = { from: box.from + dx, to: box.to + dx };
      item.leaving = {};
      for (const side of ["left", "right"]) {
        item.leaving[side] = moved(layout.leaving[side].get(index) ?? []);
        const border = side === "left" ? item.leaving.left[0] : item.leaving.right.at(-1);
        for (const leaf of item.ties[side]) level.ports[side].set(leaf, border ? border[1] : item.y + portOf(item, side, leaf));
      }
    });
    own.forEach((channel, index) => { channel.points = moved(layout.edges[index]); });
  }
}

/** Items that are tied to each other, directly or through what is outside. */
function partsOf(items, channels) {
  const group = items.map((_, index) => index);
  const find = (index) => {
    while (group[index] !== index) index = group[index] = group[group[index]];
    return index;
  };
  const join = (a, b) => { group[Math.max(find(a), find(b))] = Math.min(find(a), find(b)); };
  for (const channel of channels) join(channel.from, channel.to);
  const outward = items.filter((item) => item.ties.left.size + item.ties.right.size > 0);
  for (const item of outward) join(outward[0].index, item.index);
  const parts = new Map();
  for (const item of items) {
    const root = find(item.index);
    if (!parts.has(root)) parts.set(root, []);
    parts.get(root).push(item);
  }
  return [...parts.values()];
}

/** Parts in rows; one with edges to the outside has a row for itself. */
function packParts(parts) {
  const area = parts.reduce((sum, { layout }) => sum + (layout.width + PART_DISTANCE) * (layout.height + PART_DISTANCE), 0);
  const widest = parts.reduce((most, { layout }) => Math.max(most, layout.width), 0);
  const limit = Math.max(widest, Math.sqrt(area * SHAPE));
  const rest = parts.filter((part) => !part.through).sort((a, b) => b.layout.height - a.layout.height || b.layout.width - a.layout.width);
  let [x, y, rowHeight, width] = [0, 0, 0, 0];
  for (const part of [...parts.filter((it) => it.through), ...rest]) {
    if (x > 0 && (x + part.layout.width > limit || part.through)) [x, y, rowHeight] = [0, y + rowHeight + PART_DISTANCE, 0];
    [part.x, part.y] = [x, y];
    width = Math.max(width, x + part.layout.width);
    rowHeight = Math.max(rowHeight, part.layout.height);
    x = part.through ? Infinity : x + part.layout.width + PART_DISTANCE;
  }
  return { width, height: y + rowHeight };
}

/** From the side of a leaf out to a level, through the borders of all boxes between. */
function wayOut(leaf, level, side) {
  const right = side === "right";
  let y = leaf.y + leaf.height / 2;
  const points = [[right ? leaf.x + leaf.width : leaf.x, y]];
  let item = leaf;
  for (;;) {
    const { x: dx, y: dy } = item.parent;
    points.push([(right ? item.column.to : item.column.from) + dx, y]);
    if (item.parent === level) return points;
    const further = right ? item.leaving.right : item.leaving.left.toReversed();
    for (const [px, py] of further) points.push([px + dx, (y = py + dy)]);
    item = item.parent;
    points.push([right ? item.x + item.width : item.x, y]);
  }
}

function bendsOf({ edge, level, channel, turned }) {
  const [left, right] = turned ? [edge.to, edge.from] : [edge.from, edge.to];
  const points = wayOut(left, level, "right");
  // Copied only where another edge runs there too: there may be a hundred thousand.
  const alone = channel.routes.length === 1;
  for (const point of channel.points) {
    if (alone) {
      point[0] += level.x;
      point[1] += level.y;
    }
    points.push(alone ? point : [point[0] + level.x, point[1] + level.y]);
  }
  points.push(...wayOut(right, level, "left").reverse());
  if (turned) points.reverse();
  return points;
}

