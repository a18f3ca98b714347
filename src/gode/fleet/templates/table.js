// Sorts the table of records by a click on a column, and filters it by words, name=word, name<number, name>number.
"use strict";
for (const box of document.querySelectorAll(".records")) {
  const body = box.querySelector("tbody");
  const heads = [...box.querySelectorAll("th")];
  const names = heads.map((head) => head.textContent.trim());
  const input = box.querySelector("input");
  const count = box.querySelector(".count");
  const all = box.querySelector("button");
  let most = 200; // rows that are laid out at once: a browser needs a while for thousands
  const order = new Intl.Collator(undefined, { numeric: true });
  const cells = (row) => [...row.cells].map((cell) => cell.textContent.trim());
  const numbers = (text) => (text === "" ? [NaN] : text.split(/\s+/).map(Number));
  const rows = [...body.rows].map((row) => {
    const texts = cells(row);
    return { row, texts, all: texts.join(" ").toLowerCase(), numbers: texts.map(numbers) };
  });
  const known = (values) => !values.some(isNaN);

  // Numbers, one after the other, come before words; the latter are in the order of a dictionary.
  const compare = (a, b, i, sign) => {
    const [m, n] = [a.numbers[i], b.numbers[i]];
    if (!known(m) || !known(n)) {
      return known(m) - known(n) ? known(n) - known(m) : sign * order.compare(a.texts[i], b.texts[i]);
    }
    const k = m.findIndex((value, j) => value !== n[j]);
    return k < 0 ? sign * (m.length - n.length) : sign * (m[k] - (n[k] ?? -Infinity));
  };

  heads.forEach((head, i) => {
    const button = document.createElement("button");
    const mark = document.createElement("span");
    Object.assign(button.style, { font: "inherit", color: "inherit", background: "none", border: "0", padding: "0" });
    button.style.cursor = "pointer";
    button.type = "button";
    mark.ariaHidden = "true";
    button.append(...head.childNodes, mark);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.ariaSort !== "ascending";
      rows.sort((a, b) => compare(a, b, i, up ? 1 : -1));
      body.append(...rows.map((each) => each.row));
      show();
      for (const other of heads) {
        other.removeAttribute("aria-sort");
        other.querySelector("span").textContent = "";
      }
      head.ariaSort = up ? "ascending" : "descending";
      mark.textContent = up ? " ▲" : " ▼";
    });
  });

  const fits = (each, word) => {
    const [, name, sign, sought] = word.match(/^(\w+)([=<>])(.*)$/) ?? [];
    const i = names.indexOf(name);
    if (i < 0) return each.all.includes(word);
    if (sign === "=") return each.texts[i].toLowerCase().includes(sought);
    const value = each.numbers[i][0];
    return sign === "<" ? value < Number(sought) : value > Number(sought);
  };
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const each of rows) {
      const fit = words.every((word) => fits(each, word));
      n += fit ? 1 : 0;
      each.row.hidden = !fit || n > most;
    }
    count.textContent = `${n} of ${rows.length} records` + (n > most ? `, of which the first ${most} are shown` : "");
    all.hidden = n <= most;
  };
  all.addEventListener("click", () => { most = Infinity; show(); });
  input.addEventListener("input", show);
  input.disabled = false;
  show();
}
