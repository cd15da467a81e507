// Keyboard, and the first rendering of the page.
byId("main").addEventListener("scroll", () => hint(null));
document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, select, textarea"), finding = event.target.type === "search";
  if (event.key === "Escape") { panes.forEach((each) => each.hold(null)); hint(null); document.body.classList.remove("choosing"); if (finding) event.target.blur(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const listed = event.target.id === "list" || finding, page = Math.max(1, Math.floor(byId("list").clientHeight / ROW) - 1);
  const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
  if (!finding) Object.assign(moves, { Home: -shown.length, End: shown.length });
  if (listed && moves[event.key]) { event.preventDefault(); walk(moves[event.key]); return; }
  if (typing) return;
  if (event.key === "/" && index.length > 1) { event.preventDefault(); choose(true); byId("search").focus(); }
  const full = panes.filter((each) => each.data.triples.length), chosen = full.filter((each) => each.has(event.target));
  if (full.length) {
    const zooms = { "+": STEP, "=": STEP, "-": 1 / STEP, "−": 1 / STEP, 0: 0 };
    const pans = { ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, -60], ArrowDown: [0, 60] };
    if (event.key in zooms) { event.preventDefault(); (chosen.length ? chosen : full).forEach((each) => each.turn(zooms[event.key])); return; }
    if (event.key in pans && chosen.length) { event.preventDefault(); chosen[0].pan(pans[event.key]); return; }
  }
  if (event.key === "j") walk(1);
  if (event.key === "k") walk(-1);
});
function choose(on) {
  if (on) window.scrollTo(0, 0);
  document.body.style.setProperty("--top", `${document.querySelector(".top").offsetHeight}px`);
  document.body.classList.toggle("choosing", on);
  byId("menu").setAttribute("aria-expanded", String(document.body.classList.contains("choosing")));
  rows();
}
byId("menu").addEventListener("click", () => choose(!document.body.classList.contains("choosing")));
byId("list").addEventListener("scroll", rows);
byId("search").addEventListener("input", narrow);
byId("entity").addEventListener("input", seek);
let wide = innerWidth; // a phone changes the height whenever it shows or hides its bars
window.addEventListener("resize", () => {
  rows();
  if (innerWidth !== wide) panes.filter((each) => each.data.triples.length).forEach((each) => each.scale(0));
  wide = innerWidth;
});
const named = () => index.findIndex((entry) => "#" + encodeURIComponent(entry.id) === location.hash);
window.addEventListener("hashchange", () => { if (named() >= 0 && named() !== current) open(named()); });

document.body.classList.toggle("alone", index.length === 1);
means();
filters();
omissions();
narrow();
if (index.length) open(Math.max(0, named()));
else byId("main").replaceChildren(make("p", "none", "There are no questions in this file."));
