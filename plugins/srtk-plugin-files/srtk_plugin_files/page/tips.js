// Tooltips, by mouse and by focus.
function hint(target, x, y) {
  const tip = byId("tip");
  tip.hidden = !target;
  if (!target) return;
  const [first, ...others] = tips.get(target)().filter(Boolean);
  tip.replaceChildren(words("b", "", first), ...others.map((line) => words("span", "", line)));
  tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${y + 18 + tip.offsetHeight > innerHeight ? Math.max(8, y - tip.offsetHeight - 12) : y + 18}px`;
}
function tipped(element) {
  while (element && !tips.has(element)) element = element.parentElement;
  return element;
}
document.addEventListener("mousemove", (event) => hint(tipped(event.target), event.clientX, event.clientY));
document.addEventListener("focusin", (event) => {
  const target = tipped(event.target), box = target && target.getBoundingClientRect();
  hint(target, box ? box.left : 0, box ? box.bottom - 14 : 0);
});
document.addEventListener("focusout", () => hint(null));
