// What the file carries: each part of the report is compressed by itself and opened when it is first looked at.

async function inflated(id) {
  const text = document.getElementById(id).textContent.trim();
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

const opened = new Map();

/** A part of the report: `data` is what it says, `column(reference)` the numbers that it refers to. */
function part(partName) {
  if (!opened.has(partName)) opened.set(partName, openPart(partName));
  return opened.get(partName);
}

async function openPart(partName) {
  const [json, numbers] = await Promise.all([inflated(`${partName}-data`), inflated(`${partName}-columns`)]);
  const data = JSON.parse(new TextDecoder().decode(json));
  const buffer = new Uint8Array(numbers);
  const decoded = new Map();
  const column = (reference) => {
    if (!reference) return new Float64Array(0);
    if (!decoded.has(reference.at)) decoded.set(reference.at, decodeColumn(buffer, reference));
    return decoded.get(reference.at);
  };
  for (const [key, value] of Object.entries(data)) if (value?.details) data[key] = tableRows(value, column);
  return { data, column };
}

/** The rows of a table: cells by the names of their columns, statistics as objects, and what stands beside each row. How it is shown is in `declared`. */
function tableRows({ rows, details, ...declared }, column) {
  const unpacked = rows.map((cells, number) => {
    const row = { ...details[number] };
    declared.columns.forEach(({ name: key, member }, place) => {
      row[key] = cells[place];
      if (member) (row[member[0]] ??= {})[member[1]] = cells[place];
    });
    return row;
  });
  return Object.assign(unpacked, { declared: { ...declared, column } });
}

/** Differences between neighbours, each as a sign and a number of seven bits per byte; see `columns.rs`. */
function decodeColumn(buffer, { at, n }) {
  const values = new Float64Array(n);
  let before = 0;
  for (let row = 0; row < n; row++) {
    let number = 0;
    let scale = 1;
    let byte;
    do {
      byte = buffer[at++];
      number += (byte & 0x7f) * scale;
      scale *= 128;
    } while (byte & 0x80);
    // Even numbers are not negative; `number` may exceed 32 bits, so no shifts.
    const half = Math.floor(number / 2);
    before += number % 2 === 0 ? half : -half - 1;
    values[row] = before;
  }
  return values;
}
