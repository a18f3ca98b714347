// The studio's own script: files that are dropped, choices kept as they are made, the search as it goes, the answer.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const MOST = 200e6;

  const GONE = "The studio does not answer. If it was closed, start it again with gode studio: this page then goes on by itself, and nothing is lost.";
  const ANEW = "The studio was started again: load this page again, and it asks for the new link that gode studio printed. Nothing is lost.";

  const send = (url, body) => fetch(url, { method: body ? "POST" : "GET", body, credentials: "same-origin" });

  async function asked(url, body) {  // what a script of the page asks for; what went wrong is a sentence, too
    try {
      const answer = await send(url, body);
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

  // Another page takes the place of this one, which keeps its scroll, what is unfolded, and where the keyboard is.
  async function swap(url, body) {
    let answer;
    try { answer = await send(url, body); } catch { location.reload(); return; }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html"), next = page.getElementById("main");
    if (!next) { location.reload(); return; }
    const title = (each) => each.querySelector("summary").textContent.replace(/[(:].*/, "").trim();
    const open = new Set([...document.querySelectorAll("details[open]")].map(title));
    const at = document.activeElement, focus = at && (at.id ? `#${at.id}` : at.name ? `[name="${CSS.escape(at.name)}"]${at.type === "radio" ? ":checked" : ""}` : "");
    const [y, lines] = [scrollY, document.querySelector(".lines")?.scrollTop];
    byId("main").replaceWith(next);
    document.title = page.title;
    document.body.className = page.body.className;
    if (answer.url !== location.href && !answer.url.includes("/edits")) history.replaceState(null, "", answer.url);
    for (const each of document.querySelectorAll("details")) if (open.has(title(each))) each.open = true;
    begin();
    if (lines) document.querySelector(".lines")?.scrollTo(0, lines);
    scrollTo(0, y);
    if (focus) document.querySelector(focus)?.focus({ preventScroll: true });
  }

  // --- files: dropped or pasted anywhere, or chosen --------------------------------------------------
  function refuse(sentence) { complain(byId("said") || byId("problem") || byId("main"), sentence); }

  function read(files, text) {
    if ([...files].some((each) => each.size > MOST)) {
      refuse("At most 200 MB are read; send a smaller file: every tenth row, or only the columns needed.");
      return;
    }
    const body = new FormData();
    for (const each of files) body.append("file", each);
    if (text) body.set("text", text);
    document.body.classList.add("busy");
    send("/runs", body).then((answer) => {
      if (answer.ok) location.assign(answer.url);
      else answer.text().then((page) => {
        document.body.classList.remove("busy");
        refuse(new DOMParser().parseFromString(page, "text/html").querySelector("main p")?.textContent || GONE);
      });
    }, () => refuse(GONE));
  }

  for (const name of ["dragenter", "dragover"])
    document.addEventListener(name, (e) => {
      if (![...e.dataTransfer?.types || []].includes("Files")) return;
      e.preventDefault();
      document.body.classList.add("over");
    });
  document.addEventListener("dragleave", (e) => { if (!e.relatedTarget) document.body.classList.remove("over"); });
  document.addEventListener("drop", (e) => {
    document.body.classList.remove("over");
    if (!e.dataTransfer.files.length) return;
    e.preventDefault();
    read(e.dataTransfer.files);
  });
  document.addEventListener("paste", (e) => {
    if (!byId("drop") || e.target.closest?.("input, textarea")) return;
    const text = e.clipboardData.getData("text/plain"), files = e.clipboardData.files;
    e.preventDefault();
    if (files.length) read(files);
    else if (text.trim().includes("\n")) read([], text);
    else refuse("What was pasted is no table: copy several rows, with their header.");
  });

  function beginHome() {
    const drop = byId("drop");
    if (!drop) return;
    const file = byId("file");
    file.addEventListener("change", () => read(file.files));
    drop.addEventListener("submit", (e) => {
      if (byId("text").value.trim() || file.files.length || e.submitter?.name === "example") return;
      e.preventDefault();
      refuse("Choose a file first, or paste a table.");
    });
    const list = byId("runs");
    list.addEventListener("submit", (e) => {
      const chosen = list.querySelectorAll(":checked").length, risky = e.submitter?.classList.contains("risk");
      if (e.submitter?.closest("td")) return;
      if (chosen < (risky ? 1 : 2)) { e.preventDefault(); refuse(risky ? "Choose the runs to delete first." : "Choose two runs first, to see them beside each other."); }
      else if (risky && !confirm(`Delete ${chosen} run${chosen > 1 ? "s" : ""} with all files?`)) e.preventDefault();
    });
    const look = async () => {  // the list goes with the searches, and with what another tab does
      if (!list.isConnected) return;
      const busy = list.contains(document.activeElement) || list.querySelector(":checked") || document.hidden;
      if (!busy) try {
        const page = new DOMParser().parseFromString(await (await send("/")).text(), "text/html"), next = page.getElementById("runs");
        if (next && next.innerHTML !== list.innerHTML && !list.querySelector(":checked")) list.replaceChildren(...next.childNodes);
      } catch { /* it is asked again */ }
      setTimeout(look, 3000);
    };
    setTimeout(look, 3000);
  }

  function beginName() {
    const title = byId("title");
    if (!title) return;
    const keep = () => {
      const text = title.value.trim();
      if (!text || text === title.dataset.before) { title.value = title.dataset.before; return; }
      title.dataset.before = text;
      document.title = `${text} · gode studio`;
      const body = new FormData();
      body.set("title", text);
      send(title.form.action, body).catch(() => refuse(GONE));
    };
    title.addEventListener("change", keep);
    title.form.addEventListener("submit", (e) => { e.preventDefault(); title.blur(); });
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

  function beginSetup() {
    const setup = byId("setup");
    if (!setup) return;
    const plots = byId("plots");
    const drop = (series, at) => {
      const lines = at.map((i) => series.lines[i]).sort((a, b) => a - b);
      if (!lines.length) return;
      byId("edit").value = `drop ${series.column.includes(",") ? `"${series.column}"` : series.column} lines ${ranges(lines)}`;
      swap(setup.action.replace(/\/start$/, "/edits"), new FormData(setup));
    };
    const draw = async () => {
      for (const plot of await drawAll(plots, { select: "Drop points" })) {
        if (plot.place.dataset.listens) continue;
        plot.place.dataset.listens = "yes";
        plot.place.addEventListener("plot-point", (e) => {
          if (plot.selecting && e.detail.series.lines) drop(e.detail.series, [e.detail.index]);
        });
        plot.place.addEventListener("plot-box", (e) => {
          const b = e.detail;
          for (const s of plot.series) {
            if (!s.lines || !s.shown) continue;
            const at = [];
            s.x.forEach((x, i) => { if (x >= b.x0 && x <= b.x1 && s.y[i] >= b.y0 && s.y[i] <= b.y1) at.push(i); });
            if (at.length) { drop(s, at); return; }
          }
        });
      }
    };
    let turn = 0, timer = 0, version = "";
    const keep = async () => {
      const mine = ++turn;
      const values = await asked(setup.dataset.save, new FormData(setup));
      if (mine !== turn) return;
      if (values.version) version = values.version;
      if (values.problem) complain(byId("problem"), values.problem); else byId("problem").replaceChildren();
      if (values.command) byId("copy-command").textContent = values.command;
      byId("copy-python").textContent = values.python || "";
      const list = document.createElement("ul");
      for (const sentence of values.told || []) list.append(made("li", sentence));
      byId("told").replaceChildren(list);
    };
    const rereads = (name) => /^(part|header|skip|decimal|missing)$/.test(name);
    const isTool = (name) => !name || /^(title|edit|crop|drop|subtract|multiply|hold)\b/.test(name);
    const reread = () => swap(setup.action.replace(/\/start$/, "/part"), new FormData(setup));
    setup.addEventListener("input", (e) => {
      if (isTool(e.target.name) || rereads(e.target.name)) return;
      clearTimeout(timer);
      if (e.target.matches("select, [type=checkbox]")) return;  // their change comes at once
      timer = setTimeout(keep, 400);
    });
    setup.addEventListener("change", async (e) => {
      if (isTool(e.target.name)) return;
      clearTimeout(timer);
      if (rereads(e.target.name)) { reread(); return; }
      if (e.target.matches(".chip")) {
        e.target.dataset.role = e.target.value;
        const measured = e.target.value === "measured", formula = e.target.closest("tr").querySelector(".measures");
        formula.hidden = !measured;
        if (measured) {  // its states have equations of their own
          for (let each = byId("frame"); each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
          formula.focus();
        }
      }
      await keep();
      if (/^(role\.|wells$|formula$)/.test(e.target.name)) await draw();
    });
    setup.addEventListener("submit", (e) => {
      if (!e.submitter || e.submitter.id === "go") return;  // what edits or reads again stays on the page
      e.preventDefault();
      swap(e.submitter.formAction, new FormData(setup));
    });
    setup.addEventListener("keydown", (e) => {  // Enter in a field of a tool uses that tool; elsewhere it keeps the choice
      if (e.key !== "Enter" || e.target.tagName !== "INPUT") return;
      const tool = e.target.closest(".tool"), button = tool && tool.querySelector("button");
      e.preventDefault();
      if (rereads(e.target.name)) reread();
      else if (button) button.click();
    });
    let dragged = null;  // a row dragged onto another takes its role, and gives its own
    for (const row of setup.querySelectorAll("tr[draggable]")) {
      const chip = row.querySelector(".chip");
      row.addEventListener("dragstart", () => { dragged = chip; });
      row.addEventListener("dragover", (e) => { if (dragged) e.preventDefault(); });
      row.addEventListener("drop", (e) => {
        if (!dragged || dragged === chip) return;
        e.preventDefault();
        [chip.value, dragged.value] = [dragged.value, chip.value];
        dragged.dataset.role = dragged.value;
        dragged = null;
        chip.dispatchEvent(new Event("change", { bubbles: true }));
      });
    }
    const names = setup.querySelector(".lines .names");
    if (names) names.parentNode.scrollTop = names.offsetTop - names.parentNode.offsetTop - 40;
    const look = async () => {  // what another tab changed is shown here, too
      if (!setup.isConnected) return;
      if (!document.hidden) {
        const mine = turn, state = await asked(setup.dataset.state);
        if (state.closed) refuse(ANEW);
        else if (state.state && state.state !== "draft") { location.reload(); return; }
        else if (state.version && mine === turn && setup.isConnected) {
          if (version && state.version !== version && !setup.contains(document.activeElement)) { swap(location.href); return; }
          if (!version) version = state.version;
        }
      }
      setTimeout(look, 2000);
    };
    look();
    draw();
  }

  // --- a search as it goes -----------------------------------------------------------------------
  function beginSearch() {
    const live = byId("live");
    if (!live) return;
    let plots = null, front = null, bestSeen = "", last = null, begun = null;
    const two = (n) => String(Math.floor(n)).padStart(2, "0");
    const clock = (seconds) => seconds < 3600 ? `${Math.floor(seconds / 60)}:${two(seconds % 60)}` : `${Math.floor(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}`;
    const words = (seconds) => seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
    const BEST = 1;  // the place of its colour
    const tick = () => {  // the clock goes on whatever the search does
      if (!live.isConnected || !last || last.state !== "running" || begun === null) return;
      const seconds = (performance.now() - begun) / 1000;
      byId("clock").textContent = clock(seconds);
      if (last.n_fitted === undefined) return;
      const left = last.left === null || last.left === undefined ? "" : last.left > 0.5 ? `; about ${words(last.left)} left` : "; longer than planned";
      const known = last.known ? ` (${last.known} more are known from before)` : "";
      byId("counts").textContent = `${last.n_fitted} equations tried, ${last.n_solved} followed along the data${known}${left}`;
      if (left) byId("done").value = seconds / (seconds + last.left + 1e-9);
    };
    setInterval(tick, 250);
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
        if (byId("best").textContent !== (state.best || "")) byId("best").textContent = state.best || "";
      }
      if (!plots) plots = await drawAll(byId("plots"), { src: live.dataset.src });
      show(state);
    };
    function show(state) {
      if (state.best !== bestSeen && (state.curves || []).length) {
        bestSeen = state.best;
        for (const plot of plots) {
          const data = plot.spec.series.map((s, i) => ({ ...s, colour: i }));
          const curves = state.curves.filter((c) => c.values[plot.spec.channel]).map((c) => ({
            kind: "line", name: c.run === 0 ? "best so far" : "", loose: true, colour: state.curves.length > 1 ? c.run : BEST, x: c.t, y: c.values[plot.spec.channel] }));
          if (curves.length) plot.setSeries([...data, ...curves]);
        }
      }
      if ((state.front || []).length) {
        const [x, y, text] = [0, 1, 2].map((k) => state.front.map((p) => k === 1 ? Math.max(p[1], 1e-9) : p[k]));
        const series = [{ kind: "line", name: "", x, y, colour: 0, width: 1 }, { kind: "points", name: "", size: 5, x, y, text, colour: 0 }];
        if (front) front.setSeries(series);
        else {
          const own = document.createElement("div");
          byId("front").append(own);
          front = new window.gode.Plot(own, { title: "The best so far of each length", x: "complexity of the equation", y: "misfit / noise", log: "y", height: 220, series });
        }
      }
    }
    const lookOn = () => {
      if (live.isConnected) look().then(() => setTimeout(lookOn, 700), () => {
        byId("stage").textContent = GONE;
        setTimeout(lookOn, 3000);
      });
    };
    lookOn();
  }

  // --- the answer: tabs, sliders, and two equations side by side -------------------------------------
  function beginTabs() {
    const bar = document.querySelector(".tabs");
    if (!bar) return;
    const tabs = [...bar.querySelectorAll("a")], panels = tabs.map((tab) => byId(tab.hash.slice(1)));
    bar.setAttribute("role", "tablist");
    tabs.forEach((tab, i) => {
      tab.setAttribute("role", "tab");
      tab.id = `tab-${panels[i].id}`;
      tab.setAttribute("aria-controls", panels[i].id);
      panels[i].setAttribute("role", "tabpanel");
      panels[i].setAttribute("aria-labelledby", tab.id);
    });
    const choose = (at, focus) => {
      tabs.forEach((tab, i) => {
        tab.setAttribute("aria-selected", String(i === at));
        tab.tabIndex = i === at ? 0 : -1;
        panels[i].hidden = i !== at;
      });
      if (focus) tabs[at].focus();
    };
    tabs.forEach((tab, i) => tab.addEventListener("click", (e) => {
      e.preventDefault();
      history.replaceState(null, "", tab.hash);
      choose(i);
    }));
    bar.addEventListener("keydown", (e) => {
      const at = tabs.indexOf(document.activeElement), n = tabs.length;
      const to = { ArrowRight: (at + 1) % n, ArrowLeft: (at + n - 1) % n, Home: 0, End: n - 1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      history.replaceState(null, "", tabs[to].hash);
      choose(to, true);
    });
    choose(Math.max(tabs.findIndex((tab) => tab.hash === location.hash), 0));
    for (const box of document.querySelectorAll("[data-group]")) {  // the colour of each curve beside its equation
      const drawn = window.gode.plots.flatMap((p) => p.series).find((s) => s.group === box.dataset.group && s.kind === "line");
      if (drawn) box.closest("label").style.borderLeftColor = drawn.paint;
    }
  }

  // Points that are left out, or the part that is looked at, become a new run.
  function beginPart() {
    const part = byId("again-part");
    if (!part) return;
    const [edit, called, go] = [part.elements.edit, part.elements.called, part.querySelector("button")];
    const mine = window.gode.plots.filter((plot) => byId("kept").contains(plot.place));
    const left = new Map();  // lines, by column
    const column = (name) => name.includes(",") ? `"${name}"` : name;
    const tell = () => {
      const n = [...left.values()].reduce((sum, lines) => sum + lines.size, 0), seen = mine.find((plot) => !plot.whole);
      part.querySelectorAll("[name=edit] ~ [name=edit]").forEach((each) => each.remove());
      edit.value = "";
      if (n) {
        called.value = `without ${n} point${n > 1 ? "s" : ""}`;
        const edits = [...left].filter(([, lines]) => lines.size).map(([name, lines]) => `drop ${column(name)} lines ${ranges([...lines].sort((a, b) => a - b))}`);
        edit.value = edits[0];
        for (const more of edits.slice(1)) { const other = edit.cloneNode(); other.value = more; edit.after(other); }
      } else if (seen) {
        const t = seen.series.filter((s) => s.lines).flatMap((s) => [...s.x]).filter((x) => x >= seen.range.x0 && x <= seen.range.x1);
        if (t.length > 5) {
          const ends = [Math.min(...t), Math.max(...t)].map((x) => String(+x.toPrecision(6)));
          called.value = `from ${ends[0]} to ${ends[1]}`;
          edit.value = `crop ${ends[0]} to ${ends[1]}`;
        }
      }
      part.hidden = !edit.value;
      const words = n ? called.value : `only ${called.value}`;
      if (edit.value && go.textContent !== `Search again ${words}`) go.textContent = `Search again ${words}`;
    };
    const mark = (plot) => {
      const rings = plot.series.filter((s) => s.lines && left.get(s.column)?.size).map((s) => {
        const at = [...s.lines.keys()].filter((i) => left.get(s.column).has(s.lines[i]));
        return { kind: "points", name: "left out", hollow: true, size: 6, colour: 8, loose: true, x: at.map((i) => s.x[i]), y: at.map((i) => s.y[i]) };
      });
      plot.setSeries([...plot.spec.series, ...rings]);
      tell();
    };
    const turn = (plot, s, at) => {
      const lines = left.get(s.column) || left.set(s.column, new Set()).get(s.column);
      for (const i of at) if (!lines.delete(s.lines[i])) lines.add(s.lines[i]);
      mark(plot);
    };
    for (const plot of mine) {
      plot.canvas.addEventListener("painted", tell);
      plot.place.addEventListener("plot-point", (e) => { if (plot.selecting && e.detail.series.lines) turn(plot, e.detail.series, [e.detail.index]); });
      plot.place.addEventListener("plot-box", (e) => {
        const b = e.detail;
        for (const s of plot.series) if (s.lines && s.shown) turn(plot, s, [...s.x.keys()].filter((i) => s.x[i] >= b.x0 && s.x[i] <= b.x1 && s.y[i] >= b.y0 && s.y[i] <= b.y1));
      });
    }
  }

  function beginSliders() {
    const sliders = byId("sliders");
    if (!sliders) return;
    const all = [...sliders.querySelectorAll("[data-constant]")], best = byId("misfit").textContent;
    const kept = () => window.gode.plots.filter((plot) => plot.spec.channel && byId("kept").contains(plot.place));
    let busy = false, again = false, turn = 0;
    const tell = (each) => { byId(`value-${each.dataset.constant}`).textContent = String(+(+each.value).toPrecision(5)); };
    const ask = async () => {
      if (busy) { again = true; return; }
      busy = true;
      const body = new FormData();
      body.set("number", "0");
      body.set("constants", all.map((each) => each.value).join(" "));
      const mine = turn, values = await asked(sliders.dataset.url, body);
      busy = false;
      if (mine !== turn) return;  // all went back to the best meanwhile
      if (values.misfit) byId("misfit").textContent = values.misfit;
      for (const plot of kept()) {
        const curves = values.curves && values.curves[plot.spec.channel];
        if (curves) plot.setSeries([...plot.spec.series, ...curves.map((c) => ({ ...c, colour: 6, width: 3, loose: true }))]);
      }
      if (again) { again = false; ask(); }
    };
    const reset = () => {
      turn++;
      again = false;
      for (const each of all) { each.value = each.dataset.best; tell(each); }
      byId("misfit").textContent = best;
      for (const plot of kept()) plot.setSeries(plot.spec.series);
    };
    for (const each of all) each.addEventListener("input", () => { tell(each); ask(); });
    sliders.addEventListener("keydown", (e) => { if (e.key === "Escape") reset(); });
    byId("sliders-reset").addEventListener("click", reset);
  }

  function beginCompare() {
    const compare = byId("compare");
    if (!compare) return;
    byId("compare-go").addEventListener("click", async () => {
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
  }

  let begun = false;
  function begin() {
    if (begun) window.gode.inPage();
    begun = true;
    for (const each of [beginHome, beginName, beginSetup, beginSearch, beginTabs, beginPart, beginSliders, beginCompare]) each();
  }
  begin();
})();
