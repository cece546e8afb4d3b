// The table of numbers that the server draws from (crates/report/src/served/answer/view.rs describes it), read in place.

const MAGIC = 0x31565452;
/** A span is seven times eight bytes. */
const EIGHTS = 7;

/** Spans of one row. Each has a place from 0 on. */
export class Row {
  constructor(buffer, offset, count) {
    this.count = count;
    this.times = new Float64Array(buffer, offset, count * EIGHTS);
    this.numbers = new Uint32Array(buffer, offset, count * EIGHTS * 2);
    this.floats = new Float32Array(buffer, offset, count * EIGHTS * 2);
    this.bytes = new Uint8Array(buffer, offset, count * EIGHTS * 8);
  }

  start(place) { return this.times[place * EIGHTS]; }
  length(place) { return this.times[place * EIGHTS + 1]; }
  longestStart(place) { return this.times[place * EIGHTS + 2]; }
  longestLength(place) { return this.times[place * EIGHTS + 3]; }
  /** How many executions this stands for. */
  executions(place) { return this.numbers[place * EIGHTS * 2 + 8]; }
  /** The execution, or the longest of them. */
  item(place) { return this.numbers[place * EIGHTS * 2 + 9]; }
  /** Its callback, or its state. */
  subject(place) { return this.numbers[place * EIGHTS * 2 + 10]; }
  flags(place) { return this.numbers[place * EIGHTS * 2 + 11]; }
  isOpen(place) { return (this.numbers[place * EIGHTS * 2 + 11] & 1) === 1; }
  /** Time in executions. */
  busy(place) { return this.floats[place * EIGHTS * 2 + 12]; }
  /** Share of a state, from 0 to 1. */
  share(place, state) { return this.bytes[place * EIGHTS * 8 + 52 + state] / 255; }

  /** The first place whose span ends after a time. */
  firstAfter(time) {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.start(middle) + this.length(middle) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** By number of the track: its rows. */
export function readSpans(buffer) {
  const head = new DataView(buffer);
  if (buffer.byteLength < 8 || head.getUint32(0, true) !== MAGIC) throw new Error('the answer is none of ours');
  const tracks = new Map();
  let at = 8;
  for (let left = head.getUint32(4, true); left > 0; left -= 1) {
    const number = head.getUint32(at, true);
    const rows = [];
    let more = head.getUint32(at + 4, true);
    for (at += 8; more > 0; more -= 1) {
      const count = head.getUint32(at, true);
      rows.push(new Row(buffer, at + 8, count));
      at += 8 + count * EIGHTS * 8;
    }
    tracks.set(number, rows);
  }
  return tracks;
}
