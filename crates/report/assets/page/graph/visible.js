// What is seen of the graph: which namespaces and nodes are open, which topics are shown, and what of the data each box and edge stands for.

/** Boxes that are opened without being asked. */
const BOXES_AT_FIRST = 24;
const NODES_ALL_OPEN = 60;

/** Rows of the data that refer to others get the rows themselves. */
function linkedGraph(data) {
  const { nodes, topics, publishers, subscriptions, communications, callbacks, causes, services, calls } = data;
  nodes.forEach((node) => Object.assign(node, { kind: "node", publishers: [], subscriptions: [], callbacks: [], asked: [], served: [] }));
  topics.forEach((topic) => Object.assign(topic, { kind: "topic", publishers: [], subscriptions: [] }));
  for (const callback of callbacks) {
    callback.node = nodes[callback.node];
    callback.node.callbacks.push(callback);
  }
  for (const end of [...publishers, ...subscriptions]) {
    end.topic = topics[end.topic];
    end.node = nodes[end.node];
  }
  for (const publisher of publishers) {
    publisher.causes = [];
    publisher.topic.publishers.push(publisher);
    publisher.node.publishers.push(publisher);
  }
  for (const subscription of subscriptions) {
    subscription.callback = subscription.callback === null ? null : callbacks[subscription.callback];
    subscription.communications = [];
    subscription.topic.subscriptions.push(subscription);
    subscription.node.subscriptions.push(subscription);
  }
  for (const communication of communications) {
    communication.publisher = communication.publisher === null ? null : publishers[communication.publisher];
    communication.subscription = subscriptions[communication.subscription];
    communication.subscription.communications.push(communication);
  }
  for (const cause of causes) publishers[cause.publisher].causes.push({ callback: cause.callback === null ? null : callbacks[cause.callback], messages: cause.messages });
  for (const call of calls) {
    call.service = services[call.service];
    call.client = nodes[call.client];
    call.server = nodes[call.server];
    call.callback = call.callback === null ? null : callbacks[call.callback];
    call.client.asked.push(call);
    call.server.served.push(call);
  }
  for (const node of nodes) node.latest = node.latest === null ? null : callbacks[node.latest];
  return { nodes, topics, publishers, subscriptions, communications, callbacks, calls, namespaces: namespacesOf(nodes) };
}

/** A tree of namespaces. One that has a single thing in it is not worth a box. */
function namespacesOf(nodes) {
  const root = { kind: "namespace", path: "", spaces: new Map(), nodes: [] };
  for (const node of nodes.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const steps = node.name.startsWith("/") ? node.name.slice(1).split("/") : [node.name];
    let space = root;
    for (const step of steps.slice(0, -1)) {
      const path = `${space.path}/${step}`;
      if (!space.spaces.has(path)) space.spaces.set(path, { kind: "namespace", path, spaces: new Map(), nodes: [] });
      space = space.spaces.get(path);
    }
    space.nodes.push(node);
  }
  (function tidy(space, parent) {
    space.parent = parent;
    space.children = [];
    for (let inner of space.spaces.values()) {
      tidy(inner, space);
      if (inner.children.length === 1) {
        [inner] = inner.children;
        inner.parent = space;
      }
      space.children.push(inner);
    }
    for (const node of space.nodes) {
      node.parent = space;
      space.children.push(node);
    }
    space.size = space.children.reduce((sum, child) => sum + (child.size ?? 1), 0);
  })(root, null);
  return root;
}

/** The namespaces that are open at first: all of a small system, else from the outside in, as long as there is room. */
function openedAtFirst(root, isShown) {
  const open = new Set();
  const shownIn = (space) => space.children.filter((child) => (child.kind === "node" ? isShown(child) : shownIn(child) > 0)).length;
  const total = (space) => space.children.reduce((sum, child) => sum + (child.kind === "node" ? Number(isShown(child)) : total(child)), 0);
  const all = total(root) <= NODES_ALL_OPEN;
  let boxes = shownIn(root);
  for (let level = [root]; level.length > 0; ) {
    const inner = level.flatMap((space) => space.children.filter((child) => child.kind === "namespace"));
    level = [];
    for (const space of inner.map((it) => ({ it, more: shownIn(it) - 1 })).sort((a, b) => a.more - b.more)) {
      if (!all && boxes + space.more > BOXES_AT_FIRST) continue;
      boxes += space.more;
      open.add(space.it);
      level.push(space.it);
    }
  }
  return open;
}

/**
 * What a picture consists of. `state`: {open: namespaces and nodes that are open, topics: whether topics are boxes, hidden: whether hidden topics are shown,
 * services: whether those are}. The result: `root` of boxes for the layout, `boxes`, `edges` [{from, to, weight, communications, publishers, topics, calls}], and
 * nodes that stand `apart`. A service is no box: it leads from who asks to who answers.
 */
