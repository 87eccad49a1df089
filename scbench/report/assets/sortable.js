"use strict";
// Makes the tables sortable; without this script they keep their order, best runs first.
(() => {
  const said = document.getElementById("said");
  const key = (row, column, kind) => {
    const value = row.cells[column].dataset.value;
    if (value === undefined || value === "") return null;
    return kind === "text" ? value : Number(value);
  };
  const compare = (a, b, down) => {
    // Rows without a value stay at the end in both directions.
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "string"
      ? a.localeCompare(b, "en", { numeric: true, sensitivity: "base" })
      : a - b;
    return down ? -order : order;
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const kind = head.dataset.sort;
      if (!kind) return;
      const name = head.textContent.trim().replace(/\s+/g, " ");
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const down = now ? now === "ascending" : kind === "number";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        for (const body of table.tBodies) {
          const rows = [...body.rows].map((row) => [key(row, column, kind), row]);
          rows.sort(([a], [b]) => compare(a, b, down));
          body.append(...rows.map(([, row]) => row));
        }
        said.textContent = `Sorted by ${name}, ${down ? "descending" : "ascending"}`;
      });
    });
  }
})();
