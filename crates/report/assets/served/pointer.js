// Mouse, pen and fingers: the wheel zooms around the pointer, dragging moves, with shift it marks a range, a click selects.

import { lanesBetween, rowHeight, rowY } from './lanes.js';
import { selectDropped } from './message.js';
import { changed, pan, setView, showSpan, state, zoom } from './state.js';
import { short } from './text.js';
import { count, duration, share, relative } from './time.js';
import { select } from './panel.js';

/** A pointer that moved less than this was meant to click. */
const STILL = 4;
/** How near to a span is on it. */
const NEAR = 4;

const EXECUTOR_STATES = ['executes', 'looks for work', 'waits for work', 'waits for work'];
const KERNEL_STATES = ['runs', 'could run, but has no CPU', 'sleeps', 'sleeps and cannot be woken'];

/** What is under a place of the canvas. */
function under(canvas, scroller, x, y) {
  const { from, to } = state.view;
  const pixel = (to - from) / canvas.clientWidth;
  const time = from + x * pixel;
  const top = y + scroller.scrollTop;
  const item = lanesBetween(top, top).find((one) => one.kind === 'lane' && top >= one.y && top < one.y + one.height);
  if (!item) return { time };
  const drops = state.tracks.get(item.lane.drops)?.[0];
  const drop = drops && top < item.rowsY + 9 ? nearest(drops, time, pixel) : null;
  if (drop !== null && drop !== undefined) {
    return { time, kind: 'drops', item, count: drops.executions(drop), id: drops.item(drop), subject: drops.subject(drop), cause: drops.flags(drop), start: drops.start(drop) };
  }
  for (const part of item.parts) {
    if (top < part.y - 1 || top >= part.y + part.height + 1) continue;
    const row = state.tracks.get(part.track)?.[0];
    const place = row ? nearest(row, time, pixel) : null;
    if (place !== null) return { time, kind: part.part, row, place, count: row.executions(place) };
  }
  const rows = state.tracks.get(item.lane.track) ?? [];
  for (let number = 0; number < rows.length; number += 1) {
    const rowTop = rowY(item, number);
    if (top < rowTop - 1 || top > rowTop + rowHeight() + 1) continue;
    const place = nearest(rows[number], time, pixel);
    if (place === null) continue;
    const row = rows[number];
    return {
      time, kind: 'execution', item, number, row, place, count: row.executions(place), id: row.item(place), subject: row.subject(place),
      start: row.longestStart(place), length: row.longestLength(place), isOpen: row.isOpen(place),
    };
  }
  return { time };
}

function nearest(row, time, pixel) {
  let best = null;
  let least = NEAR * pixel;
  for (let place = row.firstAfter(time - least); place < row.count && row.start(place) <= time + NEAR * pixel; place += 1) {
    const start = row.start(place);
    const away = Math.max(start - time, time - start - row.length(place), 0);
    if (away < least || best === null && away <= least) [best, least] = [place, away];
    if (away === 0) break;
  }
  return best;
}

