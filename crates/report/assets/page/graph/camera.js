// Looking around in a drawing that is larger than the screen: drag, wheel, two fingers, keys.

const NEAREST = 4;
const FARTHEST = 0.03;

/** `frame` is an SVG element, `content()` the group in it that moves and `size()` its {width, height}. */
function camera(frame, content, size) {
  let [x, y, scale] = [0, 0, 1];
  const show = () => {
    frame.dataset.scale = scale.toFixed(4);
    content()?.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${scale.toFixed(4)})`);
  };
  const bounds = () => frame.getBoundingClientRect();

  function zoom(factor, at) {
    const { left, top, width, height } = bounds();
    const [px, py] = at ? [at[0] - left, at[1] - top] : [width / 2, height / 2];
    const next = Math.min(NEAREST, Math.max(FARTHEST, scale * factor));
    x = px - ((px - x) * next) / scale;
    y = py - ((py - y) * next) / scale;
    scale = next;
    show();
  }

  /** Everything; but not so small, at first, that nothing can be read. */
  function fit(least = FARTHEST) {
    const { width, height } = bounds();
    const whole = size();
    scale = Math.min(1.15, Math.max(least, Math.min((width - 32) / whole.width, (height - 32) / whole.height)));
    x = whole.width * scale + 32 > width ? 16 : (width - whole.width * scale) / 2;
    y = (height - whole.height * scale) / 2;
    show();
  }

  function centre(box) {
    const { width, height } = bounds();
    scale = Math.max(scale, 0.8);
    x = width / 2 - (box.x + box.width / 2) * scale;
    y = height / 2 - (box.y + box.height / 2) * scale;
    show();
  }

  /** Moves as little as shows a box, or its upper left corner. */
  function reveal(box) {
    const { width, height } = bounds();
    const into = (at, length, room) => (at + length > room - 16 ? Math.max(16, room - 16 - length) : Math.max(16, at));
    x += into(x + box.x * scale, box.width * scale, width) - (x + box.x * scale);
    y += into(y + box.y * scale, box.height * scale, height) - (y + box.y * scale);
    show();
  }

  const pointers = new Map();
  let moved = 0;
  frame.addEventListener("wheel", (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 20 : 1;
    zoom(Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.0016)), [event.clientX, event.clientY]);
  }, { passive: false });
  frame.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (pointers.size === 1) moved = 0;
  });
  frame.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    pointers.set(event.pointerId, now);
    if (others.length > 0) {
      const apart = (a) => Math.hypot(a[0] - others[0][0], a[1] - others[0][1]);
      zoom(apart(now) / Math.max(1, apart(before)), [(now[0] + others[0][0]) / 2, (now[1] + others[0][1]) / 2]);
    }
    const share = 1 / pointers.size;
    x += (now[0] - before[0]) * share;
    y += (now[1] - before[1]) * share;
    moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
    // Caught only now, so that a press still reaches what it was meant for.
    if (moved > 4 && !frame.hasPointerCapture(event.pointerId)) frame.setPointerCapture(event.pointerId);
    frame.classList.toggle("dragged", moved > 4);
    show();
  });
  const release = (event) => {
    pointers.delete(event.pointerId);
    if (pointers.size === 0) frame.classList.remove("dragged");
  };
  for (const kind of ["pointerup", "pointercancel"]) frame.addEventListener(kind, release);
  // The end of a drag is no click.
  frame.addEventListener("click", (event) => { if (moved > 4) event.stopPropagation(); moved = 0; }, { capture: true });
  frame.addEventListener("keydown", (event) => {
    const step = 60;
    const acts = {
      "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), "−": () => zoom(0.8), 0: () => fit(),
      ArrowLeft: () => { x += step; show(); }, ArrowRight: () => { x -= step; show(); }, ArrowUp: () => { y += step; show(); }, ArrowDown: () => { y -= step; show(); },
    };
    if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    acts[event.key]();
  });

  return {
    fit, zoom, centre, reveal, show,
    /** Where a point of the screen is in the drawing, and how long a pixel is there. */
    inDrawing(event) {
      const { left, top } = bounds();
      return [(event.clientX - left - x) / scale, (event.clientY - top - y) / scale, 1 / scale];
    },
    /** Where a point of the drawing is on the screen. */
    onScreen: (box) => [x + box.x * scale, y + box.y * scale],
    /** Moves so that a point of the drawing is there. */
    keep(box, [left, top]) {
      x = left - box.x * scale;
      y = top - box.y * scale;
      show();
    },
  };
}
