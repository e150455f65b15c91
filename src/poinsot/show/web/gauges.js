// Round instruments: airspeed, attitude, altitude, turn and slip, heading, vertical speed, revolutions, load factor.

const FACE = "#14181d";
const PAINT = "#f2f4f6";
const WARM = "#ffb454";
const ALERT = "#ff4d4d";

class Gauges {
  constructor(hud) {
    this.hud = hud;
  }

  draw(g, w, h, r, spec) {
    const d = Math.min(132, (w - 40) / 8.4);
    const R = 0.46 * d;
    const y = h - 0.62 * d;
    const six = [this.speed, this.attitude, this.altitude, this.turn, this.heading, this.climb, this.engine, this.load];
    const x0 = w / 2 - 3.5 * 1.04 * d;
    g.save();
    g.shadowBlur = 0;
    g.fillStyle = "rgba(30,34,40,.93)";
    g.beginPath();
    g.roundRect(x0 - 0.62 * d, y - 0.6 * d, 7 * 1.04 * d + 1.24 * d, 1.3 * d, 14);
    g.fill();
    six.forEach((draw, k) => {
      g.save();
      g.translate(x0 + k * 1.04 * d, y);
      g.scale(R / 60, R / 60);
      this.case(g);
      draw.call(this, g, r, spec);
      g.restore();
    });
    g.restore();
  }

  case(g) {
    g.fillStyle = "#3a4048";
    g.beginPath();
    g.arc(0, 0, 63, 0, 7);
    g.fill();
    g.fillStyle = FACE;
    g.beginPath();
    g.arc(0, 0, 59, 0, 7);
    g.fill();
    g.strokeStyle = g.fillStyle = PAINT;
    g.lineWidth = 1.6;
    g.textAlign = "center";
    g.textBaseline = "middle";
    g.font = "600 10px system-ui, sans-serif";
  }

  // A scale from low to high over 300 degrees, with a hand; `red`: where it must not go, [from, to].
  dial(g, value, low, high, step, name, unit, red = null, digits = 0) {
    const at = v => ((-240 + 300 * between((v - low) / (high - low), -0.03, 1.03)) * Math.PI) / 180;
    const on = (a, s) => [s * Math.cos(a), s * Math.sin(a)];
    if (red) {
      g.strokeStyle = ALERT;
      g.lineWidth = 4;
      g.beginPath();
      g.arc(0, 0, 54, at(Math.max(low, red[0])), at(Math.min(high, red[1])));
      g.stroke();
      g.strokeStyle = PAINT;
    }
    for (let v = Math.ceil(low / step) * step; v <= high + 1e-9; v += step) {
      const a = at(v);
      g.lineWidth = 1.6;
      g.beginPath();
      g.moveTo(...on(a, 56));
      g.lineTo(...on(a, 48));
      g.stroke();
      g.fillText(String(+v.toFixed(2)), ...on(a, 38));
    }
    g.font = "9px system-ui, sans-serif";
    g.fillStyle = "#aab4bf";
    g.fillText(name, 0, -17);
    g.fillText(unit, 0, 19);
    g.fillStyle = PAINT;
    g.font = "600 11px ui-monospace, monospace";
    g.fillText(value.toFixed(digits), 0, 48);
    this.hand(g, at(value), 46, PAINT);
  }

  hand(g, a, l, colour, wide = 3) {
    g.save();
    g.rotate(a);
    g.fillStyle = colour;
    g.beginPath();
    g.moveTo(-8, -wide / 2);
    g.lineTo(l, -0.6);
    g.lineTo(l, 0.6);
    g.lineTo(-8, wide / 2);
    g.fill();
    g.restore();
    g.fillStyle = "#59626c";
    g.beginPath();
    g.arc(0, 0, 4.5, 0, 7);
    g.fill();
    g.fillStyle = PAINT;
  }

  speed(g, r, spec) {
    const most = spec.limits.airspeed?.[1];
    const high = most ? 20 * Math.ceil((1.1 * most) / 20) : Math.max(100, 50 * Math.ceil(r.airspeed / 50));
    this.dial(g, r.airspeed, 0, high, high / 5, "AIRSPEED", "m/s", most ? [most, high] : null);
  }

  attitude(g, r) {
    g.save();
    g.beginPath();
    g.arc(0, 0, 56, 0, 7);
    g.clip();
    g.rotate(-r.roll);
    const px = (1.6 * 180) / Math.PI;
    const y = between(px * r.pitch, -200, 200);
    g.fillStyle = "#3f8fd6";
    g.fillRect(-80, -280, 160, 280 + y);
    g.fillStyle = "#8a5a33";
    g.fillRect(-80, y, 160, 300);
    g.strokeStyle = "#fff";
    g.lineWidth = 1.4;
    for (let deg = -60; deg <= 60; deg += 10) {
      const half = deg % 20 ? 9 : 17;
      const yy = y - 1.6 * deg;
      if (Math.abs(yy) > 46) continue;
      g.beginPath();
      g.moveTo(deg ? -half : -60, yy);
      g.lineTo(deg ? half : 60, yy);
      g.stroke();
    }
    g.fillStyle = "#fff";
    g.beginPath();
    g.moveTo(0, -54);
    g.lineTo(-4, -47);
    g.lineTo(4, -47);
    g.fill();
    g.restore();
    g.strokeStyle = WARM;
    g.lineWidth = 3;
    g.beginPath();
    g.moveTo(-30, 0);
    g.lineTo(-11, 0);
    g.lineTo(-6, 6);
    g.moveTo(30, 0);
    g.lineTo(11, 0);
    g.lineTo(6, 6);
    g.stroke();
    g.fillStyle = WARM;
    g.beginPath();
    g.arc(0, 0, 2.4, 0, 7);
    g.fill();
  }

