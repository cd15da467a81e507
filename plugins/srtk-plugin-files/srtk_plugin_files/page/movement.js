// Zoom and pan of the diagram by mouse and touch.
function movable(stage) {
  let from = null, moved = false, spread = 0;
  const inside = (x, y) => { const box = stage.getBoundingClientRect(); return [x - box.left, y - box.top]; };
  // A wheel turned over a drawing nobody has chosen scrolls the page; a trackpad's pinch comes as ctrl and wheel.
  stage.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && !stage.contains(document.activeElement)) return;
    event.preventDefault();
    scale(zoom * Math.pow(STEP, Math.max(-1, Math.min(1, -event.deltaY / (event.ctrlKey ? 20 : 100)))), inside(event.clientX, event.clientY));
  }, { passive: false });
  stage.addEventListener("pointerdown", (event) => {
    moved = false;
    if (event.pointerType === "mouse" && event.button === 0 && !event.target.closest("button")) from = [event.clientX, event.clientY, stage.scrollLeft, stage.scrollTop];
  });
  stage.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [dx, dy] = [event.clientX - from[0], event.clientY - from[1]];
    if (!moved && Math.hypot(dx, dy) < 4) return;
    if (!moved) stage.setPointerCapture(event.pointerId);
    moved = true;
    stage.scrollLeft = from[2] - dx;
    stage.scrollTop = from[3] - dy;
  });
  for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, () => { from = null; });
  stage.addEventListener("click", (event) => { if (!moved && !event.target.closest("button")) hold(null); });
  const fingers = ({ touches: [a, b] }) => [Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY), inside((a.clientX + b.clientX) / 2, (a.clientY + b.clientY) / 2)];
  stage.addEventListener("touchstart", (event) => { spread = event.touches.length === 2 ? fingers(event)[0] : 0; }, { passive: true });
  stage.addEventListener("touchmove", (event) => {
    if (event.touches.length !== 2 || !spread) return;
    event.preventDefault();
    const [now, middle] = fingers(event);
    scale(zoom * now / spread, middle);
    spread = now;
  }, { passive: false });
}
