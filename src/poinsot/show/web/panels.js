// Beside and below the picture: curves with a cursor, the ledger, announcements, the bar with the clock. Texts are always
// set as text, never as markup.

const COLOURS = ["#2a6f97", "#d1495b", "#4f9171", "#d98f1f", "#8d6a9f", "#3d5a80"];

function made(tag, where, name = "", text = "") {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text) element.textContent = text;
  where?.append(element);
  return element;
}

const ICONS = {
  play: "M5 3 L13 8 L5 13 Z",
  pause: "M4 3 H7 V13 H4 Z M9 3 H12 V13 H9 Z",
  start: "M3 3 H5 V13 H3 Z M13 3 V13 L6 8 Z",
  back: "M12 3 V13 L5 8 Z",
  on: "M4 3 L11 8 L4 13 Z M11 3 H13 V13 H11 Z",
};

function icon(button, name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS(svg.namespaceURI, "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  button.replaceChildren(svg);
  button.dataset.icon = name;
}

const short = x => {
  const a = Math.abs(x);
  return a === 0 ? "0" : a >= 1e5 || a < 1e-3 ? x.toExponential(2).replace("e+", "e") : String(+x.toPrecision(4));
};

function round(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find(d => d * power >= raw) * power;
  const out = [];
  for (let k = Math.ceil(low / step); k <= Math.floor(high / step + 1e-9); k++) out.push(k * step);
  return out;
}

class Curve {
  constructor(spec, player, where) {
    this.spec = spec;
    this.player = player;
    const { arrays, times } = player.stage;
    this.times = times;
    this.series = spec.series.map(s => ({ label: s.label, values: arrays[s.values].values }));
    const box = made("div", where, "curve");
    const head = made("div", box, "head");
    made("b", head, "", spec.title);
    this.legend = made("span", head, "legend");
    this.canvas = made("canvas", box);
    const seek = e => {
      const b = this.canvas.getBoundingClientRect();
      const [t0, t1] = player.stage.span;
      player.seek(t0 + (t1 - t0) * between((e.clientX - b.left - 44) / (b.width - 52), 0, 1));
    };
    this.canvas.onpointerdown = e => {
      this.canvas.setPointerCapture(e.pointerId);
      seek(e);
    };
    this.canvas.onpointermove = e => {
      if (e.buttons) seek(e);
    };
    this.values = this.series.map((s, k) => {
      const item = made("span", this.legend);
      item.style.color = COLOURS[k % COLOURS.length];
      return item;
    });
  }

  render() {
    const ratio = Math.min(devicePixelRatio, 2);
    const w = this.canvas.clientWidth;
    const h = this.canvas.clientHeight;
    const g = this.canvas.getContext("2d");
    const { times, series } = this;
    this.canvas.width = w * ratio;
    this.canvas.height = h * ratio;
    g.scale(ratio, ratio);
    let low = Infinity;
    let high = -Infinity;
    for (const { values } of series)
      for (const v of values)
        if (Number.isFinite(v)) {
          low = Math.min(low, v);
          high = Math.max(high, v);
        }
    if (low > high) {
      low = 0;
      high = 1;
    }
    const margin = high - low > 1e-9 * Math.abs(high) ? 0.07 * (high - low) : 0.01 * Math.abs(high) || 1;
    low -= margin;
    high += margin;
    const [t0, t1] = this.player.stage.span;
    const X = t => 44 + ((w - 52) * (t - t0)) / (t1 - t0 || 1);
    const Y = v => 4 + ((h - 22) * (high - v)) / (high - low);
    g.font = "10px system-ui, sans-serif";
    g.fillStyle = "#657286";
    g.strokeStyle = "#e5e9ef";
    g.lineWidth = 1;
    for (const v of round(low, high, 3)) {
      g.beginPath();
      g.moveTo(44, Y(v));
      g.lineTo(w - 8, Y(v));
      g.stroke();
      g.textAlign = "right";
      g.fillText(short(v), 39, Y(v) + 3);
    }
    for (const v of round(t0, t1, 5)) {
      g.beginPath();
      g.moveTo(X(v), 4);
      g.lineTo(X(v), h - 18);
      g.stroke();
      g.textAlign = "center";
      g.fillText(short(v), X(v), h - 5);
    }
    g.lineWidth = 1.6;
    g.lineJoin = "round";
    const every = Math.max(1, Math.floor(times.length / (2 * w)));
    series.forEach(({ values }, k) => {
      g.strokeStyle = COLOURS[k % COLOURS.length];
      g.beginPath();
      let pen = false;
      for (let i = 0; i < times.length; i += every) {
        if (!Number.isFinite(values[i])) {
          pen = false;
          continue;
        }
        g[pen ? "lineTo" : "moveTo"](X(times[i]), Y(values[i]));
        pen = true;
      }
      g.stroke();
    });
    this.X = X;
    this.size = [w, h];
  }

  point(t, i) {
    if (!this.canvas.clientWidth) return;
    const g = this.canvas.getContext("2d");
    if (!this.picture || this.size[0] !== this.canvas.clientWidth) {
      this.render();
      this.picture = g.getImageData(0, 0, this.canvas.width, this.canvas.height);
    }
    const x = this.X(t);
    g.putImageData(this.picture, 0, 0);
    g.strokeStyle = "#1c2733";
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(x, 4);
    g.lineTo(x, this.size[1] - 18);
    g.stroke();
    this.show(i);
  }

  show(i) {
    this.series.forEach((s, k) => {
      this.values[k].textContent = `${this.series.length > 1 ? s.label + " " : ""}${short(s.values[i])}`;
      this.values[k].title = String(s.values[i]);
    });
  }
}

function ledgerTable(ledger, where) {
  const box = made("div", where, "ledger");
  const table = made("table", box);
  const head = made("tr", made("thead", table));
  for (const text of ledger.heads) made("th", head, "", text);
  const body = made("tbody", table);
  for (const row of ledger.rows) {
    const line = made("tr", body);
    for (const text of row) made("td", line, "", text);
  }
}

class Panel {
  constructor(player, where) {
    const { doc } = player.stage;
    this.box = made("aside", where);
    this.curves = doc.curves.map(c => new Curve(c, player, this.box));
    if (doc.ledger) ledgerTable(doc.ledger, this.box);
    this.box.hidden = !doc.curves.length && !doc.ledger;
  }

  point(t, i) {
    if (!this.box.hidden) for (const curve of this.curves) curve.point(t, i);
  }
}

// Limits that are passed and events are said when they happen, and stay said; so does a problem.
class News {
  constructor(events, where) {
    this.events = events;
    this.problem = "";
    this.box = made("div", where, "news");
    this.shown = "";
  }

  point(t) {
    const past = this.events.filter(e => e.time <= t).slice(-3);
    const key = JSON.stringify([past, this.problem]);
    if (key === this.shown) return;
    this.shown = key;
    this.box.replaceChildren();
    for (const e of past) made("div", this.box, e.red ? "alarm" : "tiding", e.text);
    if (this.problem) made("div", this.box, "alarm", this.problem);
  }
}

class Bar {
  constructor(player, where) {
    this.player = player;
    const { doc, span } = player.stage;
    const bar = made("footer", where);
    const button = (name, title, action) => {
      const b = made("button", bar);
      icon(b, name);
      b.title = title;
      b.setAttribute("aria-label", title);
      b.onclick = action;
      return b;
    };
    this.play = button("pause", "play or pause (space)", () => player.toggle());
    button("start", "to the start (home)", () => player.seek(span[0]));
    button("back", "one record back (left)", () => player.step(-1));
    button("on", "one record on (right)", () => player.step(1));
    this.clock = made("output", bar, "clock");
    const rail = made("div", bar, "rail");
    this.slider = made("input", rail);
    Object.assign(this.slider, { type: "range", min: span[0], max: span[1], step: "any", value: span[0] });
    this.slider.setAttribute("aria-label", "time");
    this.slider.oninput = () => player.seek(+this.slider.value);
    for (const e of doc.events) {
      const tick = made("i", rail, e.red ? "tick" : "tick mild");
      tick.title = e.text;
      tick.style.left = `${(100 * (e.time - span[0])) / (span[1] - span[0] || 1)}%`;
    }
    this.speed = made("select", bar, "speed");
    this.speed.title = "speed";
    for (const f of [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16]) {
      const o = made("option", this.speed, "", `\u00d7 ${short(f * doc.rate)}`);
      o.value = f;
      o.selected = f === 1;
    }
    this.speed.onchange = () => {
      player.factor = +this.speed.value;
    };
    const digits = -Math.floor(Math.log10(Math.max(span[1] - span[0], 1e-9) / 1000));
    this.digits = between(digits, 0, 9);
  }

  point(t) {
    this.clock.textContent = `${t.toFixed(this.digits)} s`;
    this.slider.value = t;
    const sign = this.player.playing ? "pause" : "play";
    if (this.play.dataset.icon !== sign) icon(this.play, sign);
  }
}

// Cameras and layers.
class Menu {
  constructor(player, where) {
    this.player = player;
    const { doc, eye } = player.stage;
    const box = made("nav", where);
    this.buttons = {};
    for (const kind of ["chase", "orbit", "cockpit", "fixed"]) {
      const b = (this.buttons[kind] = made("button", box, "", kind));
      b.title = doc.cameras[kind].meaning;
      b.onclick = () => player.look({ kind });
    }
    if (doc.bodies.length > 1) {
      this.body = made("select", box);
      this.body.title = "the body that the camera follows";
      doc.bodies.forEach((b, k) => {
        const o = made("option", this.body, "", b.name);
        o.value = k;
      });
      this.body.onchange = () => {
        const { kind, other } = eye.spec;
        const body = +this.body.value;
        player.look(
          kind === "fixed" || (kind === "from" && other === body) ? { kind: "orbit", body } : { kind, other, body },
        );
      };
      this.other = made("select", box);
      this.other.title = "look at it from another body";
      this.other.setAttribute("aria-label", this.other.title);
      made("option", this.other, "", "from \u2026").value = "";
      doc.bodies.forEach((b, k) => {
        const o = made("option", this.other, "", `from ${b.name}`);
        o.value = k;
      });
      this.other.onchange = () => {
        const other = this.other.value;
        player.look(other === "" || +other === eye.spec.body ? { kind: "orbit" } : { kind: "from", other: +other });
      };
    }
    const more = made("details", box);
    made("summary", more, "", "layers");
    const list = made("div", more, "layers");
    const row = (name, meaning, on, change) => {
      const line = made("label", list);
      const tick = made("input", line);
      tick.type = "checkbox";
      tick.checked = on;
      made("span", line, "", name.replaceAll("_", " "));
      line.title = meaning;
      tick.onchange = () => change(tick.checked);
    };
    for (const [name, meaning] of Object.entries(doc.offered))
      row(name, meaning, player.stage.layers[name]?.group.visible ?? false, on => player.layer(name, on));
    row("display", "speed, height and course of the body that is followed", player.hudOn, on => {
      player.hudOn = on;
      player.dirty = true;
    });
    row("curves", "curves and the ledger", true, on => {
      player.panel.box.hidden = !on;
      player.resize();
    });
    if (doc.batch) this.instances(doc.batch, box);
    this.mark();
  }

  instances(batch, box) {
    const field = made("input", box, "number");
    Object.assign(field, {
      type: "number",
      min: 0,
      max: batch.count - 1,
      value: batch.instance,
      disabled: !this.player.stage.doc.served,
    });
    field.title = `instance, one of ${batch.count}`;
    field.setAttribute("aria-label", "instance");
    field.onchange = () => {
      location.search = `?instance=${field.value}`;
    };
  }

  mark() {
    const { spec } = this.player.stage.eye;
    for (const [kind, b] of Object.entries(this.buttons)) b.classList.toggle("on", kind === spec.kind);
    if (this.body) {
      this.body.value = spec.body;
      this.other.value = spec.kind === "from" ? spec.other : "";
    }
  }
}
