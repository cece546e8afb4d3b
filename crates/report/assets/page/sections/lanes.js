// Executions in lanes: how they are brought together, drawn and found again.

const LANE_HEIGHT = 26;

/** The executions of callbacks as they are in the file, read once: [{…callback, starts, ends, threads, lateness, times}]. */
function executionsOf({ data, column }) {
  data.read ??= data.callbacks.map((callback, number) => {
    const starts = column(callback.start);
    const durations = column(callback.duration);
    const ends = Float64Array.from(starts, (start, row) => start + Math.max(0, durations[row]));
    const lateness = callback.lateness && Float64Array.from(column(callback.lateness), (late) => (late === 0 ? NaN : late > 0 ? late - 1 : late));
    const threads = column(callback.thread);
    return { ...callback, number, starts, durations, ends, threads, on: new Set(threads), lateness, times: callback.times && column(callback.times), busy: callback.busy && column(callback.busy) };
  });
  return data.read;
}

/** A lane from rows of several callbacks: `wanted(callback, row)` chooses. Rows are in the order of their starts. */
function laneOf(label, callbacks, wanted) {
  let number = 0;
  for (const callback of callbacks) for (let row = 0; row < callback.starts.length; row++) if (!wanted || wanted(callback, row)) number++;
  const starts = new Float64Array(number);
  const owners = new Uint32Array(number);
  const rows = new Uint32Array(number);
  let at = 0;
  for (const callback of callbacks) {
    for (let row = 0; row < callback.starts.length; row++) {
      if (wanted && !wanted(callback, row)) continue;
      starts[at] = callback.starts[row];
      owners[at] = callback.number;
      rows[at++] = row;
    }
  }
  if (callbacks.length === 1) return finished(label, starts, owners, rows, callbacks);
  const order = Uint32Array.from(starts, (_, place) => place).sort((a, b) => starts[a] - starts[b]);
  const inOrder = (column) => column.map((_, place) => column[order[place]]);
  return finished(label, inOrder(starts), inOrder(owners), inOrder(rows), callbacks);
}

function finished(label, starts, owners, rows, callbacks) {
  const byNumber = new Map(callbacks.map((callback) => [callback.number, callback]));
  const ends = Float64Array.from(starts, (_, place) => byNumber.get(owners[place]).ends[rows[place]]);
  return { ...label, starts, ends, owners, rows, latest: latestEnds(ends), callbacks: byNumber, timers: callbacks.filter((callback) => callback.lateness) };
}

/** Time in the executions that a row stands for: those that were put together have gaps. */
function busyOf(callback, row) {
  return callback.busy ? callback.busy[row] : Math.max(0, callback.durations[row]);
}

/**
 * Draws a lane between y and y + LANE_HEIGHT, as the timeline does. What is narrower than two pixels is drawn together, in the colour of the longest: a pale
 * body whose strength is the share of that time in callbacks, and a bar as high as the longest of them. Returns what was drawn: [{x, share}].
 */
