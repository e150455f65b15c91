// Flying: the head-up display with all that a pilot reads, round instruments instead, warnings, controls.

const DEG = 180 / Math.PI;
const G_0 = 9.80665;
const RED = "#ff5a4f";

class FlightHud extends LiveHud {
  constructor(stage, host) {
    super(stage, host);
    this.spec = stage.doc.cockpit;
    this.gauges = new Gauges(this);
    this.round = this.spec.instruments === "gauges";
  }

  // All readings, by the names of records, as they were computed; and what follows from them.
  readings() {
    const { stage, spec } = this;
    const values = stage.numbersOf("readings");
    const named = Object.fromEntries(spec.labels.map((name, k) => [name, values[k]]));
    const inputs = Object.fromEntries(stage.numbersOf("inputs").map((v, k) => [spec.inputs[k], v]));
    const places = stage.numbersOf("stick");
    const q = [0, 1, 2, 3].map(k => named[`orientation.${k}`]);
    const p = [0, 1, 2].map(k => named[`position.${k}`]);
    const v = [0, 1, 2].map(k => named[`velocity.${k}`]);
    const rates = [0, 1, 2].map(k => named[`angular_velocity.${k}`]);
    const body = stage.doc.bodies.findIndex(b => b.name === spec.body);
    const top = stage.doc.bodies[body].top;
    const up = stage.eye.vertical(p);
    const globe = stage.doc.world.globe;
    const north = globe ? unit(across([0, 0, 1], up)) : stage.doc.world.first;
    const east = cross(north, up);
    const nose = rotated(q, [1, 0, 0]);
    const right = rotated(q, [0, -top, 0]);
    const roof = rotated(q, [0, 0, top]);
    const w = rotated(q, rates);
    const over = globe?.low ? minus(v, times(globe.rate, [-p[1], p[0], 0])) : v;
    const climb = dot(v, up);
    const ground = stage.doc.world.datum ?? 0;
    return {
      t: stage.span[1],
      body: spec.body,
      values: named,
      inputs,
      position: p,
      velocity: v,
      places: Object.fromEntries([...spec.axes, "trim"].map((name, k) => [name, places[k]])),
      speed: size(over),
      airspeed: named.airspeed ?? size(over),
      altitude: named.altitude ?? (globe ? size(minus(p, globe.centre)) - globe.radius : dot(p, up) - ground),
      above: named.height_above_ground ?? null,
      climb,
      track: (Math.atan2(dot(over, east), dot(over, north)) * DEG + 360) % 360,
      heading: (Math.atan2(dot(nose, east), dot(nose, north)) * DEG + 360) % 360,
      pitch: Math.asin(between(dot(nose, up), -1, 1)),
      roll: Math.atan2(-dot(right, up), dot(roof, up)),
      felt: (f => ({ up: top * f[2], ahead: f[0], right: -top * f[1] }))([0, 1, 2].map(k => named[`felt.${k}`] / G_0)),
      load_factor: named.load_factor ?? 0,
      alpha: named.alpha ?? 0,
      beta: named.beta ?? 0,
      turning: -dot(w, up),
      slip: named.beta ?? 0,
      throttle: places[spec.axes.indexOf("throttle")],
      rpm: (k => (k === undefined ? null : (named[k] * 30) / Math.PI))(spec.labels.find(l => l.endsWith(".speed"))),
      fuel: (n =>
        n.length ? n.reduce((s, k) => s + named[`${k}.contents`], 0) / n.reduce((s, k) => s + spec.tanks[k], 0) : null)(
        Object.keys(spec.tanks).filter(k => `${k}.contents` in named),
      ),
      wheels: spec.labels.filter(l => l.endsWith(".load")).map(l => named[l]),
    };
  }

  warnings(r) {
    const { limits, breaks } = this.spec;
    const out = [];
    const beyond = (name, value) => {
      const [low, high] = limits[name] ?? [null, null];
      return (high !== null && value > high) || (low !== null && value < low);
    };
    const flying = r.airspeed > 12 && !r.wheels.some(x => x > 0);
    if (flying && beyond("alpha", r.alpha)) out.push("STALL");
    if (beyond("airspeed", r.airspeed)) out.push("OVERSPEED");
    if (beyond("load_factor", r.load_factor)) out.push("LOAD FACTOR");
    if (beyond("mach", r.values.mach)) out.push("MACH");
    if (beyond("altitude", r.altitude)) out.push("ALTITUDE");
    if (r.fuel !== null && r.fuel < 0.08) out.push("FUEL LOW");
    for (const name of breaks)
      if (r.values[`${name}.latched`] > 0) out.push(`${name} EXCEEDED`);
      else if (r.values[`${name}.margin`] < 0.1) out.push(`${name} AT ITS LIMIT`);
    return out;
  }