export function listen(canvas, scroller, axis, tip) {
  const pointers = new Map();
  let drag = null;
  const timeAt = (x) => state.view.from + (x / canvas.clientWidth) * (state.view.to - state.view.from);

  const wheel = (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const [across, along] = [event.deltaX * unit, event.deltaY * unit];
    if (event.altKey) scroller.scrollTop += along;
    else if (event.shiftKey || Math.abs(across) > Math.abs(along)) pan((across || along) / canvas.clientWidth);
    else zoom(Math.exp(Math.min(Math.max(along, -240), 240) * (event.ctrlKey ? 0.01 : 0.0022)), timeAt(event.offsetX));
  };
  canvas.addEventListener('wheel', wheel, { passive: false });
  axis.addEventListener('wheel', wheel, { passive: false });

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    scroller.focus({ preventScroll: true });
    pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    state.isDragging = true;
    if (pointers.size === 1) {
      const kind = event.shiftKey ? 'range' : 'pan';
      drag = { kind, x: event.offsetX, y: event.offsetY, view: state.view, scroll: scroller.scrollTop, moved: false };
    } else if (pointers.size === 2) {
      drag = { kind: 'pinch', view: state.view, ...spread(pointers), moved: true };
    }
  });

  canvas.addEventListener('pointermove', (event) => {
    if (!pointers.has(event.pointerId)) {
      hover(under(canvas, scroller, event.offsetX, event.offsetY), event);
      return;
    }
    pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (!drag) return;
    const [dx, dy] = [event.offsetX - (drag.x ?? 0), event.offsetY - (drag.y ?? 0)];
    if (!drag.moved && Math.hypot(dx, dy) < STILL) return;
    drag.moved = true;
    hover({}, event);
    const pixel = (drag.view.to - drag.view.from) / canvas.clientWidth;
    if (drag.kind === 'pan') {
      canvas.classList.add('panning');
      setView(drag.view.from - dx * pixel, drag.view.to - dx * pixel);
      scroller.scrollTop = drag.scroll - dy;
    } else if (drag.kind === 'range') {
      mark(timeAt(drag.x), timeAt(event.offsetX));
    } else if (drag.kind === 'pinch' && pointers.size === 2) {
      const now = spread(pointers);
      const factor = Math.max(drag.distance, 20) / Math.max(now.distance, 20);
      const anchor = drag.view.from + drag.middle * pixel;
      const from = anchor - now.middle * pixel * factor;
      setView(from, from + (drag.view.to - drag.view.from) * factor);
    }
  });

  const up = (event) => {
    pointers.delete(event.pointerId);
    state.isDragging = pointers.size > 0;
    changed();
    canvas.classList.remove('panning');
    if (!drag || event.type === 'pointercancel') {
      drag = null;
      return;
    }
    if (!drag.moved) {
      const found = under(canvas, scroller, event.offsetX, event.offsetY);
      if (found.kind === 'execution') select(found.id);
      else if (found.kind === 'drops') selectDropped(found.id);
      else if (drag.kind !== 'range') {
        state.range = null;
        changed();
      }
    }
    drag = pointers.size === 0 ? null : { ...drag, kind: 'rest' };
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  canvas.addEventListener('pointerleave', (event) => hover({}, event));
  canvas.addEventListener('dblclick', (event) => {
    const found = under(canvas, scroller, event.offsetX, event.offsetY);
    if (found.kind === 'execution') showSpan(found.start, found.length);
    else zoom(0.4, found.time);
  });

  let marking = null;
  axis.addEventListener('pointerdown', (event) => {
    axis.setPointerCapture(event.pointerId);
    marking = event.offsetX;
  });
  axis.addEventListener('pointermove', (event) => {
    if (marking !== null && Math.abs(event.offsetX - marking) >= STILL) mark(timeAt(marking), timeAt(event.offsetX));
  });
  const end = (event) => {
    if (marking !== null && Math.abs(event.offsetX - marking) < STILL) {
      state.range = null;
      changed();
    }
    marking = null;
  };
  axis.addEventListener('pointerup', end);
  axis.addEventListener('pointercancel', end);

  function hover(found, event) {
    state.hover = found.kind ? { ...found, view: state.view } : null;
    state.pointerTime = found.time ?? null;
    canvas.style.cursor = found.kind === 'execution' || found.kind === 'drops' ? 'pointer' : '';
    changed();
    tip.hidden = !found.kind;
    if (!found.kind) return;
    tip.replaceChildren(...describe(found));
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - box.width - 8)}px`;
    const below = event.clientY + 18;
    tip.style.top = `${below + box.height > innerHeight - 4 ? event.clientY - box.height - 10 : below}px`;
  }
}

function spread(pointers) {
  const [a, b] = [...pointers.values()];
  return { distance: Math.abs(a.x - b.x), middle: (a.x + b.x) / 2 };
}

function mark(a, b) {
  state.range = { from: Math.min(a, b), to: Math.max(a, b) };
  changed();
}

function line(kind, text) {
  const element = document.createElement(kind);
  element.dir = 'auto';
  element.textContent = text;
  return element;
}

function describe(found) {
  const { row, place } = found;
  const name = short(state.trace.subjects[found.subject]?.name ?? '');
  const at = found.start === undefined ? '' : `at ${relative(found.start, 1000)}`;
  switch (found.kind) {
    case 'execution':
      if (found.count > 1) {
        const share = row.busy(place) / Math.max(row.length(place), 1);
        return [
          line('b', `${count(found.count)} executions in ${duration(row.length(place))}`),
          line('span', `${share(Math.min(share, 1))} of the time in callbacks`),
          line('span', `longest ${duration(found.length)} ${at}`),
          line('span', name),
        ];
      }
      return [line('b', name), line('span', `${found.isOpen ? 'its end is not known' : duration(found.length)} ${at}`)];
    case 'drops':
      return [line('b', found.count === 1 ? 'A message was dropped' : `${count(found.count)} messages were dropped`), line('span', `${found.count === 1 ? '' : 'the first: '}${state.trace.drop_causes[found.cause]}`), line('span', `for ${name}`), line('span', `published ${at}; click for more`)];
    default: {
      const names = found.kind === 'executor' ? EXECUTOR_STATES : KERNEL_STATES;
      const who = found.kind === 'executor' ? 'The executor' : 'The thread';
      if (found.count === 1) return [line('b', `${who} ${names[row.subject(place)]}`), line('span', duration(row.length(place)))];
      const shares = names.map((text, number) => [text, row.share(place, number)]).filter(([, share]) => share > 0);
      return [line('b', `${who}, ${count(found.count)} states`), ...shares.map(([text, share]) => line('span', `${share(share)} ${text}`))];
    }
  }
}
