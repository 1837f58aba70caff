"use strict";
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const show = () => { button.textContent = isDark() ? "Light theme" : "Dark theme"; };
  // A page opened from a file may not be allowed to keep anything.
  try { root.dataset.theme = localStorage.getItem("egoequiv-theme") || ""; } catch { root.dataset.theme = ""; }
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("egoequiv-theme", root.dataset.theme); } catch { /* then it is not kept */ }
    show();
  });
  system.addEventListener("change", show);
  show();

  const said = document.getElementById("said");
  // A cell counts by the number it begins with: 1,605 or +0.43 ± 0.02 or 2e-05.
  const number = (cell) => parseFloat(cell.textContent.trim().replace(/(\d),(?=\d{3})/g, "$1"));
  const compare = (a, b) => {
    const x = number(a), y = number(b);
    if (isNaN(x) && isNaN(y)) return a.textContent.localeCompare(b.textContent);
    return isNaN(x) ? 1 : isNaN(y) ? -1 : x - y;
  };
  for (const table of document.querySelectorAll("table")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => compare(a.cells[column], b.cells[column]) * (down ? -1 : 1));
      table.tBodies[0].append(...rows);
      said.textContent = `sorted by ${head.textContent.trim()}, ${down ? "descending" : "ascending"}`;
    }));
  }
})();
