// Questions to the service, and what it answers. The address of the page holds the question and the links given by hand.
const TRIES = 3, KEPT = 50, LARGE = 1000, TOKEN = "srtk-token", kept = new Map();
let asking = null, token = "";
// Where the browser keeps nothing for a page, the token lasts until it is left.
try { token = sessionStorage.getItem(TOKEN) || ""; } catch { token = ""; }
const tell = (text) => { byId("status").textContent = text; };
const pause = (seconds, signal) => new Promise((done, failed) => {
  const clock = setTimeout(done, seconds * 1000);
  if (signal) signal.addEventListener("abort", () => { clearTimeout(clock); failed(signal.reason); });
});
// Call a route; what goes wrong is a sentence, with the status of the answer and the seconds to wait.
async function call(path, body, signal) {
  const headers = body ? { "Content-Type": "application/json" } : {};
  if (token) headers.Authorization = `Bearer ${token}`;
  const fault = (message, status, after) => Object.assign(new Error(message), { status, after });
  let response;
  try {
    response = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal });
  } catch (error) {
    if (signal && signal.aborted) throw error;
    throw fault("The service does not answer. See whether it still runs, then ask again.", 0);
  }
  const found = await response.json().catch(() => null);
  if (response.ok && found !== null) return found;
  if (response.status === 401) byId("guard").hidden = false;
  const said = {
    401: token ? "The token is not right." : "This service wants a token. Enter it above.",
    503: "The service is busy: too many questions wait.", 504: "There was no answer within the time limit.",
  };
  const after = Number(response.headers.get("Retry-After")) || 0;
  throw fault(said[response.status] || (found && typeof found.error === "string" ? `${found.error.replace(/[.]?$/, ".")}` : `The service failed (${response.status}).`), response.status, after);
}
function address(question, links) {
  const query = new URLSearchParams({ q: question });
  for (const [start, end, id] of links) query.append("link", `${start ?? ""},${end ?? ""},${id}`);
  return `?${query}`;
}
function wanted() {
  const query = new URLSearchParams(location.search);
  const links = query.getAll("link").flatMap((text) => { const found = /^(\d*),(\d*),(.+)$/su.exec(text); return found ? [found] : []; });
  return { question: (query.get("q") || "").trim(), links: links.map(([, start, end, id]) => [start ? Number(start) : null, end ? Number(end) : null, id]) };
}
function go(question, links) {
  const to = address(question, links);
  if (to !== address(wanted().question, wanted().links)) history.pushState(null, "", to);
  else kept.delete(location.search);
  show(links.length > 0 || !byId("form").contains(document.activeElement));
}
// Show what the address asks for; `moved` when the focus goes to the answer, as what had it is gone.
async function show(moved) {
  if (asking) asking.abort();
  const mine = asking = new AbortController(), { question, links } = wanted(), place = location.search;
  hint(null);
  panes = [];
  byId("question").value = question;
  document.body.classList.toggle("started", Boolean(question));
  grow();
  document.title = question ? `${question} – Ask the graph` : "Ask the graph";
  if (!question) { byId("found").replaceChildren(); tell(""); byId("question").focus(); welcome(); return; }
  tell("Asking …");
  const slow = setTimeout(() => byId("found").replaceChildren(waiting(mine)), kept.has(place) ? 5000 : 150);
  try {
    const entities = links.map(([start, end, entity]) => (start === null || end === null ? entity : { entity, start, end }));
    const body = links.length ? { question, entities } : { question };
    const data = kept.get(place) || await patient(() => call("page/ask", body, mine.signal), mine.signal, slow);
    if (kept.size > KEPT) kept.clear();
    kept.set(place, data);
    if (mine.signal.aborted) return;
    clearTimeout(slow);
    byId("guard").hidden = true;
    answered({ ...structuredClone(data), given: links.length > 0 && data.trace.links !== "linked" });
  } catch (fault) {
    clearTimeout(slow);
    if (asking !== mine) return;
    if (mine.signal.aborted) failed({ message: "Stopped." });
    else failed(fault);
    moved = false;
    if (!byId("guard").hidden) byId("token").focus();
  }
  if (moved && asking === mine) byId("found").querySelector("h2").focus();
}
// A busy service is asked again when it says so, a few times.
async function patient(act, signal, slow) {
  for (let tries = 0; ; tries++) {
    try { return await act(); } catch (fault) {
      if (fault.status !== 503 || tries >= TRIES) throw fault;
      clearTimeout(slow);
      const seconds = Math.min(60, Math.max(1, fault.after));
      const text = `${fault.message} Asking again in ${count(seconds, "second")}.`;
      byId("found").replaceChildren(waiting(asking, text));
      tell(text);
      await pause(seconds, signal);
    }
  }
}
function waiting(mine, text = "Asking …") {
  return make("div", "waiting", make("span", "dots"), words("p", "", text), plainButton("Stop", "", () => mine.abort()));
}
function failed(fault) {
  const title = make("h2", "away", "No answer"), box = make("section", "fault", title, words("p", "notice error", fault.message));
  title.tabIndex = -1;
  box.append(plainButton("Ask again", "", () => { kept.delete(location.search); show(false); }));
  byId("found").replaceChildren(box);
  tell(fault.message);
}
function answered(data) {
  tips = new WeakMap();
  const drawn = pane(data, 0, null), reply = drawn.reply(), title = make("h2", "away", "Answer"), card = make("section", "answer", title);
  panes = [drawn];
  title.tabIndex = -1;
  if (reply && data.error === null) card.append(reply);
  else if (data.error !== null || !data.triples.length) card.append(make("p", "reply notice", make("b", "", "No answer: "), words("span", "", data.said && data.said.refusal || data.error || data.trace.reason || "nothing was found")));
  else card.append(make("p", "reply notice", "The recipe has no reader, so there is no answer, but paths and triples. With `reader: {use: paths}` it answers."));
  card.append(...drawn.unanswered());
  const about = understood(data, drawn.name), parts = [...(data.links.length ? [about, card] : [card, about]), drawn.figure(null)], behind = make("details", "card behind");
  const paths = drawn.pathList(), table = drawn.table(), cut = (data.trace.cut || {}).triples;
  if (table) {
    behind.open = !data.said && data.error === null;
    behind.append(make("summary", "", `${count(data.triples.length, "triple")}${data.paths.length ? ` and ${count(data.paths.length, "path")}` : ""}`),
      ...[cut ? words("p", "soft", `${count(cut, "further triple")} had no room within the limit.`) : null, paths, table].filter(Boolean));
    parts.push(behind);
  }
  byId("found").replaceChildren(...parts.filter(Boolean));
  drawn.draw();
  const legend = byId("found").querySelector(".legend");
  if (legend) legend.append(make("span", "", "Choose an entity for its neighbours"));
  if (data.triples.length > summary.drawn) whole(drawn);
  const topics = data.links.map(([term]) => apart(drawn.name(term))).join(", ");
  const line = card.querySelector(".sentence strong") || card.querySelector(".reply"), sure = card.querySelector(".certainty");
  tell([`${apart(line.textContent)}.`, sure ? `${sure.textContent}.` : "", topics ? `About ${topics}.` : "", count(data.triples.length, "triple") + "."].join(" "));
}
// A large subgraph is drawn in part at first.
function whole(drawn) {
  const all = Math.min(drawn.data.triples.length, LARGE), text = all < LARGE ? "All" : all.toLocaleString("en");
  const more = button(text, () => { view.most = view.most === all ? summary.drawn : all; more.setAttribute("aria-pressed", String(view.most === all)); drawn.draw(); }, `Draw ${text.toLowerCase()} triples`);
  view.most = summary.drawn;
  more.setAttribute("aria-pressed", "false");
  byId("found").querySelector(".tools").prepend(more);
}
async function welcome() {
  let examples;
  try { examples = await call("page/examples"); } catch (fault) { if (fault.status === 401) byId("token").focus(); return; }
  if (wanted().question || !examples.length) return;
  const list = make("ul", "examples", ...examples.map((text) => {
    const link = words("a", "", text);
    link.href = address(text, []);
    link.addEventListener("click", (event) => { if (event.ctrlKey || event.metaKey || event.shiftKey) return; event.preventDefault(); go(text, []); });
    return make("li", "", link);
  }));
  byId("found").replaceChildren(make("p", "soft", "For example"), list);
}
// The field is as high as its text.
function grow() {
  const field = byId("question");
  field.style.height = "";
  if (field.value) field.style.height = `${Math.max(50, field.scrollHeight + 2)}px`;
}
byId("question").addEventListener("input", grow);
byId("question").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  byId("form").requestSubmit();
});
byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const question = byId("question").value.trim();
  if (question) go(question, []);
});
byId("guard").addEventListener("submit", (event) => {
  event.preventDefault();
  token = byId("token").value;
  try { sessionStorage.setItem(TOKEN, token); } catch { byId("token").value = ""; }
  byId("guard").hidden = true;
  show(true);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { panes.forEach((each) => each.hold(null)); hint(null); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea")) return;
  if (event.key === "/") { event.preventDefault(); byId("question").focus(); }
  const zooms = { "+": STEP, "=": STEP, "-": 1 / STEP, "−": 1 / STEP, 0: 0 };
  const pans = { ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, -60], ArrowDown: [0, 60] };
  for (const each of panes.filter((one) => one.has(event.target))) {
    if (event.key in zooms) { event.preventDefault(); each.turn(zooms[event.key]); }
    if (event.key in pans) { event.preventDefault(); each.pan(pans[event.key]); }
  }
});
let wide = innerWidth;
window.addEventListener("resize", () => {
  if (innerWidth !== wide) grow();
  if (innerWidth !== wide) panes.filter((each) => each.data.triples.length).forEach((each) => each.scale(0));
  wide = innerWidth;
});
window.addEventListener("scroll", () => hint(null), { passive: true });
window.addEventListener("popstate", () => show(false));
show(false);
