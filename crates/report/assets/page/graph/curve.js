// Lines through the points of an edge.

const CORNER = 9;
/** Pieces of a curve when it is measured. */
const CURVE_STEPS = 12;

/**
 * A path through points: straight where x or y stays, round at corners, and curved where both change, level at both ends. Only its ends are finer than a pixel: there may
 * be a hundred thousand points, and whole numbers are written faster.
 */
function smoothPath(points) {
  const isSame = (a, b) => Math.abs(a - b) < 0.5;
  const last = points.length - 1;
  let x0 = Math.round(points[0][0] * 10) / 10;
  let y0 = Math.round(points[0][1] * 10) / 10;
  let path = `M${x0} ${y0}`;
  for (let index = 1; index <= last; index++) {
    const fine = index === last ? 10 : 1;
    const x = Math.round(points[index][0] * fine) / fine;
    const y = Math.round(points[index][1] * fine) / fine;
    const level = isSame(y0, y);
    const upright = isSame(x0, x);
    if (level && upright && index < last) continue;
    const next = points[index + 1];
    if (!level && !upright) {
      const middle = Math.round((x0 + x) / 2);
      path += `C${middle} ${y0} ${middle} ${y} ${x} ${y}`;
    } else if (next && (level ? isSame(x, next[0]) && !isSame(y, next[1]) : isSame(y, next[1]))) {
      path += roundCorner([x0, y0], [x, y], next);
    } else {
      path += `L${x} ${y}`;
    }
    x0 = x;
    y0 = y;
  }
  return path;
}

function roundCorner(before, corner, next) {
  const written = (value) => Math.round(value * 10) / 10;
  const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
  const radius = Math.min(CORNER, distance(corner, before) / 2, distance(corner, next) / 2);
  const towards = (to) => [0, 1].map((way) => written(corner[way] + ((to[way] - corner[way]) * radius) / distance(corner, to))).join(" ");
  return `L${towards(before)}Q${written(corner[0])} ${written(corner[1])} ${towards(next)}`;
}

/** How far a point is from the path through points; nothing if that is more than `most`. */
function distanceTo(points, x, y, most) {
  let nearest = most;
  const measure = (x0, y0, x1, y1) => {
    const [dx, dy] = [x1 - x0, y1 - y0];
    const along = Math.max(0, Math.min(1, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
    nearest = Math.min(nearest, Math.hypot(x0 + along * dx - x, y0 + along * dy - y));
  };
  for (let index = 1; index < points.length; index++) {
    const [[x0, y0], [x1, y1]] = [points[index - 1], points[index]];
    if (x < Math.min(x0, x1) - most || x > Math.max(x0, x1) + most || y < Math.min(y0, y1) - most || y > Math.max(y0, y1) + most) continue;
    if (Math.abs(x0 - x1) < 0.5 || Math.abs(y0 - y1) < 0.5) {
      measure(x0, y0, x1, y1);
      continue;
    }
    let [fromX, fromY] = [x0, y0];
    for (let step = 1; step <= CURVE_STEPS; step++) {
      const part = step / CURVE_STEPS;
      const rest = 1 - part;
      // The curve that `smoothPath` draws, level at both ends.
      const toX = x0 * rest ** 3 + ((x0 + x1) / 2) * 3 * part * rest + x1 * part ** 3;
      const toY = y0 * (rest ** 3 + 3 * part * rest * rest) + y1 * (part ** 3 + 3 * part * part * rest);
      measure(fromX, fromY, toX, toY);
      [fromX, fromY] = [toX, toY];
    }
  }
  return nearest < most ? nearest : null;
}
