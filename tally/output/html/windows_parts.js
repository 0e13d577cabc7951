// Helpers of the page of windows: numbers as text, elements, and the histogram.
"use strict";
const windowsParts = (() => {
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const plain = (value) => {
    if (value === null || !Number.isFinite(value)) return "-";
    const size = Math.abs(value);
    if (Number.isInteger(value) && size < 1e15) return value.toLocaleString("en");
    return size !== 0 && size < 1e-4 ? value.toExponential(2) : value.toLocaleString("en", { maximumSignificantDigits: 5 });
  };
  // An axis has room for four digits.
  const short = (value) => {
    for (const [unit, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]])
      if (Math.abs(value) >= unit) return +(value / (letter === "k" ? 1e3 : unit)).toPrecision(4) + " " + letter;
    return String(+value.toPrecision(6));
  };
  const text = (quantity, value) =>
    quantity.unit === "share" && value !== null ? plain(100 * value) + " %"
      : plain(value) + (quantity.unit === "ns" ? " ns" : "");
  const make = (tag, parent, properties = {}) => parent.appendChild(Object.assign(document.createElement(tag), properties));

  // Bins with round edges, at least half of `wanted`: 1, 2 or 5 times a power of ten wide; whole numbers have whole bins.
  const roundBins = (least, most, wanted, whole) => {
    if (least === null) return { first: 0, width: 1, count: 0 };
    const raw = (most - least) / wanted || 1, ten = 10 ** Math.floor(Math.log10(raw));
    let width = ten * [1, 2, 5, 10].find((factor) => factor * ten >= raw * (1 - 1e-9));
    if (whole) width = Math.max(1, width);
    const first = Math.floor(least / width + 1e-9);
    return { first, width, count: Math.floor(most / width + 1e-9) - first + 1 };
  };

  // Distribution of a quantity over the windows shown, stacked by phase.
  class Histogram {
    constructor(view, counted) {
      this.view = view;
      const data = view.data();
      const all = view.head.quantities.filter((one) => { const [least, most] = data.extremes(one, 0, data.rows); return least < most; });
      if (!all.length) return;
      this.counted = all.includes(counted) ? counted : all.find((one) => view.shown.has(one)) ?? all[0];
      const bar = make("div", view.body, { className: "bar" });
      const select = make("select", make("label", bar, { textContent: "Histogram of the windows shown: " }));
      all.forEach((one, i) => make("option", select, { value: i, textContent: one.name, selected: one === this.counted }));
      select.addEventListener("change", () => { this.counted = all[select.value]; this.fill(); });
      const canvas = make("canvas", make("div", view.body, { className: "canvas" }), { role: "img", ariaLabel: "histogram" });
      const axis = (label) => ({ stacked: true, title: { display: true, text: label, color: color("--soft") }, grid: { color: color("--rule") },
        ticks: { color: color("--soft"), maxRotation: 0, autoSkipPadding: 16 } });
      this.chart = new Chart(canvas, { type: "bar", data: { labels: [], datasets: [] }, options: {
        animation: false, responsive: true, maintainAspectRatio: false, interaction: { mode: "index", intersect: false },
        scales: { x: { ...axis(""), grid: { display: false } }, y: axis("windows") },
        plugins: { legend: { display: false }, tooltip: { filter: (item) => item.raw > 0 } },
      } });
    }
    fill() {
      if (!this.chart) return;
      const view = this.view, data = view.data(), quantity = this.counted, each = data.values(quantity).each, [from, to] = view.range();
      const [least, most] = data.extremes(quantity, from, to);
      const phases = view.head.phases, { first, width, count: bins } = roundBins(least, most, 48, !quantity.formula);
      const sizes = Array.from({ length: phases + 1 }, () => new Array(bins).fill(0));
      for (let i = from; i < to && bins; ++i) {
        if (Number.isNaN(each[i])) continue;
        const phase = data.phase[i] < 0 || !phases ? phases : data.phase[i];
        ++sizes[phase][Math.max(0, Math.min(bins - 1, Math.floor(each[i] / width + 1e-9) - first))];
      }
      const name = (i) => text(quantity, +((first + i) * width).toPrecision(12));
      this.chart.data.labels = Array.from({ length: bins }, (_, i) => name(i));
      this.chart.data.datasets = sizes.map((counts, i) => ({ label: i < phases ? "phase " + (i + 1) : phases ? "no phase" : "windows", data: counts,
        backgroundColor: color(i < phases ? "--p" + i : phases ? "--soft" : "--c0"), categoryPercentage: 1, barPercentage: 0.98 }));
      this.chart.options.scales.x.title.text = quantity.name;
      this.chart.options.plugins.tooltip.callbacks = { title: ([item]) => item ? `${name(item.dataIndex)} to less than ${name(item.dataIndex + 1)}` : "" };
      this.chart.update();
    }
  }

  return { color, plain, short, text, make, Histogram };
})();