  altitude(g, r) {
    const on = (a, s) => [s * Math.sin(a), -s * Math.cos(a)];
    for (let k = 0; k < 10; k++) {
      const a = (k * Math.PI) / 5;
      g.beginPath();
      g.moveTo(...on(a, 56));
      g.lineTo(...on(a, 48));
      g.stroke();
      g.fillText(String(k), ...on(a, 38));
    }
    g.font = "9px system-ui, sans-serif";
    g.fillStyle = "#aab4bf";
    g.fillText("ALTITUDE", 0, -19);
    g.fillStyle = PAINT;
    g.font = "600 11px ui-monospace, monospace";
    g.fillText(`${r.altitude.toFixed(0)} m`, 0, 19);
    this.hand(g, (r.altitude / 1e4) * 2 * Math.PI - Math.PI / 2, 27, PAINT, 7);
    this.hand(g, (r.altitude / 1e3) * 2 * Math.PI - Math.PI / 2, 47, PAINT);
  }

  turn(g, r) {
    for (const s of [-1, 1])
      for (const a of [0, 20]) {
        const b = (s * a * Math.PI) / 180;
        g.beginPath();
        g.moveTo(s * 55 * Math.cos(b), 55 * Math.sin(Math.abs(b)));
        g.lineTo(s * 45 * Math.cos(b), 45 * Math.sin(Math.abs(b)));
        g.stroke();
      }
    g.font = "9px system-ui, sans-serif";
    g.fillStyle = "#aab4bf";
    g.fillText("TURN", 0, -34);
    g.fillText("L", -38, 22);
    g.fillText("R", 38, 22);
    g.save();
    g.rotate((between((r.turning * 180) / Math.PI / 3, -2, 2) * 20 * Math.PI) / 180);
    g.strokeStyle = PAINT;
    g.lineWidth = 3.4;
    g.beginPath();
    g.moveTo(-40, 0);
    g.lineTo(40, 0);
    g.moveTo(0, 0);
    g.lineTo(0, -13);
    g.stroke();
    g.fillStyle = PAINT;
    g.beginPath();
    g.arc(0, 0, 5, 0, 7);
    g.fill();
    g.restore();
    g.fillStyle = "#e8ecd8";
    g.beginPath();
    g.roundRect(-26, 32, 52, 13, 6);
    g.fill();
    g.strokeStyle = "#333";
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(-7, 32);
    g.lineTo(-7, 45);
    g.moveTo(7, 32);
    g.lineTo(7, 45);
    g.stroke();
    g.fillStyle = "#111";
    g.beginPath();
    g.arc(between(40 * r.slip, -1, 1) * 0.5 * 40, 38.5, 5.4, 0, 7);
    g.fill();
  }

  heading(g, r) {
    g.save();
    g.rotate((-r.heading * Math.PI) / 180);
    for (let deg = 0; deg < 360; deg += 10) {
      g.save();
      g.rotate((deg * Math.PI) / 180);
      g.beginPath();
      g.moveTo(0, -56);
      g.lineTo(0, deg % 30 ? -51 : -47);
      g.stroke();
      if (deg % 30 === 0) g.fillText({ 0: "N", 90: "E", 180: "S", 270: "W" }[deg] ?? String(deg / 10), 0, -38);
      g.restore();
    }
    g.restore();
    g.strokeStyle = WARM;
    g.lineWidth = 2.4;
    g.beginPath();
    g.moveTo(0, -24);
    g.lineTo(0, 22);
    g.moveTo(-15, -2);
    g.lineTo(15, -2);
    g.moveTo(-6, 18);
    g.lineTo(6, 18);
    g.stroke();
    g.fillStyle = WARM;
    g.beginPath();
    g.moveTo(0, -58);
    g.lineTo(-4, -50);
    g.lineTo(4, -50);
    g.fill();
  }

  climb(g, r) {
    this.dial(g, r.climb, -10, 10, 5, "CLIMB", "m/s", null, 1);
  }

  engine(g, r) {
    if (r.rpm !== null) this.dial(g, r.rpm / 100, 0, 30, 5, "ENGINE", "100 rpm", null, 1);
    else this.dial(g, 100 * r.throttle, 0, 100, 20, "THROTTLE", "%");
  }

  load(g, r, spec) {
    const [least, most] = spec.limits.load_factor ?? [-2, 6];
    const high = Math.max(4, Math.ceil(most + 0.5));
    this.dial(
      g,
      r.load_factor,
      Math.min(-2, Math.floor(least ?? -2)),
      high,
      1,
      "LOAD",
      "g",
      most ? [most, high] : null,
      1,
    );
  }
}
