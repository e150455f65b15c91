// The head-up display: attitude, course, speed and height of the body that the camera follows.

const LIGHT = "#8dffb0";

class Hud {
  constructor(stage, host) {
    this.stage = stage;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "hud";
    host.append(this.canvas);
    this.g = this.canvas.getContext("2d");
  }

  // The numbers of record i of body k, as they were computed: position, velocity [m, m/s].
  numbers(k, i) {
    const { doc, arrays } = this.stage;
    const { bodies } = doc.exact;
    const of = (name, j) => arrays[doc.exact[name]].values[(i * bodies.length + bodies.indexOf(k)) * 3 + j];
    return { position: [0, 1, 2].map(j => of("position", j)), velocity: [0, 1, 2].map(j => of("velocity", j)) };
  }

  readings() {
    const { stage } = this;
    const { doc, view } = stage;
    const k = stage.eye.spec.body;
    const i = view.moment.i;
    const { position, velocity } = this.numbers(k, i);
    const g = doc.world.globe;
    const up = stage.eye.vertical(position);
    const height = g
      ? size(minus(position, g.centre)) - g.radius
      : dot(position, doc.world.up) - (doc.world.datum ?? 0);
    const north = g ? unit(across([0, 0, 1], up)) : doc.world.first;
    const east = cross(north, up);
    const over = g?.low ? minus(velocity, times(g.rate, [-position[1], position[0], 0])) : velocity; // of the Earth that turns
    const speed = size(over);
    const climb = dot(velocity, up);
    const track = ((Math.atan2(dot(over, east), dot(over, north)) * 180) / Math.PI + 360) % 360;
    return { t: stage.times[i], body: doc.bodies[k].name, speed, height, climb, track, position, velocity };
  }

  draw(on) {
    const { canvas, g, stage } = this;
    const w = stage.host.clientWidth;
    const h = stage.host.clientHeight;
    canvas.hidden = true;
    if (stage.eye.spec.kind === "fixed") return this.locate();
    if (!on || !stage.doc.exact.bodies.includes(stage.eye.spec.body)) return;
    this.clear();
    const r = this.readings();
    const cockpit = stage.eye.spec.kind === "cockpit";
    g.font = "13px ui-monospace, monospace";
    g.lineWidth = 1.5;
    g.strokeStyle = g.fillStyle = LIGHT;
    g.shadowColor = "rgba(0,25,8,.95)";
    g.shadowBlur = 3;
    if (cockpit) this.ladder(w, h, r);
    this.tape(w / 2 - Math.min(0.4 * w, 330), h / 2, 0.42 * h, r.speed, "m/s", true);
    this.tape(
      w / 2 + Math.min(0.4 * w, 330),
      h / 2,
      0.42 * h,
      r.height > 1e5 ? r.height / 1e3 : r.height,
      r.height > 1e5 ? "km" : "m",
      false,
    );
    g.textAlign = "center";
    if (w >= 700)
      g.fillText(
        `${r.climb >= 0 ? "+" : "\u2212"}${Math.abs(r.climb).toFixed(1)} m/s`,
        w / 2 + Math.min(0.4 * w, 330),
        h / 2 + 0.21 * h + 20,
      );
    g.shadowBlur = 0;
    g.fillStyle = "rgba(8,32,20,.30)";
    g.beginPath();
    g.roundRect(w / 2 - 26, 38, 52, 23, 6);
    g.fill();
    g.fillStyle = LIGHT;
    g.fillText(`${String(Math.round(r.track) % 360).padStart(3, "0")}\u00b0`, w / 2, 54);
  }

  // A ring around the body of the camera, with its name, where it is too small to be seen.
  locate() {
    const { g, stage } = this;
    const { doc, view } = stage;
    const k = stage.eye.spec.body;
    const p = stage.centre(k, view.moment);
    const at = stage.project(p);
    if (
      !at ||
      (doc.bodies[k].radius * stage.host.clientHeight) /
        (size(minus(p, view.eye)) * 2 * Math.tan((doc.fov * Math.PI) / 360)) >
        5
    )
      return;
    const g0 = doc.world.globe;
    const d = unit(minus(p, view.eye));
    const o = g0 && minus(view.eye, g0.centre);
    const b = g0 && dot(o, d);
    if (g0 && b < 0 && b * b > dot(o, o) - g0.radius ** 2 && size(minus(p, view.eye)) > -b) return; // behind the globe
    this.clear();
    g.strokeStyle = g.fillStyle = doc.world.kind === "orbit" ? "#ffd666" : "#b3202f";
    g.lineWidth = 2;
    g.font = "600 13px system-ui, sans-serif";
    g.textAlign = "left";
    g.beginPath();
    g.arc(...at, 8, 0, 7);
    g.stroke();
    g.fillText(doc.bodies[k].name, at[0] + 13, at[1] - 7);
  }

