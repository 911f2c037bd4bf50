(() => {
  "use strict";
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");
  document.body.append(tip);
  const show = (mark, x, y) => {
    tip.textContent = mark.getAttribute("aria-label");
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 12, innerWidth - box.width - 4)) + "px";
    tip.style.top = (y + box.height + 20 > innerHeight ? y - box.height - 12 : y + 16) + "px";
  };
  const follow = (event) => {
    const mark = event.target.closest?.("figure svg [aria-label]");
    if (mark) show(mark, event.clientX, event.clientY);
    else tip.hidden = true;
  };
  addEventListener("pointermove", follow);
  addEventListener("pointerdown", follow);
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
  addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });
  const folded = () => document.querySelectorAll("details:not([open])");
  let opened = [];
  addEventListener("beforeprint", () => { opened = [...folded()]; opened.forEach((part) => { part.open = true; }); });
  addEventListener("afterprint", () => { opened.forEach((part) => { part.open = false; }); });
})();
