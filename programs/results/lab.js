// Draws runs of tally lab: lanes of counters over the instructions, with marks of overflows, interrupts and handlers;
// shows the bits of the selected register, and its location in the program.
"use strict";
for (const lab of document.querySelectorAll(".lab")) {
  const data = JSON.parse(lab.querySelector("script[type='application/json']").textContent);
  const rows = [...lab.querySelectorAll(".happened tbody tr[data-at]")];
  const lines = new Map([...lab.querySelectorAll(".listing li")].map((line) => [line.dataset.address, line]));
  const addresses = [...lines.keys()].map((one) => BigInt(one)).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const points = data.timeline.points;
  const svgName = "http://www.w3.org/2000/svg";
  const width = 1000, left = 130, right = 12, laneHeight = 46, markLane = 26;
  const whole = [0, Math.max(data.instructions, 1)];
  let [from, to] = whole;

  // A counter that is set to overflow soon is shown as a negative number.
  const signed = (value, bit) => (value >= 2 ** (bit - 1) ? value - 2 ** bit : value);
  const lanes = data.timeline.counters
    .map((counter, index) => ({
      name: counter.name,
      event: counter.event,
      values: points.map((point) => signed(point[index + 1], counter.overflow_bit)),
    }))
    .filter((lane) => lane.values.some((value) => value !== lane.values[0]));

  // From a handler's entry to its exit, also for nested handlers.
  const handlers = [], open = [];
  for (const row of rows) {
    if (row.dataset.kind === "enter") open.push(+row.dataset.at);
    if (row.dataset.kind === "leave" && open.length) handlers.push([open.pop(), +row.dataset.at]);
  }
  while (open.length) handlers.push([open.pop(), whole[1]]);

  const make = (tag, attributes, parent, text) => {
    const one = document.createElementNS(svgName, tag);
    for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
    if (text !== undefined) one.textContent = text;
    parent.append(one);
    return one;
  };
  const x = (instruction) => left + ((instruction - from) / (to - from)) * (width - left - right);
  const instructionAt = (place) => from + ((place - left) / (width - left - right)) * (to - from);
  // 1, 2 or 5 times a power of ten, and at least `least`.
  const roundStep = (least) => {
    const ten = 10 ** Math.floor(Math.log10(Math.max(1, least)));
    return ten * [1, 2, 5, 10].find((factor) => factor * ten >= least);
  };
  const addTitle = (parent, text) => make("title", {}, parent, text);
  const short = (name) => name.replace(/^IA32_/, "");

  let svg, cursor;
  function draw() {
    const height = lanes.length * laneHeight + 2 * markLane + 24;
    const holder = lab.querySelector(".lanes");
    holder.textContent = "";
    svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" }, holder);
    addTitle(svg, "counters over instructions");
    const clip = `clip-${[...document.querySelectorAll(".lab")].indexOf(lab)}`;
    make("rect", { x: left, y: 0, width: width - left - right, height }, make("clipPath", { id: clip }, svg));
    lanes.forEach((lane, index) => drawCounter(lane, index * laneHeight, clip));
    const marks = lanes.length * laneHeight;
    drawHandlers(marks, clip);
    drawWrites(marks + markLane, clip);
    const axis = marks + 2 * markLane + 14;
    const step = roundStep((to - from) / 6);
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      const anchor = x(at) - left < 20 ? "start" : width - right - x(at) < 20 ? "end" : "middle";
      make("text", { x: x(at), y: axis, "text-anchor": anchor, class: "axis tick" }, svg, at.toLocaleString("en-US"));
    }
    cursor = make("line", { class: "cursor", y1: 0, y2: height, x1: -9, x2: -9 }, svg);
    listen();
  }

  function drawCounter(lane, top, clip) {
    const shown = lane.values.filter(visible);
    const low = Math.min(...shown), high = Math.max(...shown);
    const y = (value) => top + laneHeight - 8 - ((value - low) / (high - low || 1)) * (laneHeight - 16);
    make("line", { class: "lane", x1: 0, x2: width, y1: top + laneHeight, y2: top + laneHeight }, svg);
    make("text", { x: 4, y: top + 18 }, svg, short(lane.name));
    make("text", { x: 4, y: top + 33, class: "axis" }, svg, lane.event.slice(0, 20));
    const path = lane.values.map((value, i) => `${i ? "L" : "M"}${x(points[i][0]).toFixed(1)} ${y(value).toFixed(1)}`);
    const curve = make("path", { class: "curve", d: path.join(""), "clip-path": `url(#${clip})` }, svg);
    addTitle(curve, `${lane.name}: ${low.toLocaleString("en-US")} to ${high.toLocaleString("en-US")}`);
    for (const row of rows) {
      if (row.dataset.kind !== "overflow" || row.dataset.name !== lane.name) continue;
      const at = x(+row.dataset.at + 1);
      if (at < left || at > width - right) continue;
      const mark = make("line", { class: "overflow-mark", x1: at, x2: at, y1: top + 4, y2: top + laneHeight - 4 }, svg);
      addTitle(mark, `${lane.name} overflows at ${row.children[1].textContent}`);
      mark.addEventListener("pointerenter", () => choose(row, true));
    }
  }
  // Includes one point on each side, so that the curve continues to the edges.
  const visible = (_, i) =>
    (i + 1 >= points.length || points[i + 1][0] >= from) && (i === 0 || points[i - 1][0] <= to);

  function drawHandlers(top, clip) {
    make("text", { x: 4, y: top + 17 }, svg, "handlers");
    for (const [begin, end] of handlers) {
      const bar = make("rect", { class: "handler", x: x(begin), y: top + 5, height: markLane - 10,
        width: Math.max(x(end) - x(begin), 2), "clip-path": `url(#${clip})` }, svg);
      addTitle(bar, `a handler, ${(end - begin).toLocaleString("en-US")} instructions`);
    }
    for (const row of rows) {
      if (row.dataset.kind !== "pmi") continue;
      const at = x(+row.dataset.at);
      if (at < left || at > width - right) continue;
      const mark = make("path", { class: "asked", d: `M${at - 4} ${top + 2}h8l-4 7z` }, svg);
      addTitle(mark, row.children[2].textContent);
      mark.addEventListener("pointerenter", () => choose(row, true));
    }
  }

  function drawWrites(top) {
    make("text", { x: 4, y: top + 17 }, svg, "writes, reads");
    for (const row of rows) {
      if (!["write", "read", "rdpmc"].includes(row.dataset.kind)) continue;
      const at = x(+row.dataset.at);
      if (at < left || at > width - right) continue;
      const mark = make("circle", { class: "write-mark", cx: at, cy: top + 13, r: row.dataset.kind === "write" ? 4 : 2.5 }, svg);
      addTitle(mark, row.children[2].firstChild.textContent);
      mark.addEventListener("pointerenter", () => choose(row, true));
    }
  }

  let dragged = null;
  function listen() {
    const place = (event) => {
      const box = svg.getBoundingClientRect();
      return Math.min(Math.max(((event.clientX - box.left) / box.width) * width, left), width - right);
    };
    svg.addEventListener("pointerdown", (event) => {
      dragged = { begin: place(event), part: make("rect", { class: "chosen-part", y: 0, height: "100%", x: 0, width: 0 }, svg) };
    });
    svg.addEventListener("pointermove", (event) => {
      if (!dragged) return;
      const now = place(event);
      dragged.part.setAttribute("x", Math.min(now, dragged.begin));
      dragged.part.setAttribute("width", Math.abs(now - dragged.begin));
    });
    svg.addEventListener("pointerup", (event) => {
      if (!dragged) return;
      const ends = [dragged.begin, place(event)].sort((a, b) => a - b);
      dragged = null;
      if (ends[1] - ends[0] > 5) [from, to] = [instructionAt(ends[0]), Math.max(instructionAt(ends[1]), instructionAt(ends[0]) + 1)];
      draw();
    });
  }

  // The line that contains the instruction at an address.
  function lineOf(address) {
    const wanted = BigInt(address);
    let best = null;
    for (const one of addresses) {
      if (one > wanted) break;
      best = one;
    }
    return best === null ? null : [...lines.values()].find((line) => BigInt(line.dataset.address) === best);
  }

  function choose(row, scroll) {
    for (const one of lab.querySelectorAll(".here")) one.classList.remove("here");
    row.classList.add("here");
    if (scroll) within(row, lab.querySelector(".happened"));
    const line = lineOf(row.dataset.address);
    if (line) {
      line.classList.add("here");
      within(line, lab.querySelector(".listing"));
    }
    const at = x(+row.dataset.at);
    cursor.setAttribute("x1", at);
    cursor.setAttribute("x2", at);
    showBits(row);
  }
  // Scrolls the box, not the page.
  function within(one, box) {
    const top = one.offsetTop - box.offsetTop;
    if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 40) box.scrollTop = top - box.clientHeight / 3;
  }

  function showBits(row) {
    const panel = lab.querySelector(".bits");
    const register = data.registers[row.dataset.name];
    if (!register || !/^0x/.test(row.dataset.value)) return;
    panel.textContent = "";
    const value = BigInt(row.dataset.value);
    const head = document.createElement("p");
    head.append(Object.assign(document.createElement("b"), { textContent: row.dataset.name }),
      ` (${register.address}) = ${row.dataset.value}: ${register.text}`);
    const text = Object.assign(document.createElement("p"), { className: "soft field", textContent: "Point at a bit." });
    const table = document.createElement("table");
    const highest = Math.max(31, ...register.fields.map((field) => field.low + field.width - 1));
    for (let top = highest > 31 ? 63 : 31; top >= 0; top -= 32) {
      const numbers = table.insertRow(), cells = table.insertRow();
      for (let bit = top; bit > top - 32; --bit) {
        Object.assign(numbers.insertCell(), { textContent: bit, className: "number-of" });
        const field = register.fields.find((one) => bit >= one.low && bit < one.low + one.width);
        const cell = cells.insertCell();
        const isSet = (value >> BigInt(bit)) & 1n;
        cell.textContent = isSet;
        cell.className = (field ? "of-field" : "") + (isSet ? " is-set" : "");
        cell.dataset.bit = bit;
        cell.addEventListener("pointerenter", () => showField(table, text, field, bit, value));
      }
    }
    const scroll = Object.assign(document.createElement("div"), { className: "scroll" });
    scroll.append(table);
    panel.append(head, scroll, text);
  }
  function showField(table, text, field, bit, value) {
    for (const cell of table.querySelectorAll("td[data-bit]")) {
      const at = +cell.dataset.bit;
      cell.classList.toggle("pointed", field ? at >= field.low && at < field.low + field.width : at === bit);
    }
    if (!field) {
      text.textContent = `bit ${bit}: no field, ${(value >> BigInt(bit)) & 1n}`;
      return;
    }
    const content = (value >> BigInt(field.low)) & ((1n << BigInt(field.width)) - 1n);
    const where = field.width > 1 ? `bits ${field.low + field.width - 1} to ${field.low}` : `bit ${field.low}`;
    text.textContent = `${field.name} (${where}) = ${field.width > 1 ? "0x" + content.toString(16) : content}: ${field.text}`;
  }

  for (const row of rows) {
    row.addEventListener("pointerenter", () => choose(row, false));
    row.addEventListener("focus", () => choose(row, false));
  }
  lab.querySelector(".whole").addEventListener("click", () => {
    [from, to] = whole;
    draw();
  });
  draw();
}
