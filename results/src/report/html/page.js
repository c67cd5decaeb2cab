"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const byId = (id) => document.getElementById(id);

  // Light or dark: as the system says until somebody says otherwise.
  const remembered = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
  if (remembered === "light" || remembered === "dark") root.dataset.theme = remembered;
  byId("theme").addEventListener("click", () => {
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* a page without storage */ }
  });

  // Tables: sorted by a click on a heading, saved as CSV.
  const value = (cell, isName) => {
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v.split(";")[0]);
    return isName ? cell.textContent : null;
  };
  const compared = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b
      : String(a).localeCompare(String(b), "en", { numeric: true });
  const sort = (head) => {
    const table = head.closest("table");
    const column = [...head.parentNode.children].indexOf(head);
    const isName = head.classList.contains("name");
    // Numbers begin with the greatest, names with the first.
    const before = head.getAttribute("aria-sort");
    const order = before === null ? (isName ? "ascending" : "descending")
      : before === "ascending" ? "descending" : "ascending";
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const rows = [...table.tBodies[0].rows].map((row) => [value(row.cells[column], isName), row]);
    const sign = order === "ascending" ? 1 : -1;
    rows.sort(([a], [b]) => {
      // What is not known stays last.
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * compared(a, b);
    });
    table.tBodies[0].append(...rows.map(([, row]) => row));
  };
  for (const head of document.querySelectorAll("figure.table thead th")) {
    head.firstElementChild.addEventListener("click", () => sort(head));
  }
  const quoted = (text) => {
    // A spreadsheet must not take a name for a formula.
    const safe = /^[=+\-@\t\r]/.test(text) && !/^-?[0-9.]+$/.test(text) ? "'" + text : text;
    return /[",\n\r]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
  };
  const csv = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const isInterval = (at) => heads[at].classList.contains("interval");
    const names = heads.flatMap((head, at) => {
      const name = head.textContent.trim() || "rank";
      return isInterval(at) ? [name + " low", name + " high"] : [name];
    });
    const lines = [...table.tBodies[0].rows].map((row) => [...row.cells].flatMap((cell, at) => {
      const values = (cell.dataset.v ?? "").split(";");
      if (isInterval(at)) return values.length === 2 ? values : ["", ""];
      if (cell.dataset.v !== undefined) return values;
      return [cell.textContent === "–" ? "" : cell.textContent];
    }));
    return [names, ...lines].map((line) => line.map(quoted).join(",") + "\r\n").join("");
  };
  for (const button of document.querySelectorAll("button.csv")) {
    button.title = "Save this table as CSV";
    button.addEventListener("click", () => {
      const id = button.dataset.table;
      const text = csv(byId(id).querySelector("table"));
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
      link.download = id + ".csv";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  // Replays.
  const data = byId("replay-data");
  const viewer = byId("viewer");
  if (!data || !viewer) return;
  const replays = JSON.parse(data.textContent);
  const slider = byId("viewer-slider");
  let replay = null;
  let at = 0;
  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  // What stands on a cell: a disc in its colour, a slab as wide as its size, or letters; in a
  // table also a number with as many dots, or cards.
  const drawn = ({ mark, name, colour, is_king, width, number, cards, is_code }) => {
    if (number !== undefined || cards) {
      const row = element("span", undefined, "row-of");
      const look = (card) => !card ? "card none" : is_code ? "card k-" + card : "card";
      if (cards) row.append(...cards.map((card) => element("span", card ?? "", look(card))));
      else row.append(element("span", number, "number"), element("span", "\u25cf".repeat(number), "bar"));
      row.title = name;
      return row;
    }
    const side = colour?.startsWith("side");
    const shape = width ? "slab" : colour && !side ? "disc" : "letters";
    const made = element("span", mark, "piece " + shape);
    if (colour) made.classList.add("k-" + colour);
    if (is_king) made.classList.add("king");
    if (width) made.style.width = width + "%";
    made.title = name;
    return made;
  };
  const changedAt = (place, step, before) =>
    before && (before.cells[place] ?? 0) !== (step.cells[place] ?? 0);
  // Cells are counted on from those of the boards before it.
  const squares = (board, from, step, before) => {
    const { columns, rows, pieces, gaps, walls_right, walls_above, is_table, is_lattice } = board;
    const table = element("table", undefined, is_table ? "grid-board listed" : "grid-board");
    const isDense = !is_table && (columns.length > 9 || pieces.some(({ mark, width }) => !width && mark.length > 2));
    if (isDense) table.classList.add("dense");
    if (gaps) table.classList.add("gapped");
    if (walls_right) table.classList.add("walled");
    if (is_lattice) table.classList.add("lattice");
    rows.forEach((label, row) => {
      const line = element("tr");
      line.append(element("th", label));
      columns.forEach((_, column) => {
        const place = row * columns.length + column;
        const piece = step.cells[from + place] ?? 0;
        const cell = element("td", undefined, gaps?.includes(place) ? "gap" : undefined);
        if (walls_right?.includes(place)) cell.classList.add("wall-right");
        if (walls_above?.includes(place)) cell.classList.add("wall-above");
        if (is_lattice) cell.classList.add(row % 2 ? "down" : "dots", column % 2 ? "across" : "dot");
        const isLine = is_lattice && (row % 2 === 0 || column % 2 === 0);
        if (isLine) cell.classList.toggle("line", piece !== 0);
        else if (piece !== 0) cell.append(drawn(pieces[piece]));
        if (changedAt(from + place, step, before)) cell.classList.add("changed");
        line.append(cell);
      });
      table.append(line);
    });
    const last = element("tr");
    last.append(element("th"), ...columns.map((label) => element("th", label)));
    table.append(last);
    return table;
  };
  // The name space of SVG, as the browser knows it.
  const svgSpace =
    new DOMParser().parseFromString("<svg></svg>", "text/html").body.firstElementChild.namespaceURI;
  const svg = (name, attributes, text) => {
    const made = document.createElementNS(svgSpace, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  // Each row is shifted by half a cell against the one above it.
  const hexagons = ({ columns, rows, pieces, shift, gaps }, from, step, before) => {
    const [pitch, high, radius] = [36, 31.2, 20.8];
    const left = (row) => 40 + (shift > 0 ? row : rows.length - row) * pitch / 2;
    const top = (row) => 24 + row * high;
    const board = svg("svg", {
      class: "hex-board", role: "img", width: 40 + (columns.length + rows.length / 2) * pitch,
      height: 24 + (rows.length + .6) * high,
    });
    board.append(svg("title", {}, replay.game), svg("desc", {}, "The board, of hexagons."));
    const corners = [0, 1, 2, 3, 4, 5].map((corner) => (corner / 6 + 1 / 12) * 2 * Math.PI);
    rows.forEach((label, row) => {
      board.append(svg("text", { x: left(row) - pitch * .85, y: top(row), class: "label" }, label));
      columns.forEach((_, column) => {
        const [x, y] = [left(row) + column * pitch, top(row)];
        const place = row * columns.length + column;
        if (gaps?.includes(place)) return;
        const points = corners.map((angle) =>
          (x + radius * Math.cos(angle)).toFixed(1) + "," + (y + radius * Math.sin(angle)).toFixed(1));
        const cell = svg("polygon", { points: points.join(" ") });
        if (changedAt(from + place, step, before)) cell.classList.add("changed");
        board.append(cell);
        const piece = step.cells[from + place] ?? 0;
        if (piece === 0) return;
        const { mark, name, colour, is_king } = pieces[piece];
        const group = svg("g", { class: "piece" + (colour ? " k-" + colour : "") + (is_king ? " king" : "") });
        if (colour) group.append(svg("circle", { cx: x, cy: y, r: 13 }));
        group.append(svg("text", { x, y }, mark), svg("title", {}, name));
        board.append(group);
      });
    });
    const below = rows.length;
    columns.forEach((label, column) => board.append(
      svg("text", { x: left(below) + column * pitch, y: top(below) - 6, class: "label" }, label)));
    return board;
  };
  // A tree of states: its root at the left, and a line for each of its ends. The letters are all
  // equally wide.
  const trees = ({ pieces }, from, step) => {
    const nodes = pieces[step.cells[from] ?? 0].tree ?? [];
    const [high, letter] = [26, 6.9];
    const after = nodes.map(() => []);
    const level = [];
    nodes.forEach(({ parent }, at) => {
      level.push(parent === undefined ? 0 : level[parent] + 1);
      if (parent !== undefined) after[parent].push(at);
    });
    const label = ({ name, more, shape }) => shape === "end" && more ? name + " = " + more : name;
    const dots = ({ n_hidden }, at) => n_hidden ? (after[at].length ? "+ " + n_hidden : "\u2026") : "";
    const wide = (at) => (label(nodes[at]).length + 2) * letter;
    const widest = (of) => level.reduce((most, deep, at) => {
      most[deep] = Math.max(most[deep] ?? 0, of(at));
      return most;
    }, []);
    // What ends has its line for itself, and needs no room.
    const boxes = widest((at) => after[at].length ? wide(at) : 0);
    const ways = widest((at) => ((nodes[at].way ?? "").length + 4) * letter);
    const left = [6];
    for (let deep = 1; deep < boxes.length; deep++) left[deep] = left[deep - 1] + boxes[deep - 1] + ways[deep];
    const y = [];
    let below = high / 2 + 4;
    const place = (at) => {
      after[at].forEach(place);
      if (after[at].length) y[at] = (y[after[at][0]] + y[after[at].at(-1)]) / 2;
      else {
        y[at] = below;
        below += high;
      }
    };
    place(0);
    const width = Math.max(...nodes.map((_, at) => left[level[at]] + wide(at))) + 30;
    const tree = svg("svg", { class: "tree-board", role: "img", width, height: below - high / 2 + 4 });
    tree.append(svg("title", {}, replay.game), svg("desc", {}, "The states, as a tree."));
    const edge = (at) => {
      const { parent, way, is_on_line } = nodes[at];
      const [start, end] = [left[level[parent]] + wide(parent), left[level[at]]];
      const trunk = left[level[parent]] + boxes[level[parent]] + 10;
      const line = svg("path", { d: `M${start} ${y[parent]}H${trunk}V${y[at]}H${end}`, class: "line" });
      if (is_on_line) line.classList.add("on-line");
      tree.append(line, svg("text", { x: trunk + 5, y: y[at] - 7, class: "way" }, way));
    };
    const edges = nodes.map((_, at) => at).slice(1);
    // Those on the line to the state lie on all others.
    edges.filter((at) => !nodes[at].is_on_line).forEach(edge);
    edges.filter((at) => nodes[at].is_on_line).forEach(edge);
    nodes.forEach((node, at) => {
      const { name, more, shape, role, is_here } = node;
      const group = svg("g", { class: "node " + shape + (is_here ? " here" : "") });
      const [x, width] = [left[level[at]], wide(at)];
      const box = shape === "chance"
        ? svg("ellipse", { cx: x + width / 2, cy: y[at], rx: width / 2, ry: 10 })
        : svg("rect", { x, y: y[at] - 9, width, height: 18, rx: 3 });
      if (role !== undefined) box.style.stroke = "var(--s" + (role % 6) + ")";
      group.append(box, svg("text", { x: x + letter, y: y[at] }, label(node)),
        svg("text", { x: x + width + 4, y: y[at] }, dots(node, at)),
        svg("title", {}, more ? name + ": " + more : name));
      tree.append(group);
    });
    const figure = element("div");
    const movers = new Set(nodes.map(({ role }) => role).filter((role) => role !== undefined));
    const names = element("p", undefined, "legend");
    for (const role of [...movers].sort((a, b) => a - b)) {
      const name = element("span", "\u25ad " + replay.seats[role].role + " ");
      name.style.color = "var(--s" + (role % 6) + ")";
      names.append(name);
    }
    if (nodes.some(({ shape }) => shape === "chance")) names.append(element("span", "\u25cb chance "));
    if (nodes.some(({ shape }) => shape === "again")) names.append(element("span", "\u2504 drawn elsewhere"));
    figure.append(tree, names);
    return figure;
  };
  // A curve for each player over the steps of the match; a click goes to the step.
  const curve = (heading, of, most, unit) => {
    const last = Math.max(1, replay.steps.length - 1);
    const lines = replay.seats.map((seat, role) => replay.steps
      .map((step, place) => [place, (of(step) ?? [])[role] ?? null])
      .filter(([, value]) => value !== null));
    if (!lines.some((line) => line.length)) return null;
    const top = most ?? Math.max(...lines.flat().map(([, value]) => value), 1e-3);
    const [left, right, low, high] = [6, 294, 74, 18];
    const x = (place) => left + (right - left) * place / last;
    const y = (value) => low - (low - high) * value / top;
    const drawing = svg("svg", { class: "curve", role: "img", viewBox: "0 0 300 80" });
    drawing.append(svg("title", {}, heading));
    drawing.append(svg("desc", {}, heading + " of each player, step by step."));
    drawing.append(svg("text", { x: left, y: 11, class: "unit" },
      heading + " (0 to " + (top < 10 ? top.toFixed(1) : Math.round(top)) + " " + unit + ")"));
    drawing.append(svg("line", { x1: left, x2: right, y1: low, y2: low, class: "axis" }));
    lines.forEach((line, role) => {
      const colour = "s" + (role % 6);
      const points = line.map(([place, value]) => x(place).toFixed(1) + "," + y(value).toFixed(1));
      drawing.append(svg("polyline", { points: points.join(" "), class: colour + " stroke" }));
      for (const [place, value] of line) {
        const mark = svg("circle", { cx: x(place), cy: y(value), r: 2.5, class: colour + " fill" });
        mark.append(svg("title", {}, replay.seats[role].role + ", step " + place + ": "
          + Number(value.toFixed(2)) + " " + unit));
        drawing.append(mark);
      }
    });
    drawing.append(svg("line", { x1: x(at), x2: x(at), y1: high, y2: low, class: "median" }));
    drawing.addEventListener("click", (event) => {
      const box = drawing.getBoundingClientRect();
      const place = (event.clientX - box.left) / box.width * 300;
      go(Math.round((place - left) / (right - left) * last));
    });
    return drawing;
  };
  const curves = () => {
    const found = [
      curve("Expected reward", (step) => step.values, 100, "points"),
      curve("Thinking time", (step) => step.times, null, "ms"),
    ].filter((drawing) => drawing !== null);
    if (!found.length) return found;
    const names = element("p", undefined, "legend");
    replay.seats.forEach((seat, role) => {
      if (seat.player === null) return;
      const name = element("span", "● " + seat.role);
      name.style.color = "var(--s" + (role % 6) + ")";
      names.append(name, " ");
    });
    return [names, ...found];
  };
  // What the start clock was used for.
  const starts = () => replay.seats.filter((seat) => seat.start).map((seat) => {
    const words = [];
    if (seat.start.ms !== undefined) words.push(Number(seat.start.ms.toFixed(1)) + " ms");
    if (seat.start.nodes !== undefined) words.push(seat.start.nodes + " nodes");
    if (seat.start.value !== undefined) words.push("value " + seat.start.value);
    return element("li", seat.role + ": start clock, " + words.join(", "));
  });
  const boards = (step, before) => {
    let from = 0;
    return (replay.boards ?? []).map((board) => {
      const figure = element("div", undefined, "one-board");
      if (board.title) figure.append(element("h4", board.title));
      const drawing = board.is_tree ? trees : board.shift ? hexagons : squares;
      figure.append(drawing(board, from, step, before));
      from += board.columns.length * board.rows.length;
      return figure;
    });
  };
  const draw = () => {
    const step = replay.steps[at];
    const before = at > 0 ? replay.steps[at - 1] : null;
    byId("viewer-step").textContent = at === 0
      ? "Initial state, " + (replay.steps.length - 1) + " steps follow."
      : "Step " + at + " of " + (replay.steps.length - 1)
        + (at === replay.steps.length - 1 ? ", the last: " + replay.ending + "." : ".");
    byId("viewer-curves").replaceChildren(...curves());
    byId("viewer-moves").replaceChildren(...(at === 0 ? starts() : []), ...step.moves.map((move, role) => {
      const line = element("li", replay.seats[role].role + ": " + move);
      const fault = (step.faults ?? [])[role];
      if (fault) line.append(element("span", " (" + fault + ")", "fault"));
      return line;
    }));
    const held = new Set(before ? before.facts ?? [] : step.facts ?? []);
    byId("viewer-facts").replaceChildren(...(step.facts ?? []).map((fact) =>
      element("li", replay.facts[fact], held.has(fact) ? "" : "new")));
    byId("board").replaceChildren(...boards(step, before));
    slider.value = String(at);
  };
  const go = (where) => {
    if (!replay) return;
    at = Math.max(0, Math.min(replay.steps.length - 1, where));
    draw();
  };
  const open = (job) => {
    const found = replays.find((candidate) => String(candidate.job) === job);
    if (!found) return false;
    replay = found;
    viewer.hidden = false;
    byId("viewer-title").textContent = replay.game + ", match " + replay.job;
    // Chance moves where there is no player.
    byId("viewer-seats").textContent = replay.seats.filter((seat) => seat.player !== null).map((seat) =>
      seat.role + ": " + seat.player + (seat.reward === null ? "" : " (" + seat.reward + ")")).join(", ");
    slider.max = String(replay.steps.length - 1);
    go(0);
    return true;
  };
  const steps = { first: () => 0, back: () => at - 1, on: () => at + 1, last: () => Infinity };
  for (const button of viewer.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => go(steps[button.dataset.go]()));
  }
  slider.addEventListener("input", () => go(Number(slider.value)));
  const keys = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" };
  viewer.addEventListener("keydown", (event) => {
    const step = keys[event.key];
    if (!step || event.target === slider) return;
    event.preventDefault();
    go(steps[step]());
  });
  const follow = () => {
    const [, job, step] = location.hash.match(/^#replay-(\d+)(?:-(\d+))?$/) ?? [];
    if (job !== undefined && open(job)) {
      go(Number(step ?? 0));
      byId("replays").scrollIntoView();
      viewer.focus({ preventScroll: true });
    }
  };
  addEventListener("hashchange", follow);
  open(String(replays[0].job));
  follow();
})();
