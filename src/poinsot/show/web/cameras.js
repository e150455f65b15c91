// Cameras: where the eye is, what it looks at and what is up, in the world, in double precision.

const KEEN = 0.03; // share of the run over which the course of a body is taken

class Eye {
  constructor(stage, spec) {
    this.stage = stage;
    this.take(spec);
  }

  // spec: {kind, body, other, azimuth, elevation, distance [m]; position, look_at, up for a fixed one}
  take(spec) {
    const before = this.spec ?? {};
    this.spec = { ...this.stage.doc.cameras[spec.kind], ...spec };
    if (spec.body === undefined) this.spec.body = before.body ?? this.spec.body;
    const body = this.stage.doc.bodies[this.spec.body];
    if (spec.distance === undefined && this.spec.kind !== "fixed")
      this.spec.distance = (body.distance ?? 3.1 * body.radius) * (this.spec.zoom ?? 1);
    this.grows = spec.distance === undefined;
    this.turn = { azimuth: 0, elevation: 0, zoom: 1 };
  }

  // How far away it is [m]: farther while a parachute is open.
  away(k, moment) {
    const { grown } = this.stage.doc.bodies[k];
    return this.spec.distance * (grown === undefined || !this.grows ? 1 : at(this.stage.arrays[grown], 0, moment));
  }

  drag(dx, dy) {
    this.turn.azimuth -= 0.006 * dx;
    this.turn.elevation += 0.006 * dy;
  }

  zoom(factor) {
    this.turn.zoom = between(this.turn.zoom * factor, 0.02, 400);
  }

  vertical(p) {
    const g = this.stage.doc.world.globe;
    return g ? unit(minus(p, g.centre)) : this.stage.doc.world.up;
  }

  // The horizontal direction that a body moves in, about time t.
  course(k, t, up) {
    if (this.stage.doc.cockpit) return this.ahead(k, t, up);
    const { stage } = this;
    const [t0, t1] = stage.span;
    const w = Math.max(KEEN * (t1 - t0), 1e-9);
    const middle = between(t, t0 + w, t1 - w);
    const p = stage.overGround(k, middle - w, t);
    const q = stage.overGround(k, middle + w, t);
    const step = minus(q, p);
    const flat = across(step, up);
    const lost = unit(across(minus(stage.overGround(k, t1, t), stage.overGround(k, t0, t)), up));
    const other = size(lost) > 0.5 ? lost : perpendicular(up);
    const share = size(flat) / (size(step) || 1);
    return unit(add(flat, times(0.06 * Math.max(0, 1 - share) * (size(step) || 1) + 1e-12, other)));
  }

  // In flight: where it goes, and while it stands where its nose points.
  ahead(k, t, up) {
    const { stage } = this;
    const now = stage.moment(t);
    const before = Math.max(t - 0.4, stage.span[0]);
    const span = Math.max(t - Math.max(t - 0.4, stage.span[0]), 1e-3);
    const speed = times(1 / span, minus(stage.centre(k, now), stage.overGround(k, before, t)));
    const nose = across(rotated(stage.attitude(k, now), [1, 0, 0]), up);
    return unit(add(across(speed, up), times(4, size(nose) > 1e-3 ? unit(nose) : perpendicular(up))));
  }

  around(target, ahead, up, spec, distance) {
    const azimuth = (spec.azimuth ?? 0) + this.turn.azimuth;
    const elevation = between((spec.elevation ?? 0.3) + this.turn.elevation, -1.55, 1.55);
    const left = cross(up, ahead);
    const flat = add(times(Math.cos(azimuth), ahead), times(Math.sin(azimuth), left));
    const away = add(times(Math.cos(elevation), flat), times(Math.sin(elevation), up));
    return { eye: add(target, times(distance * this.turn.zoom, away)), target, up };
  }

  at(t, moment) {
    const { spec, stage } = this;
    if (spec.kind === "fixed") {
      const up = unit(spec.up);
      const away = minus(spec.position, spec.look_at);
      const ahead = unit(across(away, up));
      const flat = size(across(away, up));
      const base = flat > 1e-9 * size(away) ? ahead : perpendicular(up);
      return this.around(
        spec.look_at,
        base,
        up,
        { azimuth: 0, elevation: Math.atan2(dot(away, up), flat) },
        size(away),
      );
    }
    const k = spec.body;
    const p = stage.centre(k, moment);
    const q = stage.attitude(k, moment);
    const up = this.vertical(p);
    if (spec.kind === "cockpit") {
      const top = stage.doc.bodies[k].top;
      const local = (a, e) =>
        rotated(q, [Math.cos(a) * Math.cos(e), top * Math.sin(a) * Math.cos(e), top * Math.sin(e)]);
      const a = this.turn.azimuth;
      const e = between(-this.turn.elevation, -1.5, 1.5);
      const eye = add(stage.place(k, moment), rotated(q, stage.doc.bodies[k].eye));
      return {
        eye,
        target: add(eye, local(a, e)),
        up: rotated(q, [0, 0, top]),
        near: 0.02 * stage.doc.bodies[k].radius,
      };
    }
    if (spec.kind === "from") {
      const from = stage.centre(spec.other, moment);
      const high = this.vertical(from);
      const r = stage.doc.bodies[spec.other].radius;
      const line = unit(minus(p, from));
      return {
        eye: add(
          from,
          add(times(0.7 * r * this.turn.zoom, high), times(-1.2 * r * this.turn.zoom, unit(across(line, high)))),
        ),
        target: p,
        up: high,
      };
    }
    if (spec.kind === "chase") return this.around(p, times(-1, this.course(k, t, up)), up, spec, this.away(k, moment));
    return this.around(
      p,
      unit(across(stage.doc.world.globe ? perpendicular(up) : stage.doc.world.first, up)),
      up,
      spec,
      this.away(k, moment),
    );
  }
}
