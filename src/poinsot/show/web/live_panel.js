// Beside a live picture: the display, curves that grow, sliders and buttons, and the bar with the clock.

class LiveHud extends Hud {
  numbers(k, i) {
    const { doc, arrays } = this.stage;
    const a = arrays[doc.numbers.exact];
    const base = 6 * doc.exact.bodies.indexOf(k);
    const of = j => a.values[(base + j) * a.records + i];
    return { position: [of(0), of(1), of(2)], velocity: [of(3), of(4), of(5)] };
  }
}

class LiveCurve extends Curve {
  constructor(spec, player, where) {
    super({ ...spec, series: [] }, player, where);
    this.spec = spec;
    this.canvas.style.cursor = "default";
    this.canvas.onpointerdown = this.canvas.onpointermove = null;
    this.values = spec.series.map((_, k) => {
      const item = made("span", this.legend);
      item.style.color = COLOURS[k % COLOURS.length];
      return item;
    });
  }

  point(t, i) {
    const now = performance.now();
    const { stage } = this.player;
    if (!this.canvas.clientWidth || now - (this.drawn ?? -1e9) < 120 || !(stage.span[1] > stage.span[0])) return;
    this.drawn = now;
    this.times = stage.times;
    this.series = this.spec.series.map(s => ({ label: s.label, values: stage.column("curves", s.column) }));
    this.render();
    this.show(i);
  }
}

class LivePanel {
  constructor(player, where) {
    const { doc } = player.stage;
    this.player = player;
    this.box = made("aside", where);
    this.fields = {};
    this.sliders(doc.sliders ?? []);
    if (doc.buttons?.length) this.buttons(doc.buttons, new Set(doc.triggers));
    if (doc.bodies_in_reach?.length) this.pushes(doc.bodies_in_reach);
    this.curves = (doc.curves ?? []).map(c => new LiveCurve(c, player, this.box));
    this.box.hidden = !this.box.children.length;
  }

  sliders(list) {
    for (const s of list) {
      const row = made("label", this.box, "slider");
      const slider = made("input");
      const field = made("input");
      made("span", row, "", s.label);
      row.append(slider, field);
      Object.assign(slider, { type: "range", min: s.low, max: s.high, step: (s.high - s.low) / 1000, value: s.value });
      Object.assign(field, { type: "number", step: "any", value: String(+s.value.toPrecision(6)) });
      slider.setAttribute("aria-label", s.label);
      field.setAttribute("aria-label", `${s.label}, as a number`);
      const send = value => {
        if (Number.isFinite(value)) this.player.say({ set: [s.name, s.k, value] });
      };
      slider.oninput = () => {
        field.value = String(+(+slider.value).toPrecision(6));
        send(+slider.value);
      };
      field.onchange = () => {
        slider.value = field.value;
        send(parseFloat(field.value));
      };
      (this.fields[s.name] ??= [])[s.k] = { slider, field };
    }
  }

  take(values) {
    for (const [name, list] of Object.entries(values))
      list.forEach((v, k) => {
        const f = this.fields[name]?.[k];
        if (f && document.activeElement !== f.field && document.activeElement !== f.slider) {
          f.slider.value = v;
          f.field.value = String(+v.toPrecision(6));
        }
      });
  }

  // Buttons that are pressed; of events, which happen once, grey after that.
  buttons(names, events) {
    const box = made("div", this.box, "presses");
    this.triggers = {};
    for (const name of names) {
      const b = made("button", box, "", name);
      const press = down => this.player.say({ press: name, down });
      if (events.has(name)) {
        b.title = "make this event happen now";
        this.triggers[name] = b;
      }
      b.onpointerdown = e => {
        b.setPointerCapture(e.pointerId);
        press(true);
      };
      b.onpointerup = b.onpointercancel = () => press(false);
    }
  }

  pushes(bodies) {
    const box = made("div", this.box, "pushes");
    const body = made("select", box);
    const way = made("select", box);
    const force = made("input", box);
    const go = made("button", box, "", "Push");
    for (const b of bodies) made("option", body, "", b.name).value = b.name;
    for (const w of ["x", "\u2212x", "y", "\u2212y", "z", "\u2212z"]) made("option", way, "", w);
    Object.assign(force, { type: "number", min: 0, step: 0.5, value: 3 });
    force.title = "force, in multiples of the weight of the body";
    force.setAttribute("aria-label", force.title);
    body.setAttribute("aria-label", "body that is pushed");
    way.setAttribute("aria-label", "direction of the push");
    go.title = "push it for 0.15 s; or pull a body with the mouse";
    go.onclick = () => {
      const n = way.selectedIndex;
      const f = [0, 0, 0];
      f[n >> 1] = (n % 2 ? -1 : 1) * +force.value * bodies.find(b => b.name === body.value).weight;
      this.player.say({ push: [body.value, f] });
    };
  }

  happened(names) {
    for (const [name, b] of Object.entries(this.triggers ?? {})) b.disabled = names.includes(name);
  }

  point(t, i) {
    if (!this.box.hidden) for (const curve of this.curves) curve.point(t, i);
  }
}

class LiveBar {
  constructor(player, where) {
    this.player = player;
    const bar = made("footer", where);
    const button = (name, title, action) => {
      const b = made("button", bar);
      icon(b, name);
      b.title = title;
      b.setAttribute("aria-label", title);
      b.onclick = () => {
        action();
        b.blur();
      };
      return b;
    };
    this.play = button("pause", "pause, or go on (space)", () => player.toggle());
    button("on", "one control period on (.)", () => player.say({ step: true }));
    button("start", "start again (R)", () => player.say({ reset: true }));
    this.clock = made("output", bar, "clock");
    this.status = made("span", bar, "status");
    this.extra = made("span", bar, "extra");
    this.speed = made("select", bar, "speed");
    this.speed.title = "speed";
    this.speed.setAttribute("aria-label", "speed");
    for (const f of [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8]) {
      const o = made("option", this.speed, "", f < 1 ? `\u00d7 1/${1 / f}` : `\u00d7 ${f}`);
      o.value = f;
      o.selected = f === 1;
    }
    this.speed.onchange = () => {
      player.say({ speed: +this.speed.value });
      this.speed.blur();
    };
  }

  point(t) {
    const { header, problem } = this.player.stage;
    const sign = header.paused ? "play" : "pause";
    this.clock.textContent = `${t.toFixed(2)} s`;
    this.status.textContent = problem
      ? ""
      : header.paused
        ? "paused"
        : header.late > 0.2
          ? "slower than the chosen speed"
          : "";
    if (this.play.dataset.icon !== sign) icon(this.play, sign);
    if (document.activeElement !== this.speed && +this.speed.value !== header.speed) this.speed.value = header.speed;
  }
}