  clear() {
    const { canvas, g, stage } = this;
    const w = stage.host.clientWidth;
    const h = stage.host.clientHeight;
    const ratio = Math.min(devicePixelRatio, 2);
    canvas.hidden = false;
    if (canvas.width !== w * ratio || canvas.height !== h * ratio) {
      canvas.width = w * ratio;
      canvas.height = h * ratio;
    }
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, w, h);
    g.shadowBlur = 0;
  }

  ladder(w, h, r) {
    const { g, stage } = this;
    const { view } = stage;
    const up = stage.eye.vertical(view.eye);
    const ahead = unit(across(view.forward, up));
    const left = cross(up, ahead);
    const far = 1e6 * stage.doc.bodies[stage.eye.spec.body].radius;
    const point = (a, e) =>
      stage.project(
        add(
          view.eye,
          times(
            far,
            add(times(Math.cos(e), add(times(Math.cos(a), ahead), times(Math.sin(a), left))), times(Math.sin(e), up)),
          ),
        ),
      );
    for (let deg = -80; deg <= 80; deg += 10) {
      const e = (deg * Math.PI) / 180;
      const half = deg ? 0.09 : 0.3;
      const gap = deg ? 0.03 : 0;
      for (const side of [-1, 1]) {
        const a = point(side * gap, e);
        const b = point(side * half, e);
        if (!a || !b || Math.hypot(a[0] - w / 2, a[1] - h / 2) > 0.4 * h) continue;
        g.setLineDash(deg < 0 ? [6, 4] : []);
        g.beginPath();
        g.moveTo(...a);
        g.lineTo(...b);
        g.stroke();
        g.textAlign = "center";
        if (deg) g.fillText(String(Math.abs(deg)), b[0] + 0.35 * (b[0] - a[0]), b[1] + 4);
      }
    }
    g.setLineDash([]);
    const f = r.speed > 0 ? stage.project(add(view.eye, times(far, unit(r.velocity)))) : null;
    if (f) {
      g.beginPath();
      g.arc(...f, 6, 0, 7);
      g.moveTo(f[0] - 18, f[1]);
      g.lineTo(f[0] - 6, f[1]);
      g.moveTo(f[0] + 6, f[1]);
      g.lineTo(f[0] + 18, f[1]);
      g.moveTo(f[0], f[1] - 6);
      g.lineTo(f[0], f[1] - 13);
      g.stroke();
    }
    g.beginPath();
    g.moveTo(w / 2 - 26, h / 2);
    g.lineTo(w / 2 - 9, h / 2);
    g.lineTo(w / 2, h / 2 + 7);
    g.lineTo(w / 2 + 9, h / 2);
    g.lineTo(w / 2 + 26, h / 2);
    g.stroke();
  }

  tape(x, y, high, value, label, left) {
    const { g } = this;
    const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(Math.abs(value), 1))) - 1);
    const px = high / (8 * step);
    if (this.stage.host.clientWidth >= 700) this.scale(x, y, high, value, step, px, left);
    g.fillStyle = "rgba(4,40,18,.78)";
    g.beginPath();
    g.roundRect(x - 44, y - 13, 88, 26, 5);
    g.fill();
    g.stroke();
    g.fillStyle = LIGHT;
    g.textAlign = "center";
    g.font = "600 15px ui-monospace, monospace";
    g.fillText(value.toFixed(1), x, y + 5);
    g.font = "13px ui-monospace, monospace";
    g.fillText(label, x, this.stage.host.clientWidth >= 700 ? y - high / 2 - 8 : y + 28);
  }

  // The marks beside a number, where there is room.
  scale(x, y, high, value, step, px, left) {
    const { g } = this;
    const s = left ? 1 : -1;
    g.fillStyle = "rgba(8,32,20,.30)";
    g.shadowBlur = 0;
    g.beginPath();
    g.roundRect(x - 46, y - high / 2 - 24, 92, high + (left ? 28 : 52), 8);
    g.fill();
    g.fillStyle = LIGHT;
    g.shadowBlur = 3;
    g.save();
    g.beginPath();
    g.rect(x - 42, y - high / 2, 84, high);
    g.clip();
    for (let v = Math.floor(value / step - 5) * step; v <= value + 5 * step; v += step) {
      const yy = y + (value - v) * px;
      g.globalAlpha = between(1.4 - (2.8 * Math.abs(yy - y)) / high, 0, 0.9);
      g.beginPath();
      g.moveTo(x + s * 40, yy);
      g.lineTo(x + s * 32, yy);
      g.stroke();
      if (Math.abs(yy - y) > 16) {
        g.textAlign = left ? "right" : "left";
        g.fillText(v.toFixed(0), x + s * 27, yy + 4);
      }
    }
    g.restore();
  }
}