  draw(on) {
    const { g, stage } = this;
    const w = stage.host.clientWidth;
    const h = stage.host.clientHeight;
    if (!on) {
      this.canvas.hidden = true;
      return;
    }
    this.clear();
    const r = (this.last = this.readings());
    const cockpit = stage.eye.spec.kind === "cockpit";
    g.font = "13px ui-monospace, monospace";
    g.lineWidth = 1.5;
    g.strokeStyle = g.fillStyle = LIGHT;
    g.shadowColor = "rgba(0,25,8,.95)";
    g.shadowBlur = 3;
    g.textBaseline = "alphabetic";
    if (cockpit) this.ladder(w, h, r);
    if (this.round) this.gauges.draw(g, w, h, r, this.spec);
    else this.display(w, h, r, cockpit);
    this.alerts(w, h, this.warnings(r));
  }

  display(w, h, r, cockpit) {
    const { g } = this;
    const half = Math.min(0.4 * w, 330);
    const high = 0.42 * h;
    const x0 = w / 2 - half;
    const x1 = w / 2 + half;
    const y = h / 2 - 0.02 * h;
    this.tape(x0, y, high, r.airspeed, "m/s", true);
    this.tape(x1, y, high, r.altitude, "m", false);
    this.compass(w, r);
    this.bank(w, cockpit ? 0.24 * h : 118, r, cockpit);
    if (w < 700) return;
    g.shadowBlur = 3;
    g.fillStyle = LIGHT;
    g.textAlign = "center";
    g.fillText(`${r.climb >= 0 ? "+" : "\u2212"}${Math.abs(r.climb).toFixed(1)} m/s`, x1, y + high / 2 + 20);
    const left = [`n ${r.load_factor.toFixed(2)} g`, `\u03b1 ${(r.alpha * DEG).toFixed(1)}\u00b0`];
    left.forEach((text, k) => g.fillText(text, x0, y + high / 2 + 20 + 18 * k));
    this.seat(x0, y + high / 2 + 78, r.felt);
    if (r.above !== null && r.above < 300) g.fillText(`R ${Math.max(0, r.above).toFixed(0)} m`, x1, y + high / 2 + 38);
    this.levers(w, h, r);
  }

  // What the pilot feels at the eye: how hard the seat pushes up [g], and a ball that it throws aside, forward and back.
  seat(x, y, { up, ahead, right }) {
    const { g } = this;
    const R = 24;
    const away = Math.hypot(ahead, right);
    const part = (R * Math.min(away, 1)) / (away || 1);
    g.globalAlpha = 0.5;
    g.beginPath();
    g.arc(x, y, R, 0, 7);
    g.moveTo(x - R, y);
    g.lineTo(x + R, y);
    g.moveTo(x, y - R);
    g.lineTo(x, y + R);
    g.stroke();
    g.globalAlpha = 1;
    g.beginPath();
    g.arc(x - part * right, y + part * ahead, 5, 0, 7);
    g.fill();
    g.fillText(`seat ${up.toFixed(2)} g`, x, y + R + 17);
  }

  compass(w, r) {
    const { g } = this;
    const px = 4.2;
    const wide = Math.min(0.46 * w, 330);
    g.save();
    g.shadowBlur = 0;
    g.fillStyle = "rgba(8,32,20,.30)";
    g.beginPath();
    g.roundRect(w / 2 - wide / 2, 44, wide, 30, 6);
    g.fill();
    g.beginPath();
    g.rect(w / 2 - wide / 2, 40, wide, 34);
    g.clip();
    g.fillStyle = LIGHT;
    g.textAlign = "center";
    for (let deg = Math.ceil((r.heading - wide / px / 2) / 10) * 10; deg <= r.heading + wide / px / 2; deg += 10) {
      const x = w / 2 + px * (deg - r.heading);
      const n = ((deg % 360) + 360) % 360;
      g.beginPath();
      g.moveTo(x, 74);
      g.lineTo(x, n % 30 ? 69 : 66);
      g.stroke();
      if (n % 30 === 0)
        g.fillText({ 0: "N", 90: "E", 180: "S", 270: "W" }[n] ?? String(n / 10).padStart(2, "0"), x, 61);
    }
    g.restore();
    g.fillStyle = "rgba(4,40,18,.85)";
    g.beginPath();
    g.roundRect(w / 2 - 25, 74, 50, 22, 5);
    g.fill();
    g.stroke();
    g.fillStyle = LIGHT;
    g.textAlign = "center";
    g.font = "600 14px ui-monospace, monospace";
    g.fillText(`${String(Math.round(r.heading) % 360).padStart(3, "0")}\u00b0`, w / 2, 90);
    g.font = "13px ui-monospace, monospace";
  }

