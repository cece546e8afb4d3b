// What the x axis of charts over time shows: time since the begin, the simulated clock where the trace has it, or the number of the value.

let axis = "system";
const onAxisChange = [];

const AXES = {
  system: { name: "system time", title: "system time [s]" },
  simulated: { name: "simulated time", title: "simulated time [s]" },
  index: { name: "index", title: "index" },
};

/** The simulated clock: two columns that rise together, or nothing. */
let simulatedClock = null;

function startAxis(clock) {
  simulatedClock = clock;
  const select = document.getElementById("axis");
  for (const [key, { name }] of Object.entries(AXES)) {
    if (key === "simulated" && !clock) continue;
    select.append(h("option", { value: key }, name));
  }
  select.addEventListener("change", () => {
    axis = select.value;
    for (const listener of onAxisChange) listener();
  });
}

/** Times of the report on the chosen axis. Those before the simulated clock began have no place on it (NaN). */
function onAxis(times) {
  if (axis === "index") return Float64Array.from(times, (_, row) => row);
  if (axis === "simulated" && simulatedClock) return Float64Array.from(times, (time) => simulatedTime(time) / 1e9);
  return Float64Array.from(times, (time) => time / 1e9);
}

function simulatedTime(time) {
  const { system, simulated } = simulatedClock;
  const after = firstNotBefore(system, time);
  if (after === 0) return time === system[0] ? simulated[0] : NaN;
  if (after === system.length) return simulated[after - 1];
  const share = (time - system[after - 1]) / (system[after] - system[after - 1]);
  return simulated[after - 1] + share * (simulated[after] - simulated[after - 1]);
}

/** The first place in a rising column whose value is not less. */
function firstNotBefore(column, value) {
  let low = 0;
  let high = column.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
