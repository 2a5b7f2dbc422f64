"use strict";
// Everything works without this file; it adds the panel beside the picture and the keys.
const panel = document.getElementById("event");
const typing = target => target.closest("input, textarea, select, dialog");
async function show(link) {
  const reply = await fetch(link.dataset.panel, {headers: {accept: "text/html"}});
  const page = new DOMParser().parseFromString(await reply.text(), "text/html");
  panel.replaceChildren(...page.querySelector("main").childNodes);
  document.querySelectorAll("[data-cell]").forEach(other => other.classList.toggle("chosen", other.dataset.cell === link.dataset.cell));
  history.replaceState(null, "", "#" + link.dataset.cell);
  if (window.matchMedia("(max-width: 900px)").matches) panel.scrollIntoView();
}
if (panel) {
  document.addEventListener("click", event => {
    const link = event.target.closest("a[data-panel]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(link);
  });
  const linked = document.querySelector(`a.cell[data-cell="${CSS.escape(location.hash.slice(1))}"]`);
  if (linked) show(linked);
}
// Arrow keys go to the nearest cell in that direction.
const directions = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
function step(from, [right, down]) {
  const here = from.getBoundingClientRect();
  let best = null, least = Infinity;
  for (const cell of document.querySelectorAll("a.cell")) {
    const there = cell.getBoundingClientRect();
    const x = there.x - here.x, y = there.y - here.y;
    const ahead = x * right + y * down, aside = Math.abs(x * down) + Math.abs(y * right);
    if (ahead > 4 && ahead + 3 * aside < least) { best = cell; least = ahead + 3 * aside; }
  }
  if (best) { best.focus(); show(best); }
}
function moveRow(by) {
  const rows = [...document.querySelectorAll("table[data-list] tbody tr")].filter(row => row.querySelector("a"));
  if (!rows.length) return;
  const here = rows.findIndex(row => row.classList.contains("here"));
  const next = rows[Math.max(0, Math.min(rows.length - 1, here + by))];
  rows.forEach(row => row.classList.toggle("here", row === next));
  next.querySelector("a").focus();
}
const keys = document.getElementById("keys");
const openKeys = () => keys.showModal();
if (keys) document.getElementById("show-keys").addEventListener("click", openKeys);
const press = link => { if (link) link.click(); };
const actions = {
  "/": () => document.querySelector("header input[type=search]").focus(),
  "?": openKeys,
  "j": () => moveRow(1), "k": () => moveRow(-1),
  "[": () => press(document.querySelector("a[rel=prev]")), "]": () => press(document.querySelector("a[rel=next]")),
};
document.addEventListener("keydown", event => {
  if (event.key === "Escape" && event.target.closest("input, textarea, select")) { event.target.blur(); return; }
  if (typing(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
  const cell = event.target.closest("a.cell");
  if (cell && directions[event.key]) { event.preventDefault(); step(cell, directions[event.key]); return; }
  const button = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (button) { event.preventDefault(); button.click(); button.focus(); return; }
  if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
});
document.querySelectorAll("[data-copy]").forEach(button => button.addEventListener("click", () =>
  navigator.clipboard.writeText(button.dataset.copy).then(() => { button.textContent = "Copied"; })));
document.querySelectorAll("[data-opens]").forEach(button => button.addEventListener("click", event => {
  event.preventDefault();
  const part = document.getElementById(button.dataset.opens);
  part.hidden = !part.hidden;
  if (!part.hidden) part.querySelector("textarea, select, input").focus();
}));
const name = document.querySelector("input[name=by]");
if (name) {
  name.value = name.value || localStorage.getItem("contramem-reviewer") || "";
  name.addEventListener("change", () => localStorage.setItem("contramem-reviewer", name.value));
}
