// Draws the charts of the page from the data in them.
"use strict";
(() => {
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const short = (number) => {
    const digits = Math.abs(number) >= 100 ? 0 : Math.abs(number) >= 10 ? 1 : 2;
    return Math.abs(number) >= 1e15 || (number !== 0 && Math.abs(number) < 0.01)
      ? number.toExponential(1)
      : number.toLocaleString("en", { maximumFractionDigits: digits });
  };
  const size = (bytes) => {
    let unit = 0;
    for (; bytes >= 1024 && unit < 3; ++unit) bytes /= 1024;
    return short(bytes) + " " + "BKMG"[unit];
  };
  const text = (scale, value) =>
    scale.unit === "bytes" ? size(value) : short(value) + (scale.unit ? " " + scale.unit : "");

  // Ticks are round: powers of two for sizes; else powers of ten, with 2 and 5 between them if they fit, and equal steps
  // on an axis of less than a decade.
  const ticks = (scale, axis) => {
    const values = [];
    if (scale.unit === "bytes") {
      const octaves = Math.log2(axis.max / axis.min);
      const step = Math.max(1, Math.ceil(octaves / Math.max(3, axis.width / 45)));
      for (let power = Math.ceil(Math.log2(axis.min) - 1e-9); 2 ** power <= axis.max; power += step) values.push(2 ** power);
    } else if (axis.max / axis.min < 8) {
      const least = (axis.max - axis.min) / 6, ten = 10 ** Math.floor(Math.log10(least));
      const step = ten * [1, 2, 5, 10].find((factor) => factor * ten >= least * (1 - 1e-9));
      for (let k = Math.ceil(axis.min / step); k * step <= axis.max; ++k) values.push(k * step);
    } else {
      const few = axis.max / axis.min > 2e3;
      for (let ten = 10 ** Math.floor(Math.log10(axis.min)); ten <= axis.max; ten *= 10)
        for (const factor of few ? [1] : [1, 2, 5]) values.push(ten * factor);
    }
    axis.ticks = values.filter((value) => value >= axis.min && value <= axis.max).map((value) => ({ value }));
  };
  const axis = (scale, bounds) => ({
    type: scale.log ? "logarithmic" : "linear",
    title: { display: true, text: scale.label, color: color("--soft") },
    grid: { color: color("--rule") },
    border: { color: color("--rule") },
    ...bounds,
    ...(scale.log ? { afterBuildTicks: (made) => ticks(scale, made) } : {}),
    ticks: { color: color("--soft"), maxRotation: 0, autoSkip: !scale.log, callback: (value) =>
      scale.unit === "bytes" ? size(value) : scale.log ? short(value) : value.toLocaleString("en", { maximumFractionDigits: 4 }),
      ...(scale.whole ? { precision: 0 } : {}) },
  });

  // A logarithmic axis ends at its points; by default it would extend to the next power of ten.
  const ends = (scale, values, margin) => {
    if (!scale.log || !values.length) return scale.bounds;
    return { min: Math.min(...values) / margin, max: Math.max(...values) * margin, ...scale.bounds };
  };

  // Draws plateaus, the marks of a rise, and intervals around the points.
  const around = (data) => ({
    id: "around",
    beforeDatasetsDraw({ ctx, chartArea: area, scales: { x, y } }) {
      ctx.save();
      ctx.beginPath();
      ctx.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
      ctx.clip();
      for (const [index, band] of data.bands.entries()) {
        const left = Math.max(area.left, x.getPixelForValue(band.from));
        const right = Math.min(area.right, x.getPixelForValue(band.to));
        if (index % 2 === 0) {
          ctx.fillStyle = color("--band");
          ctx.fillRect(left, area.top, right - left, area.bottom - area.top);
        }
        ctx.strokeStyle = color("--soft");
        ctx.lineWidth = 1;
        ctx.beginPath();
        ctx.moveTo(left, y.getPixelForValue(band.level));
        ctx.lineTo(right, y.getPixelForValue(band.level));
        ctx.stroke();
        ctx.fillStyle = color("--ink");
        ctx.font = "12px system-ui, sans-serif";
        ctx.textAlign = "center";
        const lines = band.label.split("\n").filter((line) => ctx.measureText(line).width < right - left - 4);
        lines.forEach((line, k) => ctx.fillText(line, (left + right) / 2, area.top + 16 + 15 * k));
      }
      ctx.strokeStyle = color("--soft");
      for (const mark of data.marks) {
        ctx.setLineDash(mark.dotted ? [2, 4] : [6, 4]);
        ctx.beginPath();
        ctx.moveTo(x.getPixelForValue(mark.at), area.top);
        ctx.lineTo(x.getPixelForValue(mark.at), area.bottom);
        ctx.stroke();
      }
      ctx.restore();
    },
    afterDatasetsDraw(chart) {
      const { ctx, scales: { y } } = chart;
      ctx.save();
      chart.data.datasets.forEach((set, index) => {
        if (!chart.isDatasetVisible(index)) return;
        const [first] = chart.getDatasetMeta(index).data;
        if (data.named && first) {
          ctx.fillStyle = color("--ink");
          ctx.font = "12px system-ui, sans-serif";
          const is_right = first.x > (chart.chartArea.left + chart.chartArea.right) / 2;
          ctx.textAlign = is_right ? "right" : "left";
          ctx.fillText(set.label, first.x + (is_right ? -6 : 6), first.y + (set.showLine ? -6 : 16));
        }
        ctx.strokeStyle = set.borderColor;
        chart.getDatasetMeta(index).data.forEach((element, k) => {
          const point = set.data[k];
          if (point.low == null || point.high == null) return;
          ctx.beginPath();
          ctx.moveTo(element.x, y.getPixelForValue(point.low));
          ctx.lineTo(element.x, y.getPixelForValue(point.high));
          ctx.stroke();
        });
      });
      ctx.restore();
    },
  });

  const dataset = (data, series, index) => {
    const own = color("--c" + series.color);
    // A logarithmic axis has no zero: it is drawn at the bottom.
    const points = series.points.map(([x, y, low, high, hollow, note]) => ({
      x, y: y === 0 && data.y.log ? data.y.bounds.min : y, value: y, low, high, hollow, note,
    }));
    return {
      label: series.name,
      data: points,
      order: index,
      // With too many series, the legend shows the others after a click.
      hidden: data.series.length > 12 && index >= 6,
      showLine: series.line,
      borderColor: own,
      borderWidth: 1.5,
      borderDash: series.dashed ? [4, 3] : [],
      pointStyle: ["circle", "rectRot", "triangle", "rect"][Math.floor(index / 6) % 4],
      clip: 8,
      stepped: data.steps ? "after" : false,
      fill: data.steps && !series.dashed ? "origin" : false,
      backgroundColor: data.steps ? own + "55" : own,
      pointRadius: data.steps || (data.named && series.line) ? 0 : points.length > 150 ? 2 : 3,
      pointHoverRadius: 5,
      pointBackgroundColor: points.map((point) => (point.hollow ? color("--paper") : own)),
      pointBorderColor: own,
    };
  };

  const charts = [];
  const draw = (figure) => {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const points = data.series.flatMap((series) => series.points);
    const above = (values) => values.filter((value) => value > 0);
    data.x.whole = points.every(([x]) => Number.isInteger(x));
    data.x.bounds = ends(data.x, above(points.map(([x]) => x)), 1);
    data.y.bounds = ends(data.y, above(points.map(([, y]) => y)), 1.2);
    // Room for the names of the plateaus.
    if (data.bands.length) data.y.bounds = { ...data.y.bounds, max: data.y.bounds.max * 2.5 };
    const chart = new Chart(figure.querySelector("canvas"), {
      type: "scatter",
      data: { datasets: data.series.map((series, index) => dataset(data, series, index)) },
      plugins: [around(data)],
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        interaction: { mode: "nearest", axis: data.steps ? "x" : "xy", intersect: false },
        scales: { x: axis(data.x, data.x.bounds), y: axis(data.y, data.y.bounds) },
        plugins: {
          legend: { display: data.series.length > 1, labels: { color: color("--ink"), boxWidth: 12 } },
          tooltip: { callbacks: {
            title: (items) => text(data.x, items[0].raw.x),
            label: ({ dataset: set, raw }) => {
              const lines = [set.label + ": " + text(data.y, raw.value)];
              if (raw.low != null && raw.high != null)
                lines.push("95 % between " + text(data.y, raw.low) + " and " + text(data.y, raw.high));
              return raw.note ? lines.concat(raw.note) : lines;
            },
          } },
        },
      },
    });
    // For tests: the number of points.
    figure.dataset.drawn = data.series.reduce((sum, series) => sum + series.points.length, 0);
    return chart;
  };
  const drawAll = () => {
    while (charts.length) charts.pop().destroy();
    document.querySelectorAll("figure[data-chart]").forEach((figure) => charts.push(draw(figure)));
  };
  drawAll();
  // Filters the rows of a table by the text typed; the page of `tally discover` uses it.
  document.querySelectorAll("input[data-filters]").forEach((input) => input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    document.querySelectorAll("#" + input.dataset.filters + " tbody tr").forEach((row) => {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
  }));
  // Opens evidence when it is the target of a link.
  const open = () => {
    const place = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (place && place.querySelector("details")) place.querySelector("details").open = true;
  };
  addEventListener("hashchange", open);
  open();
  // Charts contain their colours: redraw them when the colour scheme changes, and for printing.
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  matchMedia("print").addEventListener("change", drawAll);
  addEventListener("beforeprint", drawAll);
  addEventListener("afterprint", drawAll);
})();
