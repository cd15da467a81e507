// The entities that the question was understood to be about, and how to correct them. A link is [start, end, id].
const letters = (text) => Array.from(text);
function understood(data, name) {
  const links = data.links.map(([term, , start, end]) => [start, end, data.terms[term][0]]);
  const box = make("section", "understood"), list = make("ul", "");
  box.setAttribute("aria-label", "What the question is about");
  data.links.forEach(([term, score, start, end], n) => {
    const id = data.terms[term][0], mention = start === null ? "" : letters(data.q).slice(start, end).join("");
    const row = make("li", ""), line = make("div", "link");
    if (mention) line.append(words("q", "", mention), make("span", "soft", "taken as"));
    const shown = make("span", "chip is-linked", make("span", "badge linked", "●"), words("span", "name", name(term)));
    if (id !== name(term)) shown.append(words("small", "", id));
    tips.set(shown, () => [name(term), id, data.given ? "chosen by hand" : `score of the link ${number(score)}`]);
    line.append(shown, make("span", "soft", data.given ? "by your choice" : `score ${number(score)}`));
    const others = links.filter((_, other) => other !== n && !(start !== null && data.links[other][2] === start && data.links[other][3] === end));
    const panel = choices(mention || name(term), id, (chosen) => go(data.q, [...others, [start, end, chosen]].sort((a, b) => a[0] - b[0])));
    const acts = make("span", "acts", opener("Change", `Change what ${mention || name(term)} is`, panel));
    if (others.length) acts.append(plainButton("Leave out", `Leave out ${name(term)}`, () => go(data.q, others)));
    line.append(acts);
    row.append(line, panel);
    list.append(row);
  });
  const add = choices("", "", (chosen) => go(data.q, [...links, [null, null, chosen]]));
  if (!links.length) {
    box.append(words("p", "soft", data.near.length ? "Is one of these meant? Or search by name." : "Search an entity by its name, and ask about it."), add);
    add.offer(data.near);
    add.hidden = false;
    return box;
  }
  list.lastChild.querySelector(".acts").append(opener("Add an entity", "", add), data.given ? plainButton("Undo", "Undo my choice of entities", () => go(data.q, [])) : "");
  box.append(list, add);
  return box;
}
function plainButton(text, label, act) {
  const made = button(text, act, label);
  made.className = "quiet-button";
  return made;
}
function opener(text, label, panel) {
  const made = plainButton(text, label, () => {
    panel.hidden = !panel.hidden;
    made.setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.hidden) panel.begin();
  });
  made.setAttribute("aria-expanded", "false");
  return made;
}
// A search by name, and entities to choose from; `now` is the entity that is linked at present.
let searches = 0;
function choices(mention, now, choose) {
  const field = make("input", ""), form = make("form", "search", make("label", "", "Name or id"), field, make("button", "", "Search"));
  const list = make("ul", "offers"), note = make("p", "soft"), box = make("div", "choices", note, list, form);
  field.id = `search-${++searches}`;
  form.firstChild.htmlFor = field.id;
  Object.assign(field, { type: "search", autocomplete: "off", spellcheck: false, dir: "auto", required: true, maxLength: 1000 });
  note.setAttribute("role", "status");
  box.hidden = true;
  box.offer = (items) => {
    list.replaceChildren(...items.map(([id, label]) => {
      const facts = words("span", "about", ""), made = button("", () => choose(id));
      made.append(words("span", "name", label), id === label ? "" : words("small", "", id), facts);
      made.dataset.id = id;
      if (id === now) { made.setAttribute("aria-current", "true"); made.disabled = true; facts.textContent = "linked now"; }
      return make("li", "", made);
    }));
    describe(list, items.map(([id]) => id).filter((id) => id !== now));
  };
  const seek = async (text) => {
    note.textContent = "Searching …";
    let found;
    try { [found] = await call("link", { texts: [text], names: true, near: 6 }, asking.signal); } catch (fault) { note.textContent = fault.message; return; }
    const items = new Map([...found.links, ...found.near].map((link) => [link.entity, link.name || link.entity]));
    box.offer([...items].slice(0, 12));
    if (found.error && !items.size) { note.textContent = found.error; return; }
    note.textContent = items.size > (items.has(now) ? 1 : 0) ? `${count(found.links.length, "entity").replace(/entitys$/, "entities")} with the name ${apart(text)}; choose one to ask again` : `No entity is called ${apart(text)}. Try another spelling, or a part of the name.`;
  };
  box.begin = () => { if (mention && !list.children.length) seek(mention); if (!mention) field.focus(); };
  form.addEventListener("submit", (event) => { event.preventDefault(); if (field.value.trim()) seek(field.value.trim()); });
  return box;
}
// A few facts of each entity, which tell equal names apart. Without them the choice still works, so they may not take
// long: the service reads one thing at a time.
async function describe(list, ids) {
  if (!ids.length) return;
  let found;
  try { found = await call("page/expand", { entities: ids, triples: 8, timeout: 5 }, asking.signal); } catch { return; }
  ids.forEach((id, n) => {
    const { terms, triples } = found[n], say = ([s, r, o]) => {
      const [self, other] = terms[s][0] === id ? ["", o] : ["is ", s], [far, label] = terms[other];
      return self ? `${terms[r][1] || terms[r][0]} of ${label || far}` : `${terms[r][1] || terms[r][0]} ${label || far}`;
    };
    const own = [...triples].sort((a, b) => worth(b) - worth(a)).slice(0, 3);
    function worth([s, , o]) { return (terms[s][0] === id ? 2 : 0) + (terms[o].length < 3 ? 1 : 0); }
    const facts = [...list.querySelectorAll("button")].find((one) => one.dataset.id === id);
    if (facts) facts.querySelector(".about").textContent = own.map(say).join(" · ");
  });
}
