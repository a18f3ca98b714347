// The studio's own script: dropping files, choices kept as they are made, the search as it goes, sliders.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const post = (url, body) => fetch(url, { method: "POST", body, credentials: "same-origin" });
  const MOST = 200e6;

  const GONE = "The studio does not answer. If it was closed, start it again with gode studio and open the link that it prints: nothing is lost.";
  const ANEW = "The studio was started again: load this page again, and it asks for the new link that gode studio printed. Nothing is lost.";

  async function asked(url, body) {  // what a script of the page asks for; what went wrong is a sentence, too
    try {
      const answer = body ? await post(url, body) : await fetch(url, { credentials: "same-origin" });
      if (answer.status === 403) return { problem: ANEW, closed: true };
      const kind = answer.headers.get("content-type") || "";
      return kind.startsWith("application/json") ? await answer.json() : { problem: "This failed in an unexpected way; load the page again." };
    } catch { return { problem: GONE, gone: true }; }
  }

  function made(tag, text, kind) {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    element.textContent = text;
    return element;
  }

  function complain(place, sentence) {  // the place in an equation stands below the sentence
    const [words, ...rest] = sentence.split("\n"), said = made("div", "", "problem");
    said.setAttribute("role", "alert");
    said.append(made("p", words), ...(rest.length ? [made("pre", rest.join("\n"))] : []));
    place.replaceChildren(said);
  }

  // --- the page to begin -------------------------------------------------------------------------
  const drop = byId("drop");
  if (drop) {
    const file = byId("file"), said = document.createElement("div");
    drop.prepend(said);
    const tooLarge = () => {
      const large = [...file.files].some((each) => each.size > MOST);
      if (large) complain(said, "At most 200 MB are read; send a smaller file: every tenth row, or only the columns needed.");
      return large;
    };
    for (const name of ["dragenter", "dragover"])
      drop.addEventListener(name, (e) => { e.preventDefault(); drop.classList.add("over"); });
    for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
    drop.addEventListener("drop", (e) => {
      e.preventDefault();
      if (!e.dataTransfer.files.length) return;
      file.files = e.dataTransfer.files;
      if (!tooLarge()) drop.submit();
    });
    document.addEventListener("paste", (e) => {
      if (e.target.closest && e.target.closest("input, textarea")) return;
      const text = e.clipboardData.getData("text/plain");
      if (e.clipboardData.files.length) file.files = e.clipboardData.files;
      else if (text.trim().includes("\n")) byId("text").value = text;
      else { complain(said, "What was pasted is no table: copy several rows, with their header."); return; }
      e.preventDefault();
      if (!tooLarge()) drop.submit();
    });
    file.addEventListener("change", tooLarge);
    drop.addEventListener("submit", (e) => {
      const given = file.files.length || byId("text").value.trim() || (e.submitter && e.submitter.name === "example");
      if (!given) complain(said, "Choose a file first, or paste a table.");
      if (!given || tooLarge()) e.preventDefault();
    });
  }

  // --- plots that are fetched --------------------------------------------------------------------
  async function drawAll(place, options = {}) {
    const values = await asked(place.dataset.src || options.src);
    if (values.problem) { place.replaceChildren(); return []; }
    const kept = [...place.children].map((own) => own.plot).filter(Boolean);
    const same = kept.length === values.plots.length && kept.every((p, i) => p.spec.title === values.plots[i].title);
    if (!same) place.replaceChildren();
    return values.plots.map((spec, i) => {
      if (same) { kept[i].setSeries(spec.series); return kept[i]; }
      const own = document.createElement("div");
      place.append(own);
      own.plot = new window.gode.Plot(own, { link: "t", height: 240, ...spec, select: options.select });
      return own.plot;
    });
  }

  // --- the choices before a search ---------------------------------------------------------------
  const setup = byId("setup");
  if (setup) {
    const plots = byId("plots");
    const draw = async () => {
      for (const plot of await drawAll(plots, { select: "Drop points" })) {
        if (plot.place.dataset.listens) continue;
        plot.place.dataset.listens = "yes";
        const dropped = (series, at) => {
          const lines = at.map((i) => series.lines[i]).sort((a, b) => a - b);
          if (!lines.length) return;
          byId("edit").value = `drop ${series.column.includes(",") ? `"${series.column}"` : series.column} lines ${ranges(lines)}`;
          setup.action = setup.action.replace(/\/start$/, "/edits");
          setup.submit();
        };
        plot.place.addEventListener("plot-point", (e) => {
          if (plot.selecting && e.detail.series.lines) dropped(e.detail.series, [e.detail.index]);
        });
        plot.place.addEventListener("plot-box", (e) => {
          const b = e.detail;
          for (const s of plot.series) {
            if (!s.lines || !s.shown) continue;
            const at = [];
            s.x.forEach((x, i) => { if (x >= b.x0 && x <= b.x1 && s.y[i] >= b.y0 && s.y[i] <= b.y1) at.push(i); });
            if (at.length) { dropped(s, at); return; }
          }
        });
      }
    };
    const ranges = (lines) => {
      const out = [];
      for (let i = 0; i < lines.length; i++) {
        let j = i;
        while (lines[j + 1] === lines[j] + 1) j++;
        out.push(i === j ? lines[i] : `${lines[i]}-${lines[j]}`);
        i = j;
      }
      return out.join(",");
    };
    let turn = 0, timer = 0;
    const keep = async () => {
      const mine = ++turn;
      const values = await asked(setup.dataset.save, new FormData(setup));
      if (mine !== turn) return;
      if (values.problem) complain(byId("problem"), values.problem); else byId("problem").replaceChildren();
      if (values.command) byId("copy-command").textContent = values.command;
      byId("copy-python").textContent = values.python || "";
      const list = document.createElement("ul");
      for (const sentence of values.told || []) list.append(made("li", sentence));
      byId("told").replaceChildren(list);
    };
    const rereads = (name) => byId(name === "part" ? "part-go" : /^(header|skip|decimal|missing)$/.test(name) ? "reread" : "");
    const isTool = (name) => !name || /^(edit|crop|drop|subtract|multiply|hold)\b/.test(name);
    setup.addEventListener("input", (e) => {
      if (isTool(e.target.name)) return;
      clearTimeout(timer);
      if (e.target.matches("select, [type=checkbox]")) return;  // their change comes at once
      timer = setTimeout(keep, 400);
    });
    setup.addEventListener("change", async (e) => {
      if (isTool(e.target.name)) return;
      clearTimeout(timer);
      const again = rereads(e.target.name);
      if (again) { again.click(); return; }
      await keep();
      if (/^(role\.|wells$)/.test(e.target.name)) await draw();
    });
    setup.addEventListener("keydown", (e) => {  // Enter in a field of a tool uses that tool; elsewhere it keeps the choice
      if (e.key !== "Enter" || e.target.tagName !== "INPUT") return;
      const tool = e.target.closest(".tool"), button = rereads(e.target.name) || (tool && tool.querySelector("button"));
      e.preventDefault();
      if (button) button.click();
    });
    draw();
  }

  // --- a search as it goes -----------------------------------------------------------------------
  const live = byId("live");
  if (live) {
    let plots = null, front = null, bestSeen = "", last = null, begun = null;
    const words = (seconds) => seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
    const COLOUR = 1;
    const tick = () => {  // the clock goes on whatever the search does
      if (!last || last.state !== "running" || begun === null) return;
      const seconds = (performance.now() - begun) / 1000;
      const left = last.left === null || last.left === undefined ? "" : last.left > 0.5 ? `, about ${words(last.left)} left` : ", longer than planned";
      const known = last.known ? ` (${last.known} more are known from before)` : "";
      byId("counts").textContent = last.n_fitted === undefined ? words(seconds) :
        `${last.n_fitted} equations tried, ${last.n_solved} solved along the data${known}, ${words(seconds)}${left}`;
      if (left) byId("done").value = seconds / (seconds + last.left + 1e-9);
    };
    setInterval(tick, 1000);
    const look = async () => {
      const state = await asked(live.dataset.state);
      if (state.gone) throw new Error(GONE);
      if (state.state !== live.dataset.was) {  // also where the studio was started again: the page then says how to get in
        if (!state.problem) byId("stage").textContent = state.state === "running" ? "It begins." : state.state === "failed" ? "It ended." : "Done. The answer is being prepared.";
        location.reload();
        return;
      }
      last = state;
      const since = state.elapsed === null ? null : performance.now() - 1000 * state.elapsed;
      if (begun === null || since === null || Math.abs(since - begun) > 2000) begun = since;
      if (state.state === "queued") {
        byId("stage").textContent = state.ahead ? `Waiting for ${state.ahead} other search${state.ahead > 1 ? "es" : ""}.` : "About to begin.";
      } else {
        const stage = state.words || "Starting the engine";
        const text = stage[0].toUpperCase() + stage.slice(1) + ".";
        if (byId("stage").textContent !== text) byId("stage").textContent = text;
        tick();
        byId("best").textContent = state.best || "";
        await show(state);
      }
    };
    async function show(state) {
      if (!plots) plots = await drawAll(byId("plots"), { src: live.dataset.src });
      if (state.best !== bestSeen && (state.curves || []).length) {
        bestSeen = state.best;
        for (const plot of plots) {
          const data = plot.spec.series.map((s, i) => ({ ...s, colour: i }));
          const curves = state.curves.filter((c) => c.values[plot.spec.channel]).map((c) => ({
            kind: "line", name: c.run === 0 ? "best so far" : "", loose: true, colour: state.curves.length > 1 ? c.run : COLOUR, x: c.t, y: c.values[plot.spec.channel] }));
          plot.setSeries([...data, ...curves]);
        }
      }
      if ((state.front || []).length) {
        const series = [{ kind: "points", name: "", size: 5, x: state.front.map((p) => p[0]), y: state.front.map((p) => Math.max(p[1], 1e-9)), text: state.front.map((p) => p[2]) }];
        if (front) front.setSeries(series);
        else {
          const own = document.createElement("div");
          byId("front").append(own);
          front = new window.gode.Plot(own, { title: "The front so far: accuracy against complexity", x: "complexity", y: "misfit / noise", log: "y", height: 220, series });
        }
      }
    }
    const lookOn = () => look().then(() => setTimeout(lookOn, 1000), () => {
      byId("stage").textContent = GONE;
      setTimeout(lookOn, 3000);
    });
    lookOn();
  }

  // --- the answer: sliders, and two equations side by side -----------------------------------------
  const sliders = byId("sliders");
  if (sliders) {
    const all = [...sliders.querySelectorAll("[data-constant]")];
    let busy = false, again = false;
    const tell = (each) => { byId(`value-${each.dataset.constant}`).textContent = String(+(+each.value).toPrecision(5)); };
    const ask = async () => {
      if (busy) { again = true; return; }
      busy = true;
      const body = new FormData();
      body.set("number", "0");
      body.set("constants", all.map((each) => each.value).join(" "));
      const values = await asked(sliders.dataset.url, body);
      for (const plot of window.gode.plots) {
        const curves = values.curves && values.curves[plot.spec.channel];
        if (!curves) continue;
        plot.setSeries([...plot.spec.series, ...curves.map((c) => ({ ...c, colour: 6, width: 3, loose: true }))]);
      }
      busy = false;
      if (again) { again = false; ask(); }
    };
    for (const each of all)
      each.addEventListener("input", () => { tell(each); ask(); });
    byId("sliders-reset").addEventListener("click", () => {
      for (const each of all) { each.value = each.dataset.best; tell(each); }
      for (const plot of window.gode.plots) if (plot.spec.channel) plot.setSeries(plot.spec.series);
    });
  }

  const compare = byId("compare");
  if (compare) byId("compare-go").addEventListener("click", async () => {
    const body = new FormData();
    for (const key of ["one", "other"]) body.set(key, byId(key).value);
    byId("experiment").textContent = "Simulating experiments …";
    const values = await asked(compare.dataset.url, body);
    if (values.problem) { byId("experiment").textContent = values.problem; return; }
    byId("sides").replaceChildren(...values.sides.map((side) => {
      const card = document.createElement("div");
      card.className = "card";
      const shown = new DOMParser().parseFromString(side.formula, "text/html");
      const formula = document.createElement("p");
      formula.append(...shown.body.childNodes);
      card.append(formula, made("p", `rms residual ${side.misfit} noise, complexity ${side.complexity}, criterion ${side.criterion}`, "soft"));
      return card;
    }));
    byId("experiment").textContent = values.words;
    byId("foretold").replaceChildren(...values.plots.map(() => document.createElement("div")));
    values.plots.forEach((spec, i) => new window.gode.Plot(byId("foretold").children[i], { ...spec, legend: true }));
    for (const key of ["one", "other"]) window.gode.show(`c${byId(key).value}`, true);
  });
})();