  bank(w, y, r, cockpit) {
    const { g } = this;
    const R = cockpit ? 130 : 74;
    const c = [w / 2, y + (cockpit ? R : R + 4)];
    for (const deg of [-60, -45, -30, -20, -10, 0, 10, 20, 30, 45, 60]) {
      const a = (deg - 90) / DEG;
      const l = deg % 30 ? 6 : 10;
      g.beginPath();
      g.moveTo(c[0] + R * Math.cos(a), c[1] + R * Math.sin(a));
      g.lineTo(c[0] + (R + l) * Math.cos(a), c[1] + (R + l) * Math.sin(a));
      g.stroke();
    }
    const a = -between(r.roll, -1.3, 1.3) - Math.PI / 2;
    const on = (s, d) => [c[0] + s * Math.cos(a + d), c[1] + s * Math.sin(a + d)];
    g.beginPath();
    g.moveTo(...on(R - 2, 0));
    g.lineTo(...on(R - 12, 6 / R));
    g.lineTo(...on(R - 12, -6 / R));
    g.closePath();
    g.fill();
  }

  levers(w, h, r) {
    const { g, spec } = this;
    const has = spec.controls;
    const rows = [];
    if (has.throttle) rows.push(["THR", r.throttle, `${Math.round(100 * r.throttle)}`]);
    if (r.rpm !== null) rows.push(["RPM", r.rpm / 3000, r.rpm.toFixed(0)]);
    if (r.fuel !== null) rows.push(["FUEL", r.fuel, `${Math.round(100 * r.fuel)}%`]);
    if (has.flaps) rows.push(["FLAP", r.places.flaps, r.places.flaps ? `${Math.round(100 * r.places.flaps)}` : "up"]);
    if (has.pitch) rows.push(["TRIM", (r.places.trim + 1) / 2, r.places.trim.toFixed(2)]);
    if (has.gear) rows.push(["GEAR", r.places.gear, r.places.gear > 0.5 ? "down" : "up"]);
    if (has.brake && r.places.brake > 0.02) rows.push(["BRK", r.places.brake, `${Math.round(100 * r.places.brake)}`]);
    const x = 16;
    const y = h - 18 - 19 * rows.length;
    g.shadowBlur = 0;
    g.fillStyle = "rgba(8,32,20,.42)";
    g.beginPath();
    g.roundRect(x - 6, y - 8, 190, 19 * rows.length + 12, 7);
    g.fill();
    rows.forEach(([name, part, text], k) => {
      const yy = y + 12 + 19 * k;
      g.fillStyle = LIGHT;
      g.textAlign = "left";
      g.fillText(name, x, yy);
      g.globalAlpha = 0.3;
      g.fillRect(x + 44, yy - 9, 84, 8);
      g.globalAlpha = 1;
      if (name === "TRIM") g.fillRect(x + 43 + 84 * between(part, 0, 1), yy - 11, 3, 12);
      else g.fillRect(x + 44, yy - 9, 84 * between(part, 0, 1), 8);
      g.fillText(text, x + 136, yy);
    });
    if (r.wheels.length) {
      g.textAlign = "left";
      g.fillStyle = LIGHT;
      r.wheels.forEach((load, k) => {
        g.globalAlpha = load > 0 ? 1 : 0.35;
        g.beginPath();
        g.arc(x + 206 + 16 * k, h - 24, 5, 0, 7);
        g.fill();
      });
      g.globalAlpha = 1;
    }
  }

