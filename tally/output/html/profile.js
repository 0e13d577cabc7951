// The page of a profile, or of a difference of two: flame graph, table of functions, and details of one function.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("profile-data").textContent);
  const byId = (id) => document.getElementById(id);
  // A difference has two numbers for each count.
  const isChange = data.views[0].totals_before !== undefined;
  let view = data.views[0], event = 0, zoomed = null;

  // --- Numbers and elements. -----------------------------------------------------------------------------------------
  const number = (n) => n.toLocaleString("en-US");
  const share = (n) => view.totals[event] ? (100 * n / view.totals[event]).toFixed(2) + " %" : "";
  const count = (n, e = event) => data.units[e] === "ns"
    ? (n / 1e6).toLocaleString("en-US", { maximumFractionDigits: 3 }) + " ms" : number(n);
  const change = (before, after, text = count) => (after > before ? "+" : "") + text(after - before);
  const percent = (before, after) => before === after ? "" : before === 0 ? "new" :
    after === 0 ? "removed" : (after > before ? "+" : "") + (100 * (after - before) / before).toFixed(2) + " %";
  const make = (tag, text, kind) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (kind) e.className = kind;
    return e;
  };
  const link = (text, onClick) => {
    const button = make("button", text, "link");
    button.type = "button";
    button.addEventListener("click", onClick);
    return button;
  };
  // A cell is [text or element, class, action on click].
  const rowOf = (cells, tag = "td") => {
    const tr = make("tr");
    for (const [text, kind, onClick] of cells) {
      const isElement = text instanceof Node, cell = make(tag, onClick || isElement ? undefined : text, kind);
      if (isElement) cell.append(text);
      if (kind === "number" && tag === "td" && /^0( ms)?$/.test(text)) cell.classList.add("zero");
      if (onClick) cell.append(link(text, onClick));
      tr.append(cell);
    }
    return tr;
  };
  const scroller = (table) => {
    const box = make("div", undefined, "scroll");
    box.append(table);
    return box;
  };
  const wanted = () => byId("find").value.toLowerCase();
  const placeOf = (f) => f.object + (f.place ? " · " + f.place : "");

  // --- Causes of cycles. ---------------------------------------------------------------------------------------------
  const causes = data.causes ?? [];
  const causeColours = ["#3f9b54", "#c9a227", "#c8443a", "#e07b28", "#9ec5f0", "#6aa5f2", "#3d7fd6", "#1f5fae", "#7443b8", "#b06fb5", "#6b7280"];
  // The events with columns of their own: a cause only if it is the chosen event.
  const ownEvents = () => data.events.map((_, k) => k).filter((k) => k === event || !causes.some((cause) => cause.event === k));
  const causeShare = (counts, cause) => counts[data.cycles] ? 100 * counts[cause.event] / counts[data.cycles] : 0;
  const mainCause = (counts) => causes.reduce((most, cause) => counts[cause.event] > counts[most.event] ? cause : most);
  const mainCauseText = (counts) => counts[data.cycles] ? `${mainCause(counts).name} ${causeShare(counts, mainCause(counts)).toFixed(0)} %` : "";
  function causeBar(counts) {
    const bar = make("div", undefined, "causes");
    if (!counts || !counts[data.cycles]) return bar;
    causes.forEach((cause, i) => {
      const segment = make("span");
      segment.style.width = causeShare(counts, cause) + "%";
      segment.style.background = causeColours[i];
      bar.append(segment);
    });
    bar.title = causes.map((cause) => [cause.name, causeShare(counts, cause)]).filter(([, percent]) => percent >= .05)
      .sort((a, b) => b[1] - a[1]).map(([name, percent]) => `${name} ${percent.toFixed(1)} %`).join(", ");
    return bar;
  }
  if (causes.length > 0) {
    const legend = make("p", "Causes of cycles: ", "soft legend");
    causes.forEach((cause, i) => {
      const swatch = make("span");
      swatch.style.background = causeColours[i];
      legend.append(swatch, `${cause.name} ${causeShare(data.views[0].totals, cause).toFixed(1)} %`);
    });
    byId("chosen").before(legend);
  }

  // --- Boxes of the flame graph. -------------------------------------------------------------------------------------
  // weigh() of a call is [before, after, width]; of a profile all three are the same.
  const weigh = (before, after) => isChange ? [before, after, Math.max(before, after)] : [after, after, after];
  const add = (a, b) => a.map((n, k) => n + b[k]);
  const selfOf = (call) => weigh(isChange ? call.self_before[event] : 0, call.self[event]);
  const spentOf = (call) => causes.map((cause) => call.self[cause.event]);  // a box's cycles by cause are sums of these
  let roots = [];

  // Callees below their callers.
  function callTree() {
    const calls = view.calls, sums = calls.map(selfOf), spent = calls.map(spentOf);
    const children = calls.map(() => []), top = [];
    for (let i = calls.length; i-- > 0;) {
      const parent = calls[i].parent;
      if (parent < 0) continue;
      sums[parent] = add(sums[parent], sums[i]);
      spent[parent] = add(spent[parent], spent[i]);
    }
    calls.forEach((call, i) => (call.parent < 0 ? top : children[call.parent]).push(i));
    const boxes = (list, parent) => list.map((i) => {
      const box = { f: calls[i].f, parent, weight: sums[i], spent: spent[i], call: calls[i] };
      box.children = () => boxes(children[i], box);
      return box;
    }).sort((a, b) => data.functions[a.f].name < data.functions[b.f].name ? -1 : 1);
    return boxes(top, null);
  }

  // Callers below the functions that counted: a box has the counts of the function at the top.
  function invertedTree() {
    const calls = view.calls, deepest = 100;
    const boxes = (entries, parent, depth) => {
      const groups = new Map();
      for (const [i, weight, spent] of entries) {
        const f = calls[i].f;
        if (!groups.has(f)) groups.set(f, { f, parent, weight: [0, 0, 0], spent: causes.map(() => 0), entries: [] });
        const box = groups.get(f);
        box.weight = add(box.weight, weight);
        box.spent = add(box.spent, spent);
        if (calls[i].parent >= 0 && depth < deepest) box.entries.push([calls[i].parent, weight, spent]);
      }
      for (const box of groups.values()) box.children = () => boxes(box.entries, box, depth + 1);
      return [...groups.values()].sort((a, b) => b.weight[2] - a.weight[2]);
    };
    return boxes(calls.map((call, i) => [i, selfOf(call), spentOf(call)]).filter(([, weight]) => weight[2] !== 0), null, 0);
  }

  const hue = (name) => {
    let h = 0;
    for (const c of name) h = (h * 31 + c.codePointAt(0)) % 60;
    return h;
  };
  // With causes of cycles: that of the box's main cause. In a difference, grey: unchanged; the full colour: doubled or
  // halved.
  const colourOf = (box) => {
    const most = Math.max(0, ...box.spent);
    if (most > 0) return `color-mix(in srgb, ${causeColours[box.spent.indexOf(most)]} 60%, var(--same))`;
    if (!isChange) return `hsl(${hue(data.functions[box.f].name)} var(--box))`;
    const [before, after] = box.weight;
    const part = (after - before) / Math.max(after, before, 1);
    return `color-mix(in srgb, ${part > 0 ? "var(--more)" : "var(--less)"} ${Math.round(Math.min(1, 2 * Math.abs(part)) * 100)}%, var(--same))`;
  };
  const sizeOf = ([before, after]) => isChange
    ? `${count(before)} before, ${count(after)} after (${change(before, after)})` : `${count(after)} (${share(after)})`;
  const titleOf = (box) => {
    let text = `${data.functions[box.f].name}: ${sizeOf(box.weight)} ${data.events[event]}`;
    const most = Math.max(0, ...box.spent);
    if (most > 0)
      text += `, ${(100 * most / box.spent.reduce((a, b) => a + b)).toFixed(0)} % of the cycles ${causes[box.spent.indexOf(most)].name}`;
    const call = box.call;
    if (!call) return text;
    text += isChange ? `, self ${change(call.self_before[event], call.self[event])}` : `, self ${count(call.self[event])}`;
    if (data.sampled) return text;
    return text + (isChange ? `, called ${number(call.calls_before)} times before, ${number(call.calls)} after`
      : call.calls ? `, called ${number(call.calls)} times` : ", inlined");
  };
  // The function's own name, without scopes, template arguments and parameters: "_M_insert".
  const ownName = (name) => {
    let depth = 0, from = 0, end = name.length;
    for (let i = 0; i < name.length; i++) {
      if (name.startsWith("operator", i)) break;
      if (name[i] === "(" && depth === 0 && i > from) { end = i; break; }
      if (name[i] === "<" || name[i] === "(") depth++;
      else if (name[i] === ">" || name[i] === ")") depth--;
      else if (depth === 0 && name[i] === " ") from = i + 1;
      else if (depth === 0 && name.startsWith("::", i)) from = i + 2;
    }
    return name.slice(from, end).replace(/<.*>$/, "") || name;
  };
  const labelOf = (box) => ownName(data.functions[box.f].name) + " " + (isChange ? percent(box.weight[0], box.weight[1]) : share(box.weight[1]));

  function drawBox(flame, box, depth, from, whole) {
    const name = data.functions[box.f].name, button = make("button", labelOf(box), "box");
    button.type = "button";
    button.style.left = 100 * from / whole + "%";
    button.style.width = 100 * box.weight[2] / whole + "%";
    button.style.top = depth * 1.25 + "rem";
    button.style.background = colourOf(box);
    if (wanted() && name.toLowerCase().includes(wanted())) button.classList.add("found");
    button.title = titleOf(box);
    button.addEventListener("click", () => {
      zoomed = zoomed === box ? box.parent : box;
      drawStacks();
      choose(box.f);
    });
    flame.append(button);
  }
  function drawStacks() {
    const flame = byId("flame");
    if (!flame) return;
    flame.replaceChildren();
    const width = (list) => list.reduce((sum, box) => sum + box.weight[2], 0);
    const top = zoomed ? [zoomed] : roots;
    const whole = Math.max(width(top), zoomed || isChange ? 0 : view.totals[event]) || 1;
    let deepest = 0;
    const draw = (boxes, depth, from) => {
      for (const box of boxes) {
        if (box.weight[2] >= whole / 1500) {
          deepest = Math.max(deepest, depth);
          drawBox(flame, box, depth, from, whole);
          draw(box.children(), depth + 1, from);
        }
        from += box.weight[2];
      }
    };
    draw(top, 0, 0);
    flame.style.height = (deepest + 1) * 1.25 + "rem";
    byId("zoom").textContent = zoomed ? `Zoomed to ${data.functions[zoomed.f].name}: ${sizeOf(zoomed.weight)}. ` : "";
    byId("zoom-line").hidden = !zoomed;
  }

  // --- Tables of functions. ------------------------------------------------------------------------------------------
  const nameColumn = { name: "function" };

  // A table that is sorted by the column that is clicked. `columnsOf` lists the columns, `rowsOf` the rows as
  // [row, name, location, action on a click at the name, another text to find].
  function sortable(id, columnsOf, rowsOf) {
    let sortBy = 0, shown = 50;
    function draw() {
      const columns = columnsOf(), words = wanted();
      if (sortBy >= columns.length || columns[sortBy] === nameColumn) sortBy = 0;
      const sorted = columns[sortBy];
      const rows = rowsOf().filter(([, name, , , object]) => !words || name.toLowerCase().includes(words) || object.toLowerCase().includes(words))
                           .sort(([a], [b]) => sorted.key(b) - sorted.key(a));
      const head = make("thead"), body = make("tbody");
      byId(id).replaceChildren(head, body);
      head.append(rowOf([...columns.map((c, i) => c === nameColumn ? [c.name, "name"] : [c.name + (c === sorted ? " ▾" : ""), "number", () => {
        sortBy = i;
        draw();
      }]), ["file"]], "th"));
      for (const [r, name, location, onClick] of rows.slice(0, shown))
        body.append(rowOf([...columns.map((c) => c === nameColumn ? [name, "name", onClick] : [c.cell(r), "number"]), [location, "file"]]));
      byId("more-" + id).hidden = rows.length <= shown;
      byId("more-" + id).textContent = `Show ${number(rows.length - shown)} more`;
    }
    byId("more-" + id).addEventListener("click", () => { shown += 500; draw(); });
    return draw;
  }

  function columnsOfChange(withCalls) {
    const e = event, list = [];
    const changes = (name, key, text) => list.push({ name, key: (r) => Math.abs(key(r)[1] - key(r)[0]), cell: (r) => change(...key(r), text) });
    changes(data.events[e], (r) => [r.before[e], r.counts[e]]);
    list.push({ name: "change", key: (r) => Math.abs(r.counts[e] - r.before[e]) / Math.max(1, r.before[e]),
                cell: (r) => r.only ? { before: "removed", after: "new" }[r.only] : percent(r.before[e], r.counts[e]) });
    if (data.sampled && e === 0) list.push({ name: "noise", key: (r) => r.noise ? 0 : 1, cell: (r) => r.noise ? "maybe" : "" });
    list.push(nameColumn);
    list.push({ name: "before", key: (r) => r.before[e], cell: (r) => count(r.before[e]) });
    list.push({ name: "after", key: (r) => r.counts[e], cell: (r) => count(r.counts[e]) });
    if (withCalls) changes("inclusive", (r) => [r.inclusive_before[e], r.inclusive[e]]);
    if (!data.sampled) changes("entered", (r) => [r.entered_before, r.entered], number);
    return list;
  }
  function columnsOfProfile(withCalls) {
    const e = event, list = [{ name: "self", key: (r) => r.counts[e], cell: (r) => share(r.counts[e]) }];
    if (withCalls) list.push({ name: "inclusive", key: (r) => r.inclusive[e], cell: (r) => r.inclusive[e] ? share(r.inclusive[e]) : "" });
    list.push(nameColumn);
    if (data.sampled) {
      if (view.rows.some((r) => r.intervals)) list.push({ name: "95 % interval", key: (r) => r.counts[e], cell: (r) => r.intervals?.[e] ?? "" });
      list.push({ name: "samples", key: (r) => r.samples[e], cell: (r) => number(r.samples[e]) });
    }
    for (const k of ownEvents()) list.push({ name: data.events[k], key: (r) => r.counts[k], cell: (r) => count(r.counts[k], k) });
    const ipc = (r) => r.counts[data.cycles] > 0 ? r.counts[data.instructions] / r.counts[data.cycles] : 0;
    if (causes.length > 0) {
      if (data.instructions !== null) list.push({ name: "IPC", key: ipc, cell: (r) => ipc(r) ? ipc(r).toFixed(2) : "" });
      list.push({ name: "causes", key: (r) => r.counts[data.cycles], cell: (r) => causeBar(r.counts) });
      list.push({ name: "main cause", key: (r) => causeShare(r.counts, mainCause(r.counts)), cell: (r) => mainCauseText(r.counts) });
    }
    if (!data.sampled && view.rows.some((r) => r.entered !== undefined))
      list.push({ name: "entered", key: (r) => r.entered, cell: (r) => r.entered ? number(r.entered) : "" });
    return list;
  }

  // Those of Python are of all threads.
  function columnsOfPython() {
    const part = (n) => data.views[0].totals[event] ? (100 * n / data.views[0].totals[event]).toFixed(2) + " %" : "";
    const inclusive = (r) => r.inclusive ? r.inclusive[event] : -1;
    return [{ name: "self", key: (r) => r.counts[event], cell: (r) => part(r.counts[event]) },
            { name: "inclusive", key: inclusive, cell: (r) => r.inclusive ? part(inclusive(r)) : "" },
            nameColumn,
            ...data.events.map((name, k) => ({ name, key: (r) => r.counts[k], cell: (r) => count(r.counts[k], k) })),
            { name: "inclusive", key: inclusive, cell: (r) => r.inclusive ? count(inclusive(r)) : "" },
            { name: "calls", key: (r) => r.calls ?? -1, cell: (r) => r.calls === undefined ? "" : number(r.calls) }];
  }

  const tables = [sortable("functions", () => (isChange ? columnsOfChange : columnsOfProfile)(view.calls.length > 0), () => view.rows.map((r) => {
    const f = data.functions[r.f];
    return [r, f.name, placeOf(f), () => choose(r.f, true), f.object];
  }))];
  if (data.python?.length > 0)
    tables.push(sortable("python", columnsOfPython, () => data.python.map((r) => [r, r.name, r.place, undefined, r.place])));
  const drawTables = () => tables.forEach((draw) => draw());

  // --- One function: its callers, callees, lines and instructions. ----------------------------------------------------
  let chosen = 0;

  function arcsOf(title, list, other) {
    const box = make("div");
    box.append(make("h4", title));
    if (list.length === 0) box.append(make("p", "none", "soft"));
    if (list.length === 0) return box;
    const table = make("table");
    const row = (calls, ...cells) => data.sampled ? cells : [calls, ...cells];
    table.append(rowOf(row(["calls", "number"], ["inclusive", "number"], ["function", "name"]), "th"));
    const weight = (arc) => isChange ? Math.abs(arc.inclusive[event] - arc.inclusive_before[event]) : arc.inclusive[event];
    for (const arc of list.sort((a, b) => weight(b) - weight(a)).slice(0, 30))
      table.append(rowOf(row(
        [isChange ? change(arc.calls_before, arc.calls, number) : arc.calls ? number(arc.calls) : "inlined", "number"],
        [isChange ? change(arc.inclusive_before[event], arc.inclusive[event]) : share(arc.inclusive[event]), "number"],
        [data.functions[arc[other]].name, "name", () => choose(arc[other])])));
    box.append(scroller(table));
    return box;
  }

  // Rows of [text before the code, counts, code]; the rows that counted most are shaded.
  function codeTable(heading, rows, cellsOf, weightOf) {
    const table = make("table", undefined, "code");
    const heads = isChange ? [[data.events[event], "number"], ["before", "number"], ["after", "number"]]
      : [...ownEvents().map((k) => [data.events[k], "number"]), ...causes.length > 0 ? [["causes"], ["main cause"]] : []];
    table.append(rowOf([...heads, [heading], ["", "source"]], "th"));
    const most = Math.max(1, ...rows.map(weightOf));
    for (const row of rows) {
      const tr = rowOf(cellsOf(row));
      tr.style.background = `color-mix(in srgb, var(--more) ${Math.round(45 * weightOf(row) / most)}%, transparent)`;
      table.append(tr);
    }
    return scroller(table);
  }
  const numbersOf = (counts, before) => isChange
    ? [change(before[event], counts[event]), count(before[event]), count(counts[event])].map((text) => [text, "number"])
    : [...ownEvents().map((k) => [counts ? count(counts[k], k) : "", "number"]),
       ...causes.length > 0 ? [[causeBar(counts)], [counts ? mainCauseText(counts) : ""]] : []];
  function linesOf(f) {
    const weight = ([, counts, , before]) => !counts ? 0 : isChange ? Math.abs(counts[event] - before[event]) : counts[event];
    return codeTable("line", f.lines, ([place, counts, text, before]) =>
      [...numbersOf(counts, before), [place, "place"], [text, "source"]], weight);
  }
  function instructionsOf(f) {
    const details = make("details");
    details.append(make("summary", "Disassembly"));
    details.addEventListener("toggle", () => {
      if (details.children.length === 1)
        details.append(codeTable("address", f.code, ([address, counts, text]) => [...numbersOf(counts), [address, "place"], [text, "source"]],
                                 ([, counts]) => counts ? counts[event] : 0));
    });
    return details;
  }

  function choose(i, scroll) {
    chosen = i;
    const f = data.functions[i], part = byId("chosen"), row = view.rows.find((r) => r.f === i);
    part.replaceChildren(make("h3", f.name));
    const counts = !row ? ["not executed by this thread"]
      : isChange ? [`${sizeOf([row.before[event], row.counts[event]])} ${data.events[event]}`]
      : [...ownEvents().map((k) => `${count(row.counts[k], k)} ${data.events[k]}`), ...causes.length > 0 ? [mainCauseText(row.counts)] : []];
    part.append(make("p", `${placeOf(f)}: ${counts.join(", ")}`, "soft"));
    if (view.arcs.length > 0) {
      const both = make("div", undefined, "columns");
      both.append(arcsOf("Callers", view.arcs.filter((a) => a.callee === i), "caller"),
                  arcsOf("Callees", view.arcs.filter((a) => a.caller === i), "callee"));
      part.append(both);
    }
    if (f.lines.length > 0)
      part.append(make("h4", view === data.views[0] ? "Lines" : "Lines, all threads"), linesOf(f));
    if (f.code?.length > 0) part.append(instructionsOf(f));
    if (scroll) part.scrollIntoView({ block: "start" });
  }

  // --- Choices: event and thread. ------------------------------------------------------------------------------------
  function chooser(name, options, onChange) {
    if (options.length < 2) return;
    const label = make("label", name + " "), select = make("select");
    select.id = name;
    options.forEach((text, i) => select.append(Object.assign(make("option", text), { value: i })));
    select.addEventListener("change", () => { onChange(+select.value); refresh(); });
    label.append(select);
    byId("choices").append(label);
  }
  function refresh() {
    zoomed = null;
    roots = byId("inverted")?.checked ? invertedTree() : callTree();
    drawTables();
    drawStacks();
    if (data.functions.length > 0) choose(chosen);
  }

  chooser("event", data.events, (i) => { event = i; });
  chooser("thread", data.views.map((one) => one.name), (i) => { view = data.views[i]; });
  byId("inverted")?.addEventListener("change", refresh);
  byId("find").addEventListener("input", () => { drawTables(); drawStacks(); });
  byId("out")?.addEventListener("click", () => { zoomed = null; drawStacks(); });
  refresh();
})();