function seenGraph(graph, state) {
  const shown = graph.topics.filter((topic) => state.hidden || !topic.hidden);
  // A hidden topic is a star rather than a net, when it is shown.
  const asBox = (topic) => state.topics || topic.hidden !== null;
  const tied = new Set();
  for (const topic of shown) {
    if (!asBox(topic) && (topic.publishers.length === 0 || topic.subscriptions.length === 0)) continue;
    for (const end of [...topic.publishers, ...topic.subscriptions]) tied.add(end.node);
  }
  const calls = state.services ? graph.calls.filter((call) => call.client !== call.server) : [];
  for (const call of calls) tied.add(call.client).add(call.server);
  const boxes = new Map();
  const box = (subject, more) => {
    const made = { subject, ...more };
    boxes.set(subject, made);
    return made;
  };
  const boxOf = new Map();
  const outside = new Map();

  function build(space, around, closed) {
    const items = [];
    for (const child of space.children) {
      if (child.kind === "node") {
        if (!tied.has(child)) continue;
        if (closed) boxOf.set(child, closed);
        else items.push(nodeBox(child, around));
      } else if (closed) {
        build(child, around, closed);
      } else if (state.open.has(child)) {
        const inner = build(child, child.path, null);
        // One thing needs no box around it.
        if (inner.length === 1) items.push(Object.assign(inner[0], { label: relativeName(inner[0].subject.path ?? inner[0].subject.name, around) }));
        else if (inner.length > 0) items.push(box(child, { items: inner, label: relativeName(child.path, around) }));
      } else {
        const closedBox = { subject: child, label: relativeName(child.path, around) };
        build(child, around, closedBox);
        const members = [...tied].filter((node) => boxOf.get(node) === closedBox);
        if (members.length === 0) continue;
        if (members.length === 1) {
          boxOf.delete(members[0]);
          items.push(nodeBox(members[0], around));
          continue;
        }
        closedBox.members = members;
        boxes.set(child, closedBox);
        items.push(closedBox);
      }
    }
    return items;
  }

  function nodeBox(node, around) {
    const label = relativeName(node.name, around);
    if (!state.open.has(node)) {
      const made = box(node, { label, members: [node] });
      boxOf.set(node, made);
      return made;
    }
    const items = node.callbacks.map((callback) => {
      const made = box(callback, { label: callback.name.startsWith("←") ? `← ${relativeName(callback.name.slice(2), around)}` : callback.name, callback });
      boxOf.set(callback, made);
      return made;
    });
    return box(node, { items, label });
  }

  const root = { items: build(graph.namespaces, "", null) };

  /** The box of what is not in a callback of an open node, made when it is needed. */
  function outsideOf(node) {
    if (!outside.has(node)) {
      const made = box({ kind: "outside", node }, { label: "outside of callbacks" });
      boxes.get(node).items.push(made);
      outside.set(node, made);
    }
    return outside.get(node);
  }
  const ofSubscription = (subscription) => boxOf.get(subscription.node) ?? boxOf.get(subscription.callback) ?? outsideOf(subscription.node);
  const ofPublisher = (publisher) => {
    const closed = boxOf.get(publisher.node);
    if (closed) return [closed];
    const within = new Set(publisher.causes.map((cause) => boxOf.get(cause.callback) ?? outsideOf(publisher.node)));
    return within.size > 0 ? [...within] : [outsideOf(publisher.node)];
  };

  const merged = new Map();
  const numbers = new Map();
  const numberOf = (made) => numbers.get(made) ?? numbers.set(made, numbers.size).get(made);
  function between(from, to) {
    const key = `${numberOf(from)} ${numberOf(to)}`;
    if (!merged.has(key)) merged.set(key, { from, to, topics: new Set(), publishers: new Set(), communications: new Set(), calls: new Set() });
    return merged.get(key);
  }
  function edge(from, to, topic, publishers, communications) {
    if (from === to) return;
    const made = between(from, to);
    made.topics.add(topic);
    for (const publisher of publishers) made.publishers.add(publisher);
    for (const communication of communications) made.communications.add(communication);
  }

  for (const topic of shown) {
    const { publishers, subscriptions } = topic;
    if (asBox(topic)) {
      if (publishers.length + subscriptions.length === 0) continue;
      const ends = [...new Set([...publishers.flatMap(ofPublisher), ...subscriptions.map(ofSubscription)])];
      if (ends.length === 1 && ends[0].subject.kind === "namespace") continue;
      const level = commonLevel([...new Set([...publishers, ...subscriptions].map((end) => end.node))], state.open);
      const made = box(topic, { label: relativeName(topic.name, level.path), topic: true });
      (boxes.get(level) ?? root).items.push(made);
      for (const publisher of publishers) for (const from of ofPublisher(publisher)) edge(from, made, topic, [publisher], []);
      for (const subscription of subscriptions) edge(made, ofSubscription(subscription), topic, publishers, subscription.communications);
      continue;
    }
    if (publishers.length === 0) continue;
    for (const subscription of subscriptions) {
      const to = ofSubscription(subscription);
      const of = new Map();
      for (const communication of subscription.communications) of.set(communication.publisher, [...(of.get(communication.publisher) ?? []), communication]);
      for (const publisher of publishers) for (const from of ofPublisher(publisher)) edge(from, to, topic, [publisher], of.get(publisher) ?? []);
    }
  }
  for (const call of calls) {
    const from = boxOf.get(call.client) ?? outsideOf(call.client);
    const to = boxOf.get(call.server) ?? boxOf.get(call.callback) ?? outsideOf(call.server);
    if (from !== to) between(from, to).calls.add(call);
  }
  const edges = [...merged.values()];
  for (const made of edges) made.weight = made.topics.size + (made.calls.size > 0 ? 1 : 0);
  return { root, boxes: [...boxes.values()], edges, apart: graph.nodes.filter((node) => !tied.has(node)) };
}

/** The innermost open namespace around all of some nodes. */
function commonLevel(nodes, open) {
  const around = (node) => {
    const levels = [];
    for (let space = node.parent; space; space = space.parent) levels.unshift(space);
    const closed = levels.findIndex((space) => space.parent && !open.has(space));
    return closed < 0 ? levels : levels.slice(0, closed);
  };
  let common = around(nodes[0]);
  for (const node of nodes.slice(1)) {
    const levels = around(node);
    let same = 0;
    while (same < common.length && common[same] === levels[same]) same++;
    common = common.slice(0, same);
  }
  return common.at(-1);
}

/** A name as it is written inside of a namespace. */
function relativeName(fullName, around) {
  return around && fullName.startsWith(`${around}/`) ? fullName.slice(around.length + 1) : fullName;
}
