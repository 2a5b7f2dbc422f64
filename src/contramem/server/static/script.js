"use strict";
// Everything works without this file; it adds the panel beside the picture and the keys of the review.
const panel = document.getElementById("event");
if (panel) {
  const cells = [...document.querySelectorAll("a.cell")];
  async function open(cell) {
    const reply = await fetch(cell.dataset.panel, {headers: {accept: "text/html"}});
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    panel.replaceChildren(...page.querySelector("main").childNodes);
    cells.forEach(other => other.classList.toggle("chosen", other === cell));
    if (window.matchMedia("(max-width: 900px)").matches) panel.scrollIntoView();
  }
  document.addEventListener("click", event => {
    const cell = event.target.closest("a.cell");
    if (!cell || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(cell);
  });
}
const review = document.getElementById("review");
const typing = target => target.closest("input, textarea, select");
document.addEventListener("keydown", event => {
  if (event.key === "Escape" && typing(event.target)) { event.target.blur(); return; }
  if (event.key === "/" && !typing(event.target)) {
    event.preventDefault();
    document.querySelector("input[type=search]").focus();
  }
  if (!review || typing(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
  const button = review.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (button) { event.preventDefault(); button.click(); button.focus(); }
});
const editor = document.getElementById("editor");
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
