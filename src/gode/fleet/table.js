// Sorts the table of records by a click on a column, and filters it by words or by name=word.
"use strict";
for (const box of document.querySelectorAll(".records")) {
  const body = box.querySelector("tbody");
  const heads = [...box.querySelectorAll("th")];
  const rows = [...body.rows];
  const input = box.querySelector("input");
  const count = box.querySelector(".count");
  const value = (row, i) => row.cells[i].textContent.trim();
  const number = (text) => (text === "" ? NaN : Number(text));
  heads.forEach((head, i) => {
    let up = false;
    head.tabIndex = 0;
    head.style.cursor = "pointer";
    const sort = () => {
      up = !up;
      const sign = up ? 1 : -1;
      rows.sort((a, b) => {
        const [x, y] = [value(a, i), value(b, i)];
        const [m, n] = [number(x), number(y)];
        if (!isNaN(m) && !isNaN(n)) return sign * (m - n);
        if (!isNaN(m) || !isNaN(n)) return isNaN(m) ? 1 : -1;
        return sign * x.localeCompare(y);
      });
      body.append(...rows);
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
  });
  const names = heads.map((head) => head.textContent.trim());
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const row of rows) {
      const fits = words.every((word) => {
        const [name, sought] = word.split(/=(.*)/s);
        const i = sought === undefined ? -1 : names.indexOf(name);
        return (i < 0 ? row.textContent : value(row, i)).toLowerCase().includes(i < 0 ? word : sought);
      });
      row.hidden = !fits;
      n += fits ? 1 : 0;
    }
    count.textContent = `${n} of ${rows.length} records`;
  };
  input.addEventListener("input", show);
  input.disabled = false;
  show();
}
