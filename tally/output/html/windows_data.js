// The windows of a page: their columns of numbers, and sums, minima and maxima of any range of them.
"use strict";
const windowsData = (() => {
  const bytesOf = (text) => {
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
    return bytes;
  };

  // Decodes the output of put_column() (formats/columns.hpp). Integers up to 2^53.
  const columnsOf = (bytes, rows, count) => {
    let at = 0;
    const number = () => {
      let byte = bytes[at++];
      if (byte < 128) return byte & 1 ? -((byte + 1) / 2) : byte / 2;
      let value = byte & 127;
      for (let scale = 128; byte & 128; scale *= 128) {
        byte = bytes[at++];
        value += (byte & 127) * scale;
      }
      return value % 2 ? -((value + 1) / 2) : value / 2;
    };
    return Array.from({ length: count }, () => {
      const column = new Float64Array(rows);
      const kind = bytes[at++];
      if (kind === 0) {
        const first = number(), step = number();
        for (let i = 0; i < rows; ++i) column[i] = first + i * step;
      } else {
        for (let i = 0, value = 0; i < rows; ++i) column[i] = value = number() + (kind === 1 ? value : 0);
      }
      return column;
    });
  };

  const own = ["number", "time", "length", "high", "low", "trigger", "lost", "partial", "phase"];

  // Minima and maxima are stored for every N values, so that a view of a million windows reads few.
  const stride = 64;

  // The first row whose value is not less.
  const firstFrom = (column, value) => {
    let low = 0, high = column.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (column[middle] < value) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  class Thread {
    constructor(bytes, rows, counts, words, instructions) {
      const columns = columnsOf(bytes, rows, own.length + counts + (words ? 2 : 0));
      own.forEach((name, i) => { this[name] = columns[i]; });
      this.counts = columns.slice(own.length, own.length + counts);
      if (words) this.where = (row) => columns.slice(own.length + counts).map((column) => words[column[row]]).filter(Boolean).join(", ");
      this.rows = rows;
      this.sums = this.counts.map((column) => {
        const sums = new Float64Array(rows + 1);
        for (let i = 0; i < rows; ++i) sums[i + 1] = sums[i] + column[i];
        return sums;
      });
      this.made = new Map();
      // Instructions that the thread had executed at the end of each window.
      if (instructions !== null) this.executed = instructions < 0 ? this.running(this.length) : this.sums[instructions].slice(1);
    }

    running(column) {
      const sums = new Float64Array(column.length);
      for (let i = 0, sum = 0; i < column.length; ++i) sums[i] = sum += column[i];
      return sums;
    }

    address(row) {
      const value = this.high[row] * 2 ** 32 + this.low[row];
      return value > 0 ? "0x" + (BigInt(this.high[row]) * 2n ** 32n + BigInt(this.low[row])).toString(16) : "";
    }

    // The values of a quantity for each window, with the minimum and maximum of each stride.
    values(quantity) {
      if (this.made.has(quantity)) return this.made.get(quantity);
      const each = new Float64Array(this.rows);
      for (let i = 0; i < this.rows; ++i) {
        const value = quantity.of((place) => this.counts[place][i]);
        each[i] = Number.isFinite(value) ? value : NaN;
      }
      const strides = Math.ceil(this.rows / stride);
      const low = new Float64Array(strides), high = new Float64Array(strides);
      for (let k = 0; k < strides; ++k)
        [low[k], high[k]] = this.span(each, k * stride, Math.min(this.rows, (k + 1) * stride));
      const made = { each, low, high };
      this.made.set(quantity, made);
      return made;
    }

    span(each, from, to) {
      let low = Infinity, high = -Infinity;
      for (let i = from; i < to; ++i) {
        const value = each[i];
        if (value < low) low = value;
        if (value > high) high = value;
      }
      return [low, high];
    }

    // Minimum and maximum of the windows from..to; nulls if there is no number.
    extremes(quantity, from, to) {
      const { each, low, high } = this.values(quantity);
      const first = Math.ceil(from / stride), last = Math.floor(to / stride);
      let least, most;
      if (first >= last) {
        [least, most] = this.span(each, from, to);
      } else {
        [least, most] = this.span(each, from, first * stride);
        for (let k = first; k < last; ++k) {
          if (low[k] < least) least = low[k];
          if (high[k] > most) most = high[k];
        }
        const rest = this.span(each, last * stride, to);
        least = Math.min(least, rest[0]);
        most = Math.max(most, rest[1]);
      }
      return least <= most ? [least, most] : [null, null];
    }

    // The value for all windows from..to together: a ratio of the sums.
    mean(quantity, from, to) {
      const value = quantity.of((place) => (this.sums[place][to] - this.sums[place][from]) / (to - from));
      return Number.isFinite(value) ? value : null;
    }

    // Groups the windows from..to into ranges: one for each of N columns between left and right.
    ranges(x, from, to, left, right, columns) {
      const ranges = [], width = (right - left) / columns;
      for (let i = from; i < to;) {
        const edge = left + (Math.floor((x[i] - left) / width) + 1) * width;
        const next = Math.min(to, Math.max(i + 1, firstFrom(x, edge)));
        ranges.push([i, next]);
        i = next;
      }
      return ranges;
    }

    // The number of windows of each phase in a range; the last element counts windows without a phase.
    phases(from, to, count) {
      const sizes = new Array(count + 1).fill(0);
      for (let i = from; i < to; ++i) ++sizes[this.phase[i] < 0 ? count : this.phase[i]];
      return sizes;
    }
  }

  const read = (section) => {
    const head = JSON.parse(section.querySelector("script[data-head]").textContent);
    // The terms come from tally itself: numbers, operators and c(INDEX).
    for (const quantity of head.quantities) quantity.of = new Function("c", "return " + quantity.term);
    const texts = section.querySelectorAll("script[data-columns]");
    const threads = [];
    head.thread = (place) => (threads[place] ??= new Thread(bytesOf(texts[place].textContent), head.series[place].rows, head.counts, head.words, head.instructions));
    return head;
  };

  return { read, firstFrom };
})();
