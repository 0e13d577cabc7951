// The page of a profile: stacks, a table of functions, and what is known of the one that is chosen.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("profile-data").textContent);
  const byId = (id) => document.getElementById(id);
  const number = (n) => n.toLocaleString("en-US");
  const share = (n, event = 0) => data.totals[event] ? (100 * n / data.totals[event]).toFixed(2) + " %" : "";
  const make = (tag, text, cls) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (cls) e.className = cls;
    return e;
  };
  const rowOf = (cells, head) => {
    const tr = make("tr");
    for (const [text, isNumber, onClick] of cells) {
      const cell = make(head ? "th" : "td", undefined, isNumber ? "number" : "");
      if (onClick) {
        const button = make("button", text, "link");
        button.type = "button";
        button.addEventListener("click", onClick);
        cell.append(button);
      } else {
        cell.textContent = text;
      }
      tr.append(cell);
    }
    return tr;
  };

  // --- Stacks: a box for each call, as wide as what was counted up to its return. -----------------------------------
  const children = data.calls.map(() => []);
  const roots = [];
  data.calls.forEach((call, i) => (call.parent < 0 ? roots : children[call.parent]).push(i));
  const inclusive = data.calls.map((call) => call.self);
  for (let i = data.calls.length; i-- > 0;) if (data.calls[i].parent >= 0) inclusive[data.calls[i].parent] += inclusive[i];
  const nameOf = (i) => data.functions[data.calls[i].f].name;
  const hue = (name) => {
    let h = 0;
    for (const c of name) h = (h * 31 + c.codePointAt(0)) % 60;
    return h;
  };
  let zoomed = -1;
  const matches = () => byId("find").value.toLowerCase();

  function drawStacks() {
    const flame = byId("flame");
    if (!flame) return;
    flame.replaceChildren();
    const top = zoomed < 0 ? roots : [zoomed];
    const whole = zoomed < 0 ? data.totals[0] : inclusive[zoomed];
    const wanted = matches();
    let deepest = 0;
    const least = whole / 1500;
    const draw = (i, depth, from) => {
      if (inclusive[i] < least) return;
      deepest = Math.max(deepest, depth);
      const box = make("button", nameOf(i), "box");
      box.type = "button";
      box.style.left = 100 * from / whole + "%";
      box.style.width = 100 * inclusive[i] / whole + "%";
      box.style.top = depth * 1.25 + "rem";
      box.style.background = `hsl(${hue(nameOf(i))} var(--box))`;
      if (wanted && nameOf(i).toLowerCase().includes(wanted)) box.classList.add("found");
      box.title = `${nameOf(i)}: ${number(inclusive[i])} (${share(inclusive[i])}), itself ${number(data.calls[i].self)}, ` +
                  `called ${number(data.calls[i].calls)} times`;
      box.addEventListener("click", () => {
        zoomed = zoomed === i ? data.calls[i].parent : i;
        drawStacks();
        choose(data.calls[i].f);
      });
      flame.append(box);
      let at = from;
      for (const child of [...children[i]].sort((a, b) => nameOf(a) < nameOf(b) ? -1 : 1)) {
        draw(child, depth + 1, at);
        at += inclusive[child];
      }
    };
    let at = 0;
    for (const i of top) {
      draw(i, 0, at);
      at += inclusive[i];
    }
    flame.style.height = (deepest + 1) * 1.25 + "rem";
    byId("zoom").textContent = zoomed < 0 ? "" : `Below ${nameOf(zoomed)}: ${share(whole)} of the whole. `;
    byId("out").hidden = zoomed < 0;
  }

  // --- The table of functions. ---------------------------------------------------------------------------------------
  let sortBy = 0, shown = 50;
  const withCalls = data.calls.length > 0;
  const columns = [];
  data.events.forEach((event, e) => columns.push({name: event, key: (f) => f.counts[e], cell: (f) => number(f.counts[e])}));
  if (withCalls) columns.push({name: "with callees", key: (f) => f.inclusive, cell: (f) => f.inclusive ? share(f.inclusive) : ""});
  columns.push({name: "entered", key: (f) => f.entered, cell: (f) => number(f.entered)});

  function drawTable() {
    const wanted = matches();
    const rows = data.functions.map((f, i) => [f, i])
                     .filter(([f]) => !wanted || f.name.toLowerCase().includes(wanted) || f.object.toLowerCase().includes(wanted))
                     .sort(([a], [b]) => columns[sortBy].key(b) - columns[sortBy].key(a));
    const table = byId("functions");
    table.replaceChildren();
    const head = make("thead"), body = make("tbody");
    head.append(rowOf([["share", true], ...columns.map((c, i) => [c.name + (i === sortBy ? " ▾" : ""), true, () => {
      sortBy = i;
      drawTable();
    }]), ["function"], ["file"]], true));
    for (const [f, i] of rows.slice(0, shown))
      body.append(rowOf([[share(f.counts[0]), true], ...columns.map((c) => [c.cell(f), true]), [f.name, false, () => choose(i)],
                         [f.object + (f.place ? " · " + f.place : "")]]));
    table.append(head, body);
    byId("more").hidden = rows.length <= shown;
    byId("more").textContent = `Show ${rows.length - shown} more`;
  }

  // --- One function: its lines, who calls it, whom it calls. ----------------------------------------------------------
  function arcs(title, list, other) {
    if (list.length === 0) return [];
    const table = make("table");
    table.append(rowOf([["calls", true], ["up to their return", true], [title]], true));
    for (const arc of list.sort((a, b) => b.inclusive - a.inclusive).slice(0, 30))
      table.append(rowOf([[number(arc.calls), true], [share(arc.inclusive), true],
                          [data.functions[arc[other]].name, false, () => choose(arc[other])]]));
    return [table];
  }
  function choose(i) {
    const f = data.functions[i], part = byId("chosen");
    part.replaceChildren(make("h3", f.name));
    part.append(make("p", `${f.object}${f.place ? " · " + f.place : ""}: ` +
                          data.events.map((e, k) => `${number(f.counts[k])} ${e}`).join(", "), "soft"));
    part.append(...arcs("is called by", data.arcs.filter((a) => a.callee === i), "caller"));
    part.append(...arcs("calls", data.arcs.filter((a) => a.caller === i), "callee"));
    if (f.lines.length > 0) {
      const table = make("table");
      table.append(rowOf([...data.events.map((e) => [e, true]), ["line"]], true));
      for (const [place, counts] of f.lines) table.append(rowOf([...counts.map((n) => [number(n), true]), [place]]));
      part.append(table);
    }
  }

  byId("find").addEventListener("input", () => { drawTable(); drawStacks(); });
  byId("more").addEventListener("click", () => { shown += 500; drawTable(); });
  if (byId("out")) byId("out").addEventListener("click", () => { zoomed = -1; drawStacks(); });
  drawTable();
  drawStacks();
  if (data.functions.length > 0) choose(0);
})();