function drawLane(pen, frame, lane, y, paint) {
  const [top, height] = [y + 8, LANE_HEIGHT - 11];
  const right = frame.left + frame.width;
  const first = firstNotBefore(lane.latest, frame.from);
  let longest = 1;
  for (let place = first; place < lane.starts.length && lane.starts[place] <= frame.to; place++) longest = Math.max(longest, lane.ends[place] - lane.starts[place]);
  const drawn = [];
  const column = { at: -1, busy: 0, longest: -1, colour: null };
  const flush = () => {
    if (column.at < 0) return;
    const share = Math.min(1, column.busy * frame.scale);
    pen.rect(column.at, top, 1, height, { fill: column.colour, alpha: 0.12 + 0.6 * share });
    const high = Math.max(2, height * (column.longest / longest) ** 0.4);
    pen.rect(column.at, top + height - high, 1, high, { fill: column.colour });
    drawn.push({ x: column.at, share });
    column.at = -1;
  };
  for (let place = first; place < lane.starts.length && lane.starts[place] <= frame.to; place++) {
    const [from, to] = [frame.x(lane.starts[place]), frame.x(lane.ends[place])];
    if (to < frame.left) continue;
    const callback = lane.callbacks.get(lane.owners[place]);
    const row = lane.rows[place];
    if (to - from < 2) {
      const at = Math.floor(from);
      if (at !== column.at) {
        flush();
        Object.assign(column, { at, busy: 0, longest: -1 });
      }
      column.busy += busyOf(callback, row);
      const length = lane.ends[place] - lane.starts[place];
      if (length > column.longest) { column.longest = length; column.colour = paint(callback); }
      continue;
    }
    flush();
    const unended = callback.durations[row] < 0;
    const seen = Math.max(from, frame.left);
    const share = busyOf(callback, row) / Math.max(1, lane.ends[place] - lane.starts[place]);
    const alpha = unended ? 0.4 : lane.overlaps ? 0.75 : callback.times?.[row] > 1 ? 0.12 + 0.6 * share : 1;
    pen.rect(seen, top, Math.min(to, right) - seen, height, { fill: paint(callback), alpha });
    const room = Math.min(to, right) - seen - 8;
    if (room > 40 && alpha > 0.7) pen.text(callback.name, seen + 4, top + height / 2 + 0.5, { fill: "#fff", size: 10.5, fit: room, keepEnd: true });
    // Neighbours that touch stay two.
    if (from > frame.left) pen.rect(from, top, 0.75, height, { fill: colour("paper") });
    drawn.push({ x: seen, share });
  }
  flush();
  for (const timer of lane.timers) drawDue(pen, frame, timer, y, lane.thread);
  return drawn;
}

/** Small arrows when a timer was due; red if it came late. Of many on one place one is drawn, the latest. */
function drawDue(pen, frame, timer, y, thread) {
  const first = firstNotBefore(timer.starts, frame.from);
  const last = firstNotBefore(timer.starts, frame.to + (frame.to - frame.from));
  let [at, worst] = [-Infinity, -Infinity];
  const dense = (last - first) * 7 > frame.width * 2;
  const flush = () => {
    if (at < frame.left || at > frame.left + frame.width) return;
    const isLate = worst >= timer.late_from;
    if (dense && !isLate) return;
    const fill = isLate ? colour("bad") : colour("quiet");
    pen.line([at, y + 1, at, y + 6], { stroke: fill, width: 1.2 });
    pen.polygon([at - 3, y + 4, at + 3, y + 4, at, y + 9], { fill });
  };
  for (let row = first; row < last; row++) {
    const lateness = timer.lateness[row];
    if (Number.isNaN(lateness) || (thread !== undefined && timer.threads[row] !== thread)) continue;
    const x = frame.x(timer.starts[row] - lateness);
    if (x - at < 5) worst = Math.max(worst, lateness);
    else {
      flush();
      [at, worst] = [x, lateness];
    }
  }
  flush();
}

/** The execution at a place of a lane, or next to it. */
function executionAt(lane, frame, x) {
  const slack = 4 / frame.scale;
  const time = frame.time(x);
  let best = null;
  for (let place = firstNotBefore(lane.latest, time - slack); place < lane.starts.length && lane.starts[place] <= time + slack; place++) {
    const distance = Math.max(lane.starts[place] - time, time - lane.ends[place], 0);
    const length = lane.ends[place] - lane.starts[place];
    // Of those that lie over each other the inner one, or the longest that is too short to be seen.
    const better = !best || distance < best.distance || (distance === best.distance && length < best.length && length * frame.scale > 2);
    if (better) best = { distance, length, place };
  }
  return best && { callback: lane.callbacks.get(lane.owners[best.place]), row: lane.rows[best.place] };
}

/** What is known of an execution, line by line. */
function executionLines({ callback, row }) {
  const [start, length] = [callback.starts[row], callback.durations[row]];
  const lines = [callback.name, `start ${sinceBegin(start)}`];
  lines.push(length < 0 ? "its end is not in the trace" : `end ${sinceBegin(callback.ends[row])}`);
  if (length >= 0) lines.push(`duration ${duration(length)}`);
  const lateness = callback.lateness?.[row];
  if (lateness !== undefined && !Number.isNaN(lateness)) lines.push(`lateness ${duration(lateness)}`);
  if (callback.times?.[row] > 1) lines.push(`${count(callback.times[row])} executions that lie close together`);
  return lines;
}
