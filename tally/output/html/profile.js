// The page of a profile, and of a difference of two: stacks, a table of functions, and what is known of the chosen one.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("profile-data").textContent);
  const byId = (id) => document.getElementById(id);
  const number = (n) => n.toLocaleString("en-US");
  const share = (n, event = 0) => data.totals[event] ? (100 * n / data.totals[event]).toFixed(2) + " %" : "";
  // Of a difference every number has one before it.
  const isChange = data.totals_before !== undefined;
  const change = (before, after) => (after > before ? "+" : "") + number(after - before);
  const percent = (before, after) => before === after ? "" : before === 0 ? "new" :
    after === 0 ? "gone" : (after > before ? "+" : "") + (100 * (after - before) / before).toFixed(2) + " %";
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
  const withCallees = (self) => {
    const sums = data.calls.map(self);
    for (let i = sums.length; i-- > 0;) if (data.calls[i].parent >= 0) sums[data.calls[i].parent] += sums[i];
    return sums;
  };
  const after = withCallees((call) => call.self);
  const before = isChange ? withCallees((call) => call.self_before) : after;
  // So that neither what is gone nor what is new is hidden.
  const inclusive = isChange ? withCallees((call) => Math.max(call.self, call.self_before)) : after;
  const nameOf = (i) => data.functions[data.calls[i].f].name;
  const hue = (name) => {
    let h = 0;
    for (const c of name) h = (h * 31 + c.codePointAt(0)) % 60;
    return h;
  };
  // Grey for what is the same; full at twice or half.
  const colourOf = (i) => {
    if (!isChange) return `hsl(${hue(nameOf(i))} var(--box))`;
    const part = (after[i] - before[i]) / Math.max(after[i], before[i], 1);
    return `color-mix(in srgb, ${part > 0 ? "var(--more)" : "var(--less)"} ${Math.round(Math.min(1, 2 * Math.abs(part)) * 100)}%, var(--same))`;
  };
  const titleOf = (i) => {
    const call = data.calls[i];
    if (!isChange)
      return `${nameOf(i)}: ${number(inclusive[i])} (${share(inclusive[i])}), itself ${number(call.self)}` +
             (data.sampled ? "" : call.calls ? `, called ${number(call.calls)} times` : ", inlined");
    return `${nameOf(i)}: ${number(before[i])} before, ${number(after[i])} after (${change(before[i], after[i])}), ` +
           `itself ${change(call.self_before, call.self)}` +
           (data.sampled ? "" : `, called ${number(call.calls_before)} times before, ${number(call.calls)} after`);
  };
  let zoomed = -1;
  const matches = () => byId("find").value.toLowerCase();

  function drawStacks() {
    const flame = byId("flame");
    if (!flame) return;
    flame.replaceChildren();
    const top = zoomed < 0 ? roots : [zoomed];
    const whole = zoomed >= 0 ? inclusive[zoomed] :
      isChange ? roots.reduce((sum, i) => sum + inclusive[i], 0) : data.totals[0];
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
      box.style.background = colourOf(i);
      if (wanted && nameOf(i).toLowerCase().includes(wanted)) box.classList.add("found");
      box.title = titleOf(i);
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
    byId("zoom").textContent = zoomed < 0 ? "" : isChange
      ? `Below ${nameOf(zoomed)}: ${number(before[zoomed])} before, ${number(after[zoomed])} after. `
      : `Below ${nameOf(zoomed)}: ${share(whole)} of the whole. `;
    byId("out").hidden = zoomed < 0;
  }

  // --- The table of functions. ---------------------------------------------------------------------------------------
  let sortBy = 0, shown = 50;
  const withCalls = data.calls.length > 0;
  const columns = [];
  if (isChange) {
    const changes = (name, key) => columns.push({name, key: (f) => Math.abs(key(f)[1] - key(f)[0]), cell: (f) => change(...key(f))});
    data.events.forEach((event, e) => {
      changes(event, (f) => [f.before[e], f.counts[e]]);
      if (e > 0) return;
      columns.push({name: "", key: (f) => Math.abs(f.counts[0] - f.before[0]) / Math.max(1, f.before[0]),
                    cell: (f) => f.only ? {before: "gone", after: "new"}[f.only] : percent(f.before[0], f.counts[0])});
      if (data.sampled) columns.push({name: "noise", key: (f) => f.noise ? 0 : 1, cell: (f) => f.noise ? "may be" : ""});
      columns.push({name: "before", key: (f) => f.before[0], cell: (f) => number(f.before[0])});
      columns.push({name: "after", key: (f) => f.counts[0], cell: (f) => number(f.counts[0])});
    });
    if (withCalls) changes("with callees", (f) => [f.inclusive_before, f.inclusive]);
    if (!data.sampled) changes("entered", (f) => [f.entered_before, f.entered]);
  } else {
    columns.push({name: "share", key: (f) => f.counts[0], cell: (f) => share(f.counts[0])});
    if (data.sampled) {
      columns.push({name: "95 % interval", key: (f) => f.counts[0], cell: (f) => f.interval});
      columns.push({name: "samples", key: (f) => f.samples, cell: (f) => number(f.samples)});
    }
    data.events.forEach((event, e) => columns.push({name: event, key: (f) => f.counts[e], cell: (f) => number(f.counts[e])}));
    if (withCalls) columns.push({name: "with callees", key: (f) => f.inclusive, cell: (f) => f.inclusive ? share(f.inclusive) : ""});
    if (!data.sampled) columns.push({name: "entered", key: (f) => f.entered, cell: (f) => f.entered ? number(f.entered) : ""});
  }

  function drawTable() {
    const wanted = matches();
    const rows = data.functions.map((f, i) => [f, i])
                     .filter(([f]) => !wanted || f.name.toLowerCase().includes(wanted) || f.object.toLowerCase().includes(wanted))
                     .sort(([a], [b]) => columns[sortBy].key(b) - columns[sortBy].key(a));
    const table = byId("functions");
    table.replaceChildren();
    const head = make("thead"), body = make("tbody");
    head.append(rowOf([...columns.map((c, i) => [(c.name || "change") + (i === sortBy ? " ▾" : ""), true, () => {
      sortBy = i;
      drawTable();
    }]), ["function"], ["file"]], true));
    for (const [f, i] of rows.slice(0, shown))
      body.append(rowOf([...columns.map((c) => [c.cell(f), true]), [f.name, false, () => choose(i)],
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
    const weight = (arc) => isChange ? Math.abs(arc.inclusive - arc.inclusive_before) : arc.inclusive;
    for (const arc of list.sort((a, b) => weight(b) - weight(a)).slice(0, 30))
      table.append(rowOf([[data.sampled ? "" : isChange ? change(arc.calls_before, arc.calls) : arc.calls ? number(arc.calls) : "inlined", true],
                          [isChange ? change(arc.inclusive_before, arc.inclusive) : share(arc.inclusive), true],
                          [data.functions[arc[other]].name, false, () => choose(arc[other])]]));
    return [table];
  }
  function choose(i) {
    const f = data.functions[i], part = byId("chosen");
    part.replaceChildren(make("h3", f.name));
    part.append(make("p", `${f.object}${f.place ? " · " + f.place : ""}: ` +
                          data.events.map((e, k) => isChange
                              ? `${number(f.before[k])} before, ${number(f.counts[k])} after (${change(f.before[k], f.counts[k])}) ${e}`
                              : `${number(f.counts[k])} ${e}`).join(", "), "soft"));
    part.append(...arcs("is called by", data.arcs.filter((a) => a.callee === i), "caller"));
    part.append(...arcs("calls", data.arcs.filter((a) => a.caller === i), "callee"));
    if (f.lines.length > 0) {
      const table = make("table");
      const heads = isChange ? data.events.flatMap((e) => [[e, true], ["before", true], ["after", true]])
                             : data.events.map((e) => [e, true]);
      table.append(rowOf([...heads, ["line"]], true));
      for (const [place, counts, was] of f.lines)
        table.append(rowOf([...counts.flatMap((n, k) => isChange ? [[change(was[k], n), true], [number(was[k]), true], [number(n), true]]
                                                                 : [[number(n), true]]), [place]]));
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
