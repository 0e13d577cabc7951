// Draws the windows of a page: a chart for each quantity, phases, an overview, and a histogram.
"use strict";
(() => {
  const { color, plain, short, text, make, Histogram } = windowsParts;
  const gutter = 56, margin = 8;

  class View {
    constructor(section) {
      this.section = section;
      this.head = windowsData.read(section);
      this.root = section.querySelector("[data-view]");
      this.root.tabIndex = 0;
      this.panels = [];
      const rows = this.head.series.map((one) => one.rows);
      this.thread = rows.indexOf(Math.max(...rows));
      // Windows of HPCTool have no times.
      this.timed = this.head.series.some((_, i) => i === this.thread && this.data().time[rows[i] - 1] > 0);
      this.scales = [["instructions", "instructions"], ["time", "time"], ["number", "window number"]].filter(([by]) =>
        by === "instructions" ? this.data().executed?.at(-1) > 0 : by === "time" ? this.timed : true);
      this.by = this.scales[0][0];
      this.shown = new Set(this.head.quantities.filter((one) => one.shown).slice(0, 6));
      if (!this.shown.size) this.shown.add(this.head.quantities[0]);
      this.controls();
      this.body = make("div", this.root);
      this.keys();
      this.whole();
      section.querySelectorAll("[data-show]").forEach((button) => button.addEventListener("click", () => {
        const [series, row] = button.dataset.show.split(",").map(Number);
        this.show(series, row);
      }));
    }

    data() { return this.head.thread(this.thread); }
    x() { return { instructions: this.data().executed, time: this.data().time, number: this.data().number }[this.by]; }
    ends() {
      const x = this.x();
      const first = x[0], last = x[x.length - 1];
      return first < last ? [first, last] : [first - 0.5, last + 0.5];
    }

    controls() {
      const bar = make("div", this.root, { className: "bar" });
      if (this.head.series.length > 1) {
        const label = make("label", bar, { textContent: "Thread " });
        this.chooser = make("select", label);
        this.head.series.map((one, i) => [one, i]).sort(([a], [b]) => b.rows - a.rows).forEach(([one, i]) =>
          make("option", this.chooser, { value: i, textContent:
            `${one.program} ${one.thread}` + (one.thread === one.process ? "" : ` of ${one.process}`) + ` · ${plain(one.rows)}` }));
        this.chooser.value = this.thread;
        this.chooser.addEventListener("change", () => { this.thread = +this.chooser.value; this.whole(); });
      }
      if (this.scales.length > 1) {
        const axis = make("select", make("label", bar, { textContent: "x axis " }));
        for (const [value, name] of this.scales) make("option", axis, { value, textContent: name });
        axis.addEventListener("change", () => {
          const rows = this.range();
          this.by = axis.value;
          this.rebuild(rows);
        });
      }
      for (const [name, title, run] of [["+", "zoom in", () => this.scale(0.5)], ["−", "zoom out", () => this.scale(2)],
        ["show all", "show all windows", () => this.whole()]])
        make("button", bar, { type: "button", textContent: name, title, ariaLabel: title }).addEventListener("click", run);
      const axes = make("select", make("label", bar, { textContent: "y axes " }));
      for (const [value, name] of [["most", "without outliers"], ["all", "minimum to maximum"], ["zero", "from 0"]])
        make("option", axes, { value, textContent: name });
      this.axes = "most";
      axes.addEventListener("change", () => { this.axes = axes.value; this.draw(); });
      const chips = make("div", this.root, { className: "chips" });
      for (const quantity of this.head.quantities) {
        const chip = make("label", chips, { title: quantity.formula ?? "count per window" });
        const tick = make("input", chip, { type: "checkbox", checked: this.shown.has(quantity) });
        chip.append(quantity.name);
        tick.addEventListener("change", () => {
          if (tick.checked) this.shown.add(quantity);
          else this.shown.delete(quantity);
          this.rebuild(this.range());
        });
      }
      this.status = make("p", this.root, { className: "status" });
    }

    keys() {
      this.root.addEventListener("keydown", (event) => {
        if (event.target !== this.root) return;
        const run = { "+": () => this.scale(0.5), "-": () => this.scale(2), 0: () => this.whole(),
          ArrowLeft: () => this.move(-0.25), ArrowRight: () => this.move(0.25) }[event.key];
        if (!run) return;
        event.preventDefault();
        run();
      });
    }

    // The rows shown: the first, and the one after the last.
    range() {
      const x = this.x();
      const from = windowsData.firstFrom(x, this.from);
      let to = windowsData.firstFrom(x, this.to);
      while (to < x.length && x[to] <= this.to) ++to;
      return from < to ? [from, to] : [Math.max(0, Math.min(from, x.length - 1)), Math.min(from + 1, x.length)];
    }
    whole() { [this.from, this.to] = this.ends(); this.build(); }
    // Builds the panels again, for another axis or other panels, with the same rows.
    rebuild([from, to]) {
      const x = this.x();
      const [first, last] = this.ends();
      [this.from, this.to] = from === 0 && to === x.length ? [first, last] : [x[from], x[to - 1]];
      if (this.from >= this.to) [this.from, this.to] = [first, last];
      this.build();
    }
    show(series, row) {
      this.thread = series;
      if (this.chooser) this.chooser.value = series;
      const x = this.x(), around = 50;
      this.from = x[Math.max(0, row - around)];
      this.to = x[Math.min(x.length - 1, row + around)];
      if (this.from >= this.to) [this.from, this.to] = this.ends();
      this.build();
      this.point(this.ranges.findIndex(([from, to]) => from <= row && row < to));
      this.root.scrollIntoView({ block: "start" });
    }
    scale(factor, at = (this.from + this.to) / 2) { this.zoom(at - (at - this.from) * factor, at + (this.to - at) * factor); }
    move(share) {
      const [first, last] = this.ends();
      const by = Math.max(first - this.from, Math.min(last - this.to, share * (this.to - this.from)));
      this.zoom(this.from + by, this.to + by);
    }
    zoom(from, to) {
      const [first, last] = this.ends();
      from = Math.max(first, from);
      to = Math.min(last, to);
      // Not below two windows.
      if (!(from < to)) return;
      [this.from, this.to] = [from, to];
      this.draw();
      if (this.brush) this.brush.updateOptions({ dateWindow: [from, to] });
    }

    // The unit of times, from their range.
    scaleOfTime() {
      const [first, last] = this.ends();
      return last - first >= 2e9 ? [1e9, "s"] : last - first >= 2e6 ? [1e6, "ms"] : [1e3, "µs"];
    }
    axisText(value) {
      if (this.by === "instructions") return short(value);
      if (this.by !== "time") return Number.isInteger(value) ? value.toLocaleString("en") : "";
      const [unit, name] = this.scaleOfTime();
      return +(value / unit).toPrecision(9) + " " + name;
    }

    options(more) {
      return {
        legend: "never", labelsUTC: true, customBars: true, fillAlpha: 0.22, strokeWidth: 1.3, highlightCircleSize: 3,
        pixelRatio: this.paper ? 3 : null, gridLineColor: color("--rule"), axisLineColor: color("--rule"), rightGap: margin, xRangePad: 0,
        axes: { x: { drawAxis: false, axisLabelFormatter: (value) => this.axisText(+value), ticker: Dygraph.numericTicks },
          y: { axisLabelWidth: gutter - 6, axisLabelFormatter: short, pixelsPerLabel: 20 } },
        ...more,
      };
    }

    panel(quantity) {
      const root = make("div", this.body, { className: "panel" });
      const head = make("div", root, { className: "head" });
      make("b", head, { textContent: quantity.name + ({ share: "", ns: ", ns", "": "" }[quantity.unit] ?? ", " + quantity.unit), title: quantity.formula ?? "" });
      const panel = { quantity, root, value: make("span", head, { className: "value" }) };
      if (typeof Dygraph === "undefined") return panel;
      const model = Dygraph.defaultInteractionModel, { axes } = this.options({});
      panel.plot = make("div", root, { className: "plot" });
      panel.graph = new Dygraph(panel.plot, this.rowsOf(quantity), this.options({
        labels: ["x", quantity.name], colors: [color("--c0")], dateWindow: [this.from, this.to],
        // A finger scrolls the page; use the overview to zoom.
        axes: { x: axes.x, y: { ...axes.y, axisLabelFormatter: (value) => quantity.unit === "share" ? short(100 * value) + " %" : short(value) } },
        interactionModel: { mousedown: model.mousedown, dblclick: () => this.whole(), wheel: (event) => this.wheel(event, panel.graph) },
        zoomCallback: (from, to) => this.zoom(from, to),
        drawCallback: (graph, first) => { if (!first && !this.drawing) this.zoom(...graph.xAxisRange()); },
        highlightCallback: (event, x, points, row) => this.point(row, panel),
        unhighlightCallback: () => this.point(-1),
        underlayCallback: (canvas, area, graph) => this.shade(canvas, area, graph),
      }));
      return panel;
    }
    wheel(event, graph) {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.scale(event.deltaY > 0 ? 1.25 : 0.8, graph.toDataXCoord(event.offsetX));
    }

    rowsOf(quantity) {
      const data = this.data(), x = this.x();
      return this.ranges.map(([from, to]) => {
        const [least, most] = data.extremes(quantity, from, to);
        return [x[to - 1], least === null ? [null, null, null] : [least, Math.min(most, Math.max(least, data.mean(quantity, from, to))), most]];
      });
    }

    build() {
      this.panels.forEach((panel) => panel.graph?.destroy());
      this.brush?.destroy();
      this.brush = undefined;
      this.histogram?.chart?.destroy();
      this.body.replaceChildren();
      this.cut();
      this.drawing = true;
      this.panels = this.head.quantities.filter((one) => this.shown.has(one)).map((one) => this.panel(one));
      if (this.head.phases) this.lanes = make("canvas", make("div", this.body, { className: "panel" }), { className: "rows" });
      if (typeof Dygraph === "undefined")
        make("p", this.body, { className: "verdict bad", textContent: "Time series are not available: this tally was built without libjs-dygraphs." });
      else if (this.panels.length) this.brushes();
      this.drawing = false;
      make("p", this.body, { className: "soft hint", textContent:
        "Drag across a chart to zoom; double-click to show all windows. You can also drag the handles of the overview, turn the wheel with Ctrl, or press +\u00a0−\u00a0←\u00a0→\u00a00." });
      this.histogram = new Histogram(this, this.histogram?.counted);
      this.draw();
    }

    // The overview of all windows, with handles to select a range. It has the same x axis as the panels.
    brushes() {
      const data = this.data(), x = this.x(), first = this.panels[0].quantity;
      const ranges = data.ranges(x, 0, data.rows, ...this.ends(), 400);
      const rows = ranges.map(([from, to]) => [x[to - 1], [data.mean(first, from, to)].flatMap((value) => [value, value, value])]);
      this.brush = new Dygraph(make("div", this.body, { className: "brush" }), rows, this.options({
        labels: ["x", "all"], dateWindow: [this.from, this.to], showRangeSelector: true, rangeSelectorHeight: 44, strokeWidth: 0, fillAlpha: 0,
        rangeSelectorPlotStrokeColor: color("--c0"), rangeSelectorPlotFillColor: color("--c0"), rangeSelectorPlotFillGradientColor: color("--paper"),
        rangeSelectorBackgroundStrokeColor: color("--rule"), rangeSelectorForegroundStrokeColor: color("--soft"), rangeSelectorAlpha: 0.45,
        interactionModel: {},
        axes: { x: { drawAxis: true, drawGrid: false, axisLabelFormatter: (value) => this.axisText(+value), ticker: Dygraph.numericTicks, axisLabelWidth: 90, pixelsPerLabel: 100 },
          y: { axisLabelWidth: gutter - 6, axisLabelFormatter: () => "", drawGrid: false, drawAxis: true } },
        drawCallback: (graph, isFirst) => {
          if (isFirst || this.drawing) return;
          const [from, to] = graph.xAxisRange();
          if (from === this.from && to === this.to) return;
          [this.from, this.to] = [from, to];
          this.soon(() => this.draw());
        },
      }));
      make("p", this.body, { className: "soft axis-name", textContent: { instructions: "instructions executed by the thread",
        time: "time since the start", number: "window number" }[this.by] });
    }
    soon(run) {
      if (this.waiting) return;
      this.waiting = requestAnimationFrame(() => { this.waiting = 0; run(); });
    }

    // Groups the windows shown into ranges, one for each pixel and a half.
    cut() {
      const [from, to] = this.range();
      const width = Math.max(100, this.root.clientWidth - gutter - margin);
      this.ranges = this.data().ranges(this.x(), from, to, this.from, this.to, Math.floor(width / 1.5));
      this.sizes = this.head.phases ? this.ranges.map(([a, b]) => this.data().phases(a, b, this.head.phases)) : [];
    }
    draw() {
      this.cut();
      this.drawing = true;
      for (const panel of this.panels) {
        if (!panel.graph) continue;
        const rows = this.rowsOf(panel.quantity);
        const [low, high, cut] = this.bounds(rows);
        panel.cut = cut === undefined ? "" : "maximum outside the axis: " + text(panel.quantity, cut);
        panel.graph.updateOptions({ file: rows, dateWindow: [this.from, this.to], valueRange: [low, high], drawPoints: rows.length < 80 });
      }
      this.drawing = false;
      this.drawLanes();
      this.histogram.fill();
      this.point(-1);
      // For tests: the number of windows and ranges shown.
      const [from, to] = this.range();
      this.section.dataset.drawn = to - from;
      this.section.dataset.ranges = this.ranges.length;
    }
    // The range of a y axis. A few windows far above all others would flatten the rest: then the axis ends below them,
    // and the third value is their maximum.
    bounds(rows) {
      const lows = [], highs = [];
      for (const [, [least, , most]] of rows) if (least !== null) { lows.push(least); highs.push(most); }
      if (!lows.length) return [0, 1];
      lows.sort((a, b) => a - b);
      highs.sort((a, b) => a - b);
      const from = this.axes === "zero" ? Math.min(0, lows[0]) : lows[0], most = highs[highs.length - 1];
      const usual = highs[Math.floor(0.9 * (highs.length - 1))];
      const isCut = this.axes === "most" && highs.length >= 20 && most - from > 4 * (usual - from) && usual > from;
      const to = isCut ? from + 1.5 * (usual - from) : most;
      const room = (to - from || Math.abs(to) || 1) * 0.06;
      return [this.axes === "zero" ? from : from - room, to + room, isCut ? most : undefined];
    }

    // Chromium prints a canvas as the operations drawn on it, and leaves out those within dygraphs' clips: before
    // printing, canvases are copied to plain ones.
    copies() {
      this.body.querySelectorAll(".plot canvas, .brush canvas").forEach((canvas) => {
        const copy = canvas.cloneNode();
        copy.getContext("2d").drawImage(canvas, 0, 0);
        canvas.replaceWith(copy);
      });
    }

    // The left and right edge of each range on the screen.
    edges(toX) {
      const x = this.x();
      return this.ranges.map(([from, to]) => [toX(from > 0 ? x[from - 1] : x[0]), toX(x[to - 1])]);
    }
    shade(canvas, area, graph) {
      if (!this.head.phases) return;
      this.edges((value) => graph.toDomXCoord(value)).forEach(([left, right], i) => {
        const sizes = this.sizes[i].slice(0, -1), most = Math.max(...sizes);
        if (most === 0) return;
        canvas.globalAlpha = 0.13;
        canvas.fillStyle = color("--p" + sizes.indexOf(most));
        left = Math.max(left, area.x);
        canvas.fillRect(left, area.y, Math.min(right, area.x + area.w) - left, area.h);
      });
      canvas.globalAlpha = 1;
    }
    // A lane for each phase, so that phases differ not only by colour.
    drawLanes() {
      if (!this.lanes) return;
      const high = 14, count = this.head.phases, scale = devicePixelRatio || 1, width = this.lanes.clientWidth;
      this.lanes.style.height = count * high + 2 + "px";
      this.lanes.width = width * scale;
      this.lanes.height = (count * high + 2) * scale;
      const canvas = this.lanes.getContext("2d");
      canvas.scale(scale, scale);
      canvas.font = "12px system-ui, sans-serif";
      canvas.textAlign = "right";
      const across = width - gutter - margin;
      const toX = (value) => gutter + Math.max(0, Math.min(1, (value - this.from) / (this.to - this.from))) * across;
      const edges = this.edges(toX);
      for (let phase = 0; phase < count; ++phase) {
        canvas.globalAlpha = 1;
        canvas.fillStyle = color("--soft");
        canvas.fillText(phase === 0 ? "phase 1" : phase + 1, gutter - 6, phase * high + 12);
        canvas.fillStyle = color("--p" + phase);
        this.sizes.forEach((sizes, i) => {
          if (!sizes[phase]) return;
          const [left, right] = edges[i];
          canvas.globalAlpha = Math.max(0.25, sizes[phase] / sizes.reduce((a, b) => a + b));
          canvas.fillRect(left, phase * high + 2, Math.max(1, right - left), high - 3);
        });
      }
    }

    // Shows the description of a range, and its value in each panel.
    point(row, from) {
      for (const panel of this.panels) {
        if (panel !== from && panel.graph) {
          if (row >= 0) panel.graph.setSelection(row);
          else panel.graph.clearSelection();
        }
        panel.value.textContent = row < 0 ? panel.cut ?? "" : this.valueText(panel.quantity, ...this.ranges[row]);
      }
      const [first, last] = this.range();
      this.status.textContent = row >= 0 ? this.rangeText(...this.ranges[row])
        : `${plain(last - first)} of ${plain(this.data().rows)} windows` +
          (last - first > 1.5 * this.ranges.length ? " shown, about " + plain(Math.round((last - first) / this.ranges.length)) +
            " per point: the line is their mean, the band their minimum to maximum" : " shown");
    }
    valueText(quantity, from, to) {
      const data = this.data();
      if (to - from === 1) return text(quantity, data.values(quantity).each[from]);
      const [least, most] = data.extremes(quantity, from, to);
      return `mean ${text(quantity, data.mean(quantity, from, to))}, ${text(quantity, least)} to ${text(quantity, most)}`;
    }
    rangeText(from, to) {
      const data = this.data(), last = to - 1, one = to - from === 1;
      const words = [one ? "window " + plain(data.number[from]) : `windows ${plain(data.number[from])} to ${plain(data.number[last])}`];
      if (this.by === "instructions") words.push("ends at " + plain(data.executed[last]) + " instructions");
      if (this.timed) words.push((this.by === "instructions" ? "" : "ends at ") + +(data.time[last] / 1e6).toPrecision(7) + " ms");
      if (one) words.push("length " + plain(data.length[from]));
      if (one && data.address(from)) words.push("at " + data.address(from));
      if (one && data.where?.(from)) words.push(data.where(from));
      if (one && data.trigger[from] < 0) words.push("shortened: the thread ended");
      else if (one && this.head.triggers.length > 1) words.push("ended by " + this.head.triggers[data.trigger[from]]);
      if (this.head.phases) {
        const sizes = data.phases(from, to, this.head.phases);
        const inside = sizes.slice(0, -1).map((size, i) => [size, i + 1]).filter(([size]) => size).sort(([a], [b]) => b - a);
        if (inside.length) words.push("phase " + inside.map(([, name]) => name).join(", "));
      }
      const sum = (column) => { let all = 0; for (let i = from; i < to; ++i) all += column[i]; return all; };
      if (sum(data.lost)) words.push("includes " + plain(sum(data.lost)) + " lost windows");
      if (sum(data.partial)) words.push("partial");
      return words.join(" · ");
    }
  }

  const views = [...document.querySelectorAll("section[data-windows]")].filter((one) => one.querySelector("script[data-head]")).map((one) => new View(one));
  const paper = matchMedia("print");
  const again = (isPaper = paper.matches) => views.forEach((view) => {
    view.paper = isPaper;
    view.rebuild(view.range());
    if (isPaper) view.copies();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => again());
  paper.addEventListener("change", () => again());
  addEventListener("beforeprint", () => again(true));
  addEventListener("afterprint", () => again(false));
  let width = innerWidth;
  addEventListener("resize", () => { if (width !== innerWidth) { width = innerWidth; again(); } });
})();
