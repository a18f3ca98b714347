// Plots on a canvas: zoom, hover, series that can be switched off; for the report and the studio.
"use strict";
(() => {
  const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7B5EA7", "#8A6D3B", "#B0003A", "#5A5A5A"];
  const PALE = ["#5CB8F5", "#FF8F4A", "#35CFA0", "#EDA5CE", "#F2C14E", "#A5DBFF", "#BBA2EC", "#CFAE78", "#FF7FA0", "#C8C8C8"];  // on dark pages
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const PAD = { left: 64, right: 14, top: 10, bottom: 42 };
  const plots = [];

  const colour = (name, fallback) =>
    getComputedStyle(document.documentElement).getPropertyValue(name).trim() || fallback;
  const numbers = (list) => {
    if (typeof list !== "string") return Float64Array.from(list || [], (v) => (v === null ? NaN : v));
    const text = atob(list), bytes = new Uint8Array(text.length);  // many values come as their bytes
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return new Float64Array(bytes.buffer);
  };
  const short = (v) => {
    if (!Number.isFinite(v)) return "";
    const size = Math.abs(v);
    if (size === 0 || (size < 1e6 && size >= 1e-4)) return String(+v.toPrecision(6));
    return v.toExponential(3).replace(/\.?0+e/, "e").replace("e+", "e");
  };
  const element = (tag, kind, text) => {
    const made = document.createElement(tag);
    if (kind) made.className = kind;
    if (text) made.textContent = text;
    return made;
  };

  function ticks(low, high, count) {
    const raw = (high - low) / count, size = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((k) => k * size).find((s) => s >= raw) || raw;
    const out = [];
    for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * step && out.length < 50; v += step)
      out.push(Math.abs(v) < 1e-9 * step ? 0 : v);
    return out;
  }

  function logTicks(low, high) {
    const out = [];
    for (let k = Math.floor(low); k <= Math.ceil(high); k++)
      for (const m of high - low > 3 ? [1] : [1, 2, 5]) {
        const v = k + Math.log10(m);
        if (v >= low && v <= high) out.push(v);
      }
    return out.length > 1 ? out : ticks(10 ** low, 10 ** high, 4).map(Math.log10);
  }

  class Plot {
    constructor(place, spec) {
      this.place = place;
      this.spec = spec;
      this.height = spec.height || 300;
      this.logX = (spec.log || "").includes("x");
      this.logY = (spec.log || "").includes("y");
      this.build();
      this.setSeries(spec.series);
      for (let i = plots.length - 1; i >= 0; i--) if (!plots[i].place.isConnected) plots.splice(i, 1);
      plots.push(this);
    }

    build() {
      const { place, spec } = this;
      place.replaceChildren();
      place.classList.add("plot");
      const head = element("div", "plot-head");
      head.append(element("span", "plot-title", spec.title));
      const tools = element("span", "plot-tools");
      const button = (text, words, act) => {
        const made = element("button", "small", text);
        made.type = "button";
        made.setAttribute("aria-label", `${words}: ${spec.title}`);
        made.title = words;
        made.addEventListener("click", act);
        tools.append(made);
        return made;
      };
      if (spec.select) {
        const mode = button(spec.select, spec.select, () => {
          this.selecting = !this.selecting;
          mode.setAttribute("aria-pressed", String(this.selecting));
          this.canvas.classList.toggle("selecting", this.selecting);
        });
        mode.setAttribute("aria-pressed", "false");
      }
      button("+", "Zoom in", () => this.zoom(0.5));
      button("−", "Zoom out", () => this.zoom(2));
      button("All", "Show all", () => this.reset(true));
      head.append(tools);
      this.canvas = element("canvas");
      this.canvas.tabIndex = 0;
      this.canvas.setAttribute("role", "img");
      this.legend = element("div", "plot-legend");
      this.tip = element("div", "plot-tip");
      this.tip.hidden = true;
      const frame = element("div", "plot-frame");
      frame.append(this.canvas, this.tip);
      place.append(head, frame, this.legend);
      this.listen();
      new ResizeObserver(() => this.draw()).observe(frame);
    }

    setSeries(series) {
      this.series = series.map((s, i) => ({
        ...s,
        x: numbers(s.x), y: numbers(s.y), low: numbers(s.low), high: numbers(s.high), lines: s.lines && numbers(s.lines),
        shown: !s.hidden,
        dash: s.dash || [],
        get paint() { return (dark.matches ? PALE : COLOURS)[(s.colour === undefined ? i : s.colour) % COLOURS.length]; },
      }));
      for (const s of this.series) {
        s.sorted = s.x.every((v, i) => i === 0 || v >= s.x[i - 1]);
        if (this.logY) s.y = s.y.map(Math.log10);
        if (this.logX) s.x = s.x.map(Math.log10);
      }
      this.drawLegend();
      if (!this.range || this.whole) this.reset(false);
      this.describe();
      this.draw();
    }

    describe() {
      const n = this.series.reduce((sum, s) => sum + s.x.length, 0);
      const r = this.all();
      const shown = (v, log) => short(log ? 10 ** v : v);
      this.canvas.setAttribute("aria-label",
        `${this.spec.title}: ${this.spec.y} over ${this.spec.x}; ${n} values, ${this.spec.x} from ${shown(r.x0, this.logX)} to ` +
        `${shown(r.x1, this.logX)}, ${this.spec.y} from ${shown(r.y0, this.logY)} to ${shown(r.y1, this.logY)}. Plus and minus zoom, arrows move, 0 shows all.`);
    }

    drawLegend() {
      this.legend.replaceChildren();
      const named = this.series.filter((s) => s.name && (s.shown || !s.group));  // boxes show hidden equations
      if (!(this.spec.legend ?? named.length > 1)) return;
      for (const s of named) {
        const made = element("button", "plot-key");
        made.type = "button";
        made.setAttribute("aria-pressed", String(s.shown));
        const mark = element("span", `plot-mark ${s.kind}`);
        mark.style.background = s.hollow ? `radial-gradient(transparent 45%, ${s.paint} 55%)` : s.dash.length
          ? `repeating-linear-gradient(to right, ${s.paint} 0 .3rem, transparent .3rem .45rem)` : s.paint;
        made.append(mark, element("span", "", s.name));
        made.addEventListener("click", () => {
          if (s.group) window.gode.show(s.group, !s.shown);
          else { s.shown = !s.shown; made.setAttribute("aria-pressed", String(s.shown)); this.draw(); }
        });
        this.legend.append(made);
      }
    }

    all() {
      let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
      const firm = this.series.some((s) => s.shown && !s.loose);
      for (const s of this.series) {
        if (!s.shown || (s.loose && firm)) continue;
        for (const v of s.x) { if (v < x0) x0 = v; if (v > x1) x1 = v; }
        for (const list of [s.y, s.low, s.high])
          for (const v of list) { if (v < y0) y0 = v; if (v > y1) y1 = v; }
      }
      if (!(x1 >= x0)) { x0 = 0; x1 = 1; }
      if (!(y1 >= y0)) { y0 = 0; y1 = 1; }
      if (x0 === x1) { x0 -= 0.5; x1 += 0.5; }
      if (y0 === y1) { const d = Math.abs(y0) * 0.1 || 0.5; y0 -= d; y1 += d; }
      const wide = 0.4 * (y1 - y0), bottom = y0, top = y1;  // loose series widen the axis by no more
      for (const s of this.series)
        if (s.shown && s.loose && firm)
          for (const v of s.y) { if (v < y0) y0 = Math.max(v, bottom - wide); if (v > y1) y1 = Math.min(v, top + wide); }
      const dx = 0.02 * (x1 - x0), dy = 0.06 * (y1 - y0);
      if (this.spec.y_range) return { x0: x0 - dx, x1: x1 + dx, y0: this.spec.y_range[0], y1: this.spec.y_range[1] };
      return { x0: x0 - dx, x1: x1 + dx, y0: y0 - dy, y1: y1 + dy };
    }

    reset(told) {
      this.range = this.all();
      this.whole = true;
      this.draw();
      if (told) this.tell();
    }

    zoom(factor, at) {
      const r = this.range, c = at === undefined ? (r.x0 + r.x1) / 2 : at;
      this.move({ ...r, x0: c + (r.x0 - c) * factor, x1: c + (r.x1 - c) * factor });
    }

    move(range) {
      if (!(range.x1 - range.x0 > 1e-12 * Math.max(1, Math.abs(range.x0)))) return;
      this.range = range;
      this.whole = false;
      this.draw();
      this.tell();
    }

    tell() {
      for (const other of plots)
        if (other !== this && this.spec.link && other.spec.link === this.spec.link && other.place.isConnected) {
          if (this.whole) other.range = other.all();
          else other.range = { ...other.range, x0: this.range.x0, x1: this.range.x1 };
          other.whole = this.whole;
          other.draw();
        }
    }

    size() {
      const box = this.canvas.getBoundingClientRect();
      return { w: Math.max(box.width, 60), h: this.height };
    }
    toX(v) { return PAD.left + ((v - this.range.x0) / (this.range.x1 - this.range.x0)) * this.inner.w; }
    toY(v) { return PAD.top + (1 - (v - this.range.y0) / (this.range.y1 - this.range.y0)) * this.inner.h; }
    fromX(p) { return this.range.x0 + ((p - PAD.left) / this.inner.w) * (this.range.x1 - this.range.x0); }
    fromY(p) { return this.range.y0 + (1 - (p - PAD.top) / this.inner.h) * (this.range.y1 - this.range.y0); }

    draw() {
      if (this.waiting) return;
      this.waiting = true;
      requestAnimationFrame(() => { this.waiting = false; this.paint(); });
    }

    paint() {
      const { w, h } = this.size(), scale = window.devicePixelRatio || 1, canvas = this.canvas;
      if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(h * scale)) {
        canvas.width = Math.round(w * scale);
        canvas.height = Math.round(h * scale);
      }
      canvas.style.height = `${h}px`;
      this.inner = { w: w - PAD.left - PAD.right, h: h - PAD.top - PAD.bottom };
      if (this.inner.w < 20) return;
      const g = canvas.getContext("2d");
      g.setTransform(scale, 0, 0, scale, 0, 0);
      g.clearRect(0, 0, w, h);
      this.axes(g, w, h);
      g.save();
      g.beginPath();
      g.rect(PAD.left, PAD.top, this.inner.w, this.inner.h);
      g.clip();
      for (const kind of ["band", "stems", "points", "line"])
        for (const s of this.series) if (s.shown && s.kind === kind) this[kind](g, s);
      g.restore();
      if (this.box) {
        g.strokeStyle = colour("--mark", "#0072b2");
        g.setLineDash([4, 3]);
        g.strokeRect(this.box.x, this.box.y, this.box.w, this.box.h);
        g.setLineDash([]);
      }
      canvas.dispatchEvent(new CustomEvent("painted"));
    }

    axes(g, w, h) {
      const ink = colour("--ink", "#1c1e21"), faint = colour("--line", "#dfe1e5");
      g.font = "12px system-ui, sans-serif";
      g.lineWidth = 1;
      g.fillStyle = ink;
      const bottom = h - PAD.bottom, log = this.logY;
      g.textAlign = "center";
      const xs = this.logX ? logTicks(this.range.x0, this.range.x1) : ticks(this.range.x0, this.range.x1, Math.max(2, this.inner.w / 90));
      for (const v of xs) {
        const x = this.toX(v);
        g.strokeStyle = faint;
        g.beginPath(); g.moveTo(x, PAD.top); g.lineTo(x, bottom); g.stroke();
        g.fillText(short(this.logX ? 10 ** v : v), x, bottom + 16);
      }
      g.textAlign = "right";
      const ys = log ? logTicks(this.range.y0, this.range.y1) : ticks(this.range.y0, this.range.y1, this.inner.h / 45);
      for (const v of ys) {
        const y = this.toY(v);
        g.strokeStyle = faint;
        g.beginPath(); g.moveTo(PAD.left, y); g.lineTo(w - PAD.right, y); g.stroke();
        g.fillText(short(log ? 10 ** v : v), PAD.left - 6, y + 4);
      }
      g.textAlign = "center";
      g.fillText(this.spec.x, PAD.left + this.inner.w / 2, h - 8, this.inner.w);
      g.save();
      g.translate(13, PAD.top + this.inner.h / 2);
      g.rotate(-Math.PI / 2);
      g.fillText(this.spec.y, 0, 0, this.inner.h);
      g.restore();
    }

    span(s) {
      if (!s.sorted) return [0, s.x.length];
      const find = (v) => { let a = 0, b = s.x.length; while (a < b) { const m = (a + b) >> 1; if (s.x[m] < v) a = m + 1; else b = m; } return a; };
      return [Math.max(find(this.range.x0) - 1, 0), Math.min(find(this.range.x1) + 2, s.x.length)];
    }

    columns(s, first, last) {
      const n = Math.ceil(this.inner.w), low = new Float64Array(n).fill(NaN), high = new Float64Array(n).fill(NaN);
      for (let i = first; i < last; i++) {
        const p = Math.floor(this.toX(s.x[i]) - PAD.left), v = s.y[i];
        if (p < 0 || p >= n || Number.isNaN(v)) continue;
        if (!(low[p] <= v)) low[p] = v;
        if (!(high[p] >= v)) high[p] = v;
      }
      return [low, high];
    }

    stems(g, s) {
      g.strokeStyle = s.paint;
      g.lineWidth = 2;
      g.beginPath();
      for (let i = 0; i < s.x.length; i++) { const x = this.toX(s.x[i]); g.moveTo(x, this.toY(0)); g.lineTo(x, this.toY(s.y[i])); }
      g.stroke();
    }

    points(g, s) {
      const [first, last] = this.span(s);
      g.fillStyle = g.strokeStyle = s.paint;
      g.lineWidth = 2;
      g.globalAlpha = s.alpha || 0.85;
      if (last - first > 4 * this.inner.w && s.sorted) {
        const [low, high] = this.columns(s, first, last);
        for (let p = 0; p < low.length; p++)
          if (!Number.isNaN(low[p])) {
            const top = this.toY(high[p]);
            g.fillRect(PAD.left + p, top, 1.2, Math.max(this.toY(low[p]) - top, 1.5));
          }
      } else {
        const r = s.size || (last - first > 400 ? 1.6 : 2.4);
        for (let i = first; i < last; i++) {
          if (Number.isNaN(s.y[i])) continue;
          g.beginPath();
          g.arc(this.toX(s.x[i]), this.toY(s.y[i]), s.marked === i ? r + 4 : r, 0, 7);
          if (s.hollow) g.stroke(); else g.fill();
        }
      }
      g.globalAlpha = 1;
    }

    line(g, s) {
      const [first, last] = this.span(s);
      g.strokeStyle = s.paint;
      g.lineWidth = s.width || 2;
      g.setLineDash(s.dash);
      g.globalAlpha = s.alpha || 1;
      g.beginPath();
      if (last - first > 4 * this.inner.w && s.sorted) {
        g.globalAlpha = 0.6;  // so that points below a dense curve can be seen
        const [low, high] = this.columns(s, first, last);
        for (let p = 0; p < low.length; p++)
          if (!Number.isNaN(low[p])) { g.lineTo(PAD.left + p, this.toY(low[p])); g.lineTo(PAD.left + p, this.toY(high[p])); }
      } else {
        let open = false;
        for (let i = first; i < last; i++) {
          if (Number.isNaN(s.y[i]) || Number.isNaN(s.x[i])) { open = false; continue; }
          const x = this.toX(s.x[i]), y = Math.max(-1e4, Math.min(1e4, this.toY(s.y[i])));
          if (open) g.lineTo(x, y); else g.moveTo(x, y);
          open = true;
        }
      }
      g.stroke();
      g.globalAlpha = 1;
      g.setLineDash([]);
    }

    band(g, s) {
      g.fillStyle = s.paint;
      g.globalAlpha = 0.2;
      g.beginPath();
      for (let i = 0; i < s.x.length; i++) if (!Number.isNaN(s.high[i])) g.lineTo(this.toX(s.x[i]), this.toY(s.high[i]));
      for (let i = s.x.length - 1; i >= 0; i--) if (!Number.isNaN(s.low[i])) g.lineTo(this.toX(s.x[i]), this.toY(s.low[i]));
      g.fill();
      g.globalAlpha = 1;
    }

    nearest(px, py) {
      let found = null, best = 18 ** 2;
      for (const s of this.series) {
        if (!s.shown || s.kind === "band" || (this.selecting && !s.lines)) continue;
        let first = 0, last = s.x.length;
        if (s.sorted) {
          const find = (v) => { let a = 0, b = s.x.length; while (a < b) { const m = (a + b) >> 1; if (s.x[m] < v) a = m + 1; else b = m; } return a; };
          first = Math.max(find(this.fromX(px - 18)) - 1, 0);
          last = Math.min(find(this.fromX(px + 18)) + 1, s.x.length);
        }
        const step = Math.max(1, Math.floor((last - first) / 5000));
        for (let i = first; i < last; i += step) {
          const d = (this.toX(s.x[i]) - px) ** 2 + (this.toY(s.y[i]) - py) ** 2;
          if (d < best) { best = d; found = { series: s, index: i }; }
        }
      }
      return found;
    }

    hover(px, py) {
      if (!this.inner) return;
      const found = this.nearest(px, py);
      this.tip.hidden = !found;
      if (!found) return;
      const { series: s, index: i } = found, y = this.logY ? 10 ** s.y[i] : s.y[i], at = this.logX ? 10 ** s.x[i] : s.x[i];
      const more = s.text ? `\n${s.text[i]}` : s.lines ? `\nline ${s.lines[i]}` : "";
      this.tip.textContent = `${s.name || ""}\n${this.spec.x} ${short(at)}\n${this.spec.y} ${short(y)}${more}`.trim();
      const x = this.toX(s.x[i]);
      this.tip.style.left = `${Math.min(x + 12, Math.max(this.inner.w - 120, 0))}px`;
      this.tip.style.top = `${Math.max(this.toY(s.y[i]) - 60, 0)}px`;
    }

    listen() {
      const canvas = this.canvas, at = (e) => { const b = canvas.getBoundingClientRect(); return [e.clientX - b.left, e.clientY - b.top]; };
      let start = null;
      canvas.addEventListener("pointerdown", (e) => { if (e.button === 0) { start = at(e); try { canvas.setPointerCapture(e.pointerId); } catch { /* a synthetic event */ } } });
      canvas.addEventListener("pointermove", (e) => {
        const [x, y] = at(e);
        if (!start) { this.hover(x, y); return; }
        this.tip.hidden = true;
        this.box = { x: Math.min(x, start[0]), y: Math.min(y, start[1]), w: Math.abs(x - start[0]), h: Math.abs(y - start[1]) };
        this.draw();
      });
      canvas.addEventListener("pointerup", (e) => {
        const box = this.box, [x, y] = at(e);
        const pressed = start;
        start = null; this.box = null;
        if (!pressed) return;
        if (!box || (box.w < 5 && box.h < 5)) { this.click(x, y); this.draw(); return; }
        const range = { x0: this.fromX(box.x), x1: this.fromX(box.x + box.w), y0: this.fromY(box.y + box.h), y1: this.fromY(box.y) };
        if (this.selecting) { this.place.dispatchEvent(new CustomEvent("plot-box", { detail: { ...range, plot: this } })); this.draw(); return; }
        if (box.h < 12) { range.y0 = this.range.y0; range.y1 = this.range.y1; }
        if (box.w < 5) { this.draw(); return; }
        this.move(range);
      });
      canvas.addEventListener("pointercancel", () => { start = null; this.box = null; this.draw(); });
      canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
      canvas.addEventListener("dblclick", () => this.reset(true));
      canvas.addEventListener("wheel", (e) => {
        if (!e.ctrlKey && document.activeElement !== canvas) return;
        e.preventDefault();
        this.zoom(e.deltaY < 0 ? 0.8 : 1.25, this.fromX(at(e)[0]));
      }, { passive: false });
      canvas.addEventListener("keydown", (e) => {
        const r = this.range, dx = 0.1 * (r.x1 - r.x0), dy = 0.1 * (r.y1 - r.y0);
        const moves = { ArrowLeft: [-dx, 0], ArrowRight: [dx, 0], ArrowUp: [0, dy], ArrowDown: [0, -dy] };
        if (moves[e.key]) { const [a, b] = moves[e.key]; this.move({ x0: r.x0 + a, x1: r.x1 + a, y0: r.y0 + b, y1: r.y1 + b }); }
        else if (e.key === "+" || e.key === "=") this.zoom(0.7);
        else if (e.key === "-") this.zoom(1.4);
        else if (e.key === "0" || e.key === "Home") this.reset(true);
        else return;
        e.preventDefault();
      });
    }

    click(x, y) {
      const found = this.nearest(x, y);
      if (found) this.place.dispatchEvent(new CustomEvent("plot-point", { bubbles: true, detail: { ...found, plot: this } }));
    }
  }

  function show(group, on) {
    for (const plot of plots) {
      let changed = false;
      for (const s of plot.series)
        if (s.group === group && s.shown !== on) { s.shown = on; changed = true; }
      if (changed) { if (plot.whole) plot.range = plot.all(); plot.drawLegend(); plot.draw(); }
    }
    for (const box of document.querySelectorAll(`[data-group="${group}"]`)) box.checked = on;
  }

  dark.addEventListener("change", () => { for (const plot of plots) { plot.drawLegend(); plot.draw(); } });

  // Plots whose values stand in the page itself take the place of their still pictures.
  function inPage() {
    for (const place of document.querySelectorAll("[data-plot]")) {
      const values = document.getElementById(place.dataset.plot);
      if (!values || place.dataset.made) continue;
      place.dataset.made = "yes";
      for (const spec of JSON.parse(values.textContent)) {
        const own = element("div");
        place.append(own);
        new Plot(own, spec);
      }
      place.hidden = false;
      if (place.nextElementSibling && place.nextElementSibling.classList.contains("still"))
        place.nextElementSibling.classList.add("replaced");
    }
    for (const box of document.querySelectorAll("[data-group]")) {
      box.closest("[hidden]")?.removeAttribute("hidden");
      box.addEventListener("change", () => show(box.dataset.group, box.checked));
    }
    for (const place of document.querySelectorAll("[data-plot]"))
      place.addEventListener("plot-point", (e) => {
        const groups = e.detail.series.groups;
        if (groups && groups[e.detail.index]) {
          const s = plots.flatMap((p) => p.series).find((each) => each.group === groups[e.detail.index]);
          if (s) show(s.group, !s.shown);
        }
      });
    for (const button of document.querySelectorAll("[data-copy]")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        const text = document.getElementById(button.dataset.copy).innerText;
        const before = button.textContent;
        try { await navigator.clipboard.writeText(text); } catch { copyByHand(text); }
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = before; }, 1500);
      });
    }
    for (const button of document.querySelectorAll("[data-save]")) {
      if (button.tagName !== "BUTTON") continue;
      button.hidden = false;
      button.addEventListener("click", () => {
        const link = element("a");
        link.href = URL.createObjectURL(new Blob([JSON.parse(document.getElementById(button.dataset.save).textContent)], { type: "text/plain" }));
        link.download = button.dataset.name;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 1000);
      });
    }
  }

  function copyByHand(text) {
    const area = element("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }

  window.gode = { Plot, plots, show, inPage };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plots.forEach((p) => p.draw()));
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", inPage);
  else inPage();
})();
