// Zooms on click, and searches. Frames keep their first place in `all`.
const full = document.documentElement.viewBox.baseVal.width - 20;
const all = [...document.querySelectorAll(".f")].map((group) => {
  const [title, rect, text] = group.children;
  const [x, y, width] = ["x", "y", "width"].map((name) => +rect.getAttribute(name));
  const name = title.textContent.split("\ntotal ")[0];
  return { group, rect, text, x, y, width, name };
});
const element = (id) => document.getElementById(id);

function place(frame, x, width) {
  const isShown = width >= 0.1 && x + width > 10 && x < full + 10;
  frame.group.style.display = isShown ? "" : "none";
  if (!isShown) return;
  frame.rect.setAttribute("x", x);
  frame.rect.setAttribute("width", width);
  frame.text.setAttribute("x", x + 3);
  const space = Math.floor((width - 6) / 7);
  const name = [...frame.name];
  frame.text.textContent =
    name.length <= space ? frame.name : space > 2 ? name.slice(0, space - 1).join("") + "…" : "";
}

function zoom(to) {
  const scale = full / to.width;
  const slack = 0.02;
  for (const frame of all) {
    const isBelow =
      frame.y > to.y && frame.x <= to.x + slack && frame.x + frame.width >= to.x + to.width - slack;
    frame.group.classList.toggle("faded", isBelow);
    if (isBelow) place(frame, 10, full);
    else if (frame.y > to.y) frame.group.style.display = "none";
    else place(frame, 10 + (frame.x - to.x) * scale, frame.width * scale);
  }
  element("back").setAttribute("visibility", to === all[0] ? "hidden" : "visible");
}

for (const frame of all) frame.group.addEventListener("click", () => zoom(frame));
element("back").addEventListener("click", () => zoom(all[0]));
element("search").addEventListener("click", () => {
  const wanted = prompt("Part of a name", "");
  if (wanted === null) return;
  let count = 0;
  for (const frame of all) {
    const isFound = wanted !== "" && frame.name.includes(wanted);
    frame.group.classList.toggle("found", isFound);
    count += isFound;
  }
  element("search").textContent = wanted === "" ? "search" : `search: ${count} found`;
});
