// Lines through the points of an edge.

const CORNER = 9;

/** A path through points: straight where x or y stays, round at corners, and curved where both change, level at both ends. */
function smoothPath(points) {
  const written = (value) => Math.round(value * 10) / 10;
  const at = ([x, y]) => `${written(x)} ${written(y)}`;
  const isSame = (a, b) => Math.abs(a - b) < 0.5;
  const kept = points.filter((point, index) => index === 0 || index === points.length - 1 || !isSame(point[0], points[index - 1][0]) || !isSame(point[1], points[index - 1][1]));
  const towards = (from, to, distance) => {
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
    return [from[0] + ((to[0] - from[0]) * distance) / length, from[1] + ((to[1] - from[1]) * distance) / length];
  };
  let path = `M${at(kept[0])}`;
  for (let index = 1; index < kept.length; index++) {
    const [before, point, next] = [kept[index - 1], kept[index], kept[index + 1]];
    const [level, upright] = [isSame(before[1], point[1]), isSame(before[0], point[0])];
    if (!level && !upright) {
      const middle = (before[0] + point[0]) / 2;
      path += `C${at([middle, before[1]])} ${at([middle, point[1]])} ${at(point)}`;
    } else if (next && ((level && isSame(point[0], next[0])) || (upright && isSame(point[1], next[1]))) && !(level && isSame(point[1], next[1]))) {
      const radius = Math.min(CORNER, Math.hypot(point[0] - before[0], point[1] - before[1]) / 2, Math.hypot(next[0] - point[0], next[1] - point[1]) / 2);
      path += `L${at(towards(point, before, radius))}Q${at(point)} ${at(towards(point, next, radius))}`;
    } else {
      path += `L${at(point)}`;
    }
  }
  return path;
}
