// How long something took, for people: the same in the report and in the timeline.

export const MISSING = "–";

const DURATION_UNITS = [
  { below: 1e3, divisor: 1, unit: "ns" },
  { below: 1e6, divisor: 1e3, unit: "µs" },
  { below: 1e9, divisor: 1e6, unit: "ms" },
  { below: Infinity, divisor: 1e9, unit: "s" },
];

/** The unit in which a duration of this size is read. */
export function durationUnit(nanoseconds) {
  const size = Math.abs(nanoseconds);
  return DURATION_UNITS.find((unit) => size < unit.below);
}

/** Three digits that count. */
export function digits(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

/** `12.3 ms`; what lasts for minutes is told in minutes. */
export function duration(nanoseconds) {
  if (nanoseconds === undefined || nanoseconds === null || Number.isNaN(nanoseconds)) return MISSING;
  if (Math.abs(nanoseconds) >= 60e9) {
    const seconds = Math.round(Math.abs(nanoseconds) / 1e9);
    const two = (number) => String(number).padStart(2, "0");
    const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
    const text = hours > 0 ? `${hours} h ${two(minutes)} min` : `${minutes} min ${two(seconds % 60)} s`;
    return nanoseconds < 0 ? `-${text}` : text;
  }
  let { divisor, unit, below } = durationUnit(nanoseconds);
  // 999.96 µs would be printed as 1000 µs.
  if (Math.abs(nanoseconds) / divisor >= 999.5 && below !== Infinity) ({ divisor, unit } = durationUnit(below));
  return divisor === 1 ? `${Math.round(nanoseconds)} ns` : `${digits(nanoseconds / divisor)} ${unit}`;
}
