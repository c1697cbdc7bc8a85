"""The frame of the page: style sheet and script, with places for what differs."""

TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>@TITLE@</title>
<style>
:root { --dense: #dbe4ee; --csr: #cdeac0; --rows: #ffe0b3; --line: #5b6b7b; --ink: #1d2733; }
* { box-sizing: border-box; }
body { margin: 0; height: 100vh; display: flex; font: 13px/1.4 system-ui, sans-serif;
  color: var(--ink); }
#canvas { flex: 1; overflow: hidden; position: relative; background: #fbfcfd; }
svg { width: 100%; height: 100%; cursor: grab; touch-action: none; }
svg.moving { cursor: grabbing; }
.box { cursor: pointer; outline: none; }
.box rect { stroke: var(--line); stroke-width: 1; fill: var(--dense); }
.box.csr rect { fill: var(--csr); }
.box.rows rect { fill: var(--rows); }
.box.variable rect { stroke-dasharray: 4 3; }
.box.fallback rect { stroke: #c62828; stroke-width: 2.5; }
.box.found rect { stroke: #1565c0; stroke-width: 3; }
.box.chosen rect { stroke: #000; stroke-width: 3; }
.box.faint, .edge.faint { opacity: .25; }
.box text { font: 11px ui-monospace, monospace; fill: var(--ink); }
.box text.name { font-weight: 600; }
.box text.op { fill: #34495e; }
.box text.mode { fill: #5b6b7b; font-style: italic; }
.box text.parameter { fill: #34495e; }
.box text.parameter.csr { fill: #2f6b18; }
.box text.parameter.rows { fill: #955a00; }
.box text.warning { fill: #c62828; font-weight: 600; }
.edge { fill: none; stroke: #8796a5; stroke-width: 1.4; }
.edge.csr { stroke: #4b9b2f; stroke-width: 2.2; }
.edge.rows { stroke: #d98200; stroke-width: 2.2; }
aside { width: 330px; border-left: 1px solid #d5dce3; padding: 12px 14px; overflow: auto; }
h1 { font-size: 15px; margin: 0 0 6px; overflow-wrap: anywhere; }
ul { list-style: none; padding: 0; margin: 6px 0; }
#search { width: 100%; padding: 6px 8px; font: inherit; border: 1px solid #b7c2cc;
  border-radius: 4px; }
#hits { color: #5b6b7b; min-height: 1.4em; }
.key { display: inline-block; width: 12px; height: 12px; border: 1px solid var(--line);
  margin-right: 5px; vertical-align: -2px; }
table { border-collapse: collapse; width: 100%; font-size: 12px; margin: 4px 0 10px; }
td { border-top: 1px solid #e3e8ed; padding: 2px 4px; vertical-align: top;
  overflow-wrap: anywhere; }
.bad { color: #c62828; font-weight: 600; }
#zoom { position: absolute; left: 10px; top: 10px; }
#zoom button { width: 30px; height: 30px; font-size: 16px; background: #fff;
  border: 1px solid #b7c2cc; border-radius: 4px; cursor: pointer; }
@media (prefers-color-scheme: dark) { body { background: #fff; } }
</style>
</head>
<body>
<div id="canvas">@DRAWING@
<div id="zoom"><button id="in" title="zoom in">+</button>
<button id="out" title="zoom out">&minus;</button>
<button id="fit" title="show all">&#9633;</button></div></div>
<aside>
<h1>@TITLE@</h1>
<input id="search" type="search" placeholder="search names, operators, storage types"
  aria-label="search">
<div id="hits" role="status"></div>
<ul>@TOTALS@</ul>
<ul>
<li><span class="key" style="background:var(--dense)"></span>dense</li>
<li><span class="key" style="background:var(--csr)"></span>csr</li>
<li><span class="key" style="background:var(--rows)"></span>row_sparse</li>
<li><span class="key" style="border:2px solid #c62828"></span>runs on dense copies</li>
</ul>
<div id="details">Choose a node to see more of it.</div>
</aside>
<script>
"use strict";
const details = @DETAILS@;
const svg = document.getElementById("graph");
const boxes = [...document.querySelectorAll(".box")];
const edges = [...document.querySelectorAll(".edge")];
const whole = svg.getAttribute("viewBox").split(" ").map(Number);
let view = whole.slice();
if (whole[3] > 3 * whole[2]) {  // a long graph begins at its inputs, in a size one can read
  const area = svg.getBoundingClientRect(), width = Math.max(whole[2], 900);
  const first = boxes[0].transform.baseVal[0].matrix.e;
  view = [first - width / 2, whole[1], width, width * area.height / area.width];
  svg.setAttribute("preserveAspectRatio", "xMidYMin meet");
}

show();

function show() { svg.setAttribute("viewBox", view.join(" ")); }

function zoom(factor, at) {
  const area = svg.getBoundingClientRect();
  const scale = Math.max(view[2] / area.width, view[3] / area.height);
  const x = view[0] + view[2] / 2 + (at ? (at.x - area.left - area.width / 2) * scale : 0);
  const y = view[1] + view[3] / 2 + (at ? (at.y - area.top - area.height / 2) * scale : 0);
  view = [x + (view[0] - x) * factor, y + (view[1] - y) * factor,
    view[2] * factor, view[3] * factor];
  show();
}

svg.addEventListener("wheel", event => {
  event.preventDefault();
  zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, {x: event.clientX, y: event.clientY});
}, {passive: false});
let start = null;
svg.addEventListener("pointerdown", event => {
  start = {x: event.clientX, y: event.clientY, view: view.slice(), moved: false};
});
window.addEventListener("pointermove", event => {
  if (!start) return;
  const area = svg.getBoundingClientRect();
  const scale = Math.max(view[2] / area.width, view[3] / area.height);
  const dx = (event.clientX - start.x) * scale, dy = (event.clientY - start.y) * scale;
  if (Math.hypot(event.clientX - start.x, event.clientY - start.y) > 3) {
    start.moved = true;
    svg.classList.add("moving");
  }
  view = [start.view[0] - dx, start.view[1] - dy, view[2], view[3]];
  show();
});
window.addEventListener("pointerup", () => {
  svg.classList.remove("moving");
  setTimeout(() => { start = null; }, 0);
});
document.getElementById("in").onclick = () => zoom(1 / 1.4);
document.getElementById("out").onclick = () => zoom(1.4);
document.getElementById("fit").onclick = () => { view = whole.slice(); show(); };

function element(tag, text, name) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (name) made.className = name;
  return made;
}

function table(rows) {
  const made = document.createElement("table");
  for (const row of rows) {
    const line = document.createElement("tr");
    for (const cell of row) line.append(element("td", cell));
    made.append(line);
  }
  return made;
}

function choose(key, move) {
  boxes.forEach(box => box.classList.toggle("chosen", Number(box.dataset.key) === key));
  edges.forEach(edge => edge.classList.toggle("faint",
    Number(edge.dataset.from) !== key && Number(edge.dataset.to) !== key));
  const fact = details[key], side = document.getElementById("details");
  const kind = fact.op + (fact.mode ? ", " + fact.mode : "");
  side.replaceChildren(element("h1", fact.name), element("div", kind));
  if (fact.fallback) {
    side.append(element("div", "falls back: " + fact.fallback + " of dense copies", "bad"));
  }
  const parts = [["outputs", fact.outputs], ["parameters", fact.parameters],
    ["attributes", Object.entries(fact.attrs)],
    ["inputs", fact.sources.map(k => [details[k].name, details[k].op])]];
  for (const [title, rows] of parts) {
    if (rows.length) side.append(element("b", title), table(rows));
  }
  if (move) {
    const area = document.getElementById("box" + key).getBBox();
    const at = document.getElementById("box" + key).transform.baseVal[0].matrix;
    const width = Math.min(whole[2], 900), height = Math.min(whole[3], 700);
    view = [at.e + area.width / 2 - width / 2, at.f + area.height / 2 - height / 2, width, height];
    show();
  }
}

boxes.forEach(box => {
  box.addEventListener("click", () => {
    if (!start || !start.moved) choose(Number(box.dataset.key), false);
  });
  box.addEventListener("keydown", event => {
    if (event.key === "Enter") choose(Number(box.dataset.key), false);
  });
});

const search = document.getElementById("search");
let hits = [], next = 0;
search.addEventListener("input", () => {
  const text = search.value.trim().toLowerCase();
  hits = boxes.filter(box => text && box.textContent.concat(
    " ", details[box.dataset.key].outputs.flat().join(" "), " ", details[box.dataset.key].op
  ).toLowerCase().includes(text));
  next = 0;
  boxes.forEach(box => {
    box.classList.toggle("found", hits.includes(box));
    box.classList.toggle("faint", Boolean(text) && !hits.includes(box));
  });
  document.getElementById("hits").textContent =
    text ? hits.length + " found, Enter shows the next" : "";
});
search.addEventListener("keydown", event => {
  if (event.key === "Enter" && hits.length) {
    choose(Number(hits[next % hits.length].dataset.key), true);
    next += 1;
  }
});
</script>
</body>
</html>
"""