  alerts(w, h, list) {
    const { g } = this;
    const on = Math.floor(performance.now() / 250) % 4 !== 3;
    g.textAlign = "center";
    g.font = "700 17px ui-monospace, monospace";
    list.forEach((text, k) => {
      const wide = g.measureText(text).width + 26;
      const y = 0.66 * h + 32 * k - (this.round ? 0.1 * h : 0);
      g.shadowBlur = 0;
      g.fillStyle = on ? "rgba(120,8,8,.82)" : "rgba(60,8,8,.55)";
      g.beginPath();
      g.roundRect(w / 2 - wide / 2, y - 19, wide, 27, 6);
      g.fill();
      g.fillStyle = on ? "#fff" : RED;
      g.fillText(text, w / 2, y);
    });
  }
}

class Cockpit extends LivePlayer {
  furnish(page) {
    super.furnish(page);
    const { stage } = this;
    this.hud.canvas.remove();
    this.hud = new FlightHud(stage, stage.host);
    this.hudOn = true;
    this.controls = new Controls(this, stage.host);
    const extra = this.bar.extra;
    const button = (text, title, action) => {
      const b = made("button", extra, "", text);
      b.title = title;
      b.onclick = () => {
        action();
        b.blur();
      };
      return b;
    };
    button("trim", "the stick stays where it is when it is let go (T)", () => this.say({ switch: "trim!" }));
    button("instruments", "display or round instruments (I)", () => this.instruments());
    button("stick", "a stick, pedals and a throttle on the screen", () => {
      this.controls.box.hidden = !this.controls.box.hidden;
    });
    button("keys", "what the keys do (H)", () => this.help());
    const save = made("a", extra, "save", "save flight");
    save.href = "flight.csv";
    save.download = "flight.csv";
    save.title = "its inputs as a table, which run again to the same bits";
    this.ready = setInterval(() => {
      if (this.pilot !== undefined && this.socket.readyState === 1) {
        clearInterval(this.ready);
        this.say({ keys: [] });
      }
    }, 20);
  }

  instruments() {
    this.hud.round = !this.hud.round;
    this.dirty = true;
  }

  help() {
    const old = this.stage.host.querySelector(".help");
    if (old) {
      old.remove();
      return;
    }
    const box = made("div", this.stage.host, "help");
    const table = made("table", box);
    const { keys, controls } = this.stage.doc.cockpit;
    const names = {
      "pitch+": "stick back: nose up",
      "pitch-": "stick forward: nose down",
      "roll+": "stick right",
      "roll-": "stick left",
      "yaw+": "right pedal",
      "yaw-": "left pedal",
      "throttle+": "more throttle",
      "throttle-": "less throttle",
      "brake+": "brakes",
      "flaps+": "flaps out",
      "flaps-": "flaps in",
      "gear!": "landing gear",
      "airbrake+": "air brake",
      "trim!": "trim: the stick stays",
      "trim+": "trim nose up",
      "trim-": "trim nose down",
    };
    const own = { Space: "pause", KeyR: "start again", KeyC: "camera", KeyI: "instruments", KeyH: "this list" };
    const spell = code => code.replace(/^Key|^Arrow/, m => (m === "Arrow" ? "arrow " : "")).toLowerCase();
    for (const [action, text] of Object.entries(names)) {
      const used = Object.keys(keys).filter(k => keys[k] === action && !k.startsWith("button"));
      const axis = action.replace(/[-+!]/, "");
      if (!used.length || (axis !== "trim" && !controls[axis]) || (axis === "trim" && !controls.pitch)) continue;
      const row = made("tr", table);
      made("td", row, "", used.map(spell).join(", "));
      made("td", row, "", text);
    }
    for (const [code, text] of Object.entries(own)) {
      const row = made("tr", table);
      made("td", row, "", spell(code));
      made("td", row, "", text);
    }
    box.onclick = () => box.remove();
  }

  get actions() {
    const all = { ...super.actions, KeyI: () => this.instruments(), KeyH: () => this.help() };
    for (const key of Object.keys(this.stage.doc.cockpit.keys)) delete all[key];
    return all;
  }

  run() {
    super.run();
    const poll = () => {
      requestAnimationFrame(poll);
      if (this.pilot) this.controls.poll();
    };
    requestAnimationFrame(poll);
  }

  draw() {
    super.draw();
    if (this.stage.count) this.controls.show(this.hud.last?.places ?? { throttle: 0 });
  }
}
