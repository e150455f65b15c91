// The stage of a live page shows the latest state that the program sent, and keeps the last records for curves and trails.

const SHIFT = 120; // records that are forgotten at once when there is no room for more

class LiveStage extends Stage {
  constructor(doc, arrays, host) {
    super(doc, arrays, host);
    this.clock = this.arrays[doc.times].values;
    this.layout = { edition: -1, layers: [] };
    this.forget();
  }

  take(layer, arrays) {
    const old = this.layers[layer.name];
    if (old) this.scene.remove(old.group);
    super.take(layer, arrays);
    Object.assign(this.layers[layer.name], {
      moving: layer.moving.map(k => arrays[k]),
      edition: layer.edition,
      fresh: true,
    });
  }

  forget() {
    this.count = 0;
    this.times = this.clock.subarray(0, 0);
    this.span = [0, 0];
    for (const layer of Object.values(this.layers)) layer.fresh = true;
  }

  get moving() {
    return [...this.doc.moving.map(k => this.arrays[k]), ...Object.values(this.layers).flatMap(l => l.moving)];
  }

  makeRoom() {
    for (const a of this.moving)
      for (let c = 0; c < a.columns; c++)
        a.values.copyWithin(c * a.records, c * a.records + SHIFT, (c + 1) * a.records);
    this.count -= SHIFT;
    if (this.view) this.view.moment = { i: Math.max(0, this.view.moment.i - SHIFT), u: 0 };
  }

  // One frame: header, then every moving array in the order of the layout. Layers of another edition are asked for anew.
  receive(frame) {
    if (this.count === LIVE_RECORDS) this.makeRoom();
    const i = this.count++;
    const stale = [];
    this.header = Object.fromEntries(this.doc.header.map((name, k) => [name, frame[k]]));
    let at = this.doc.header.length;
    const put = a => {
      for (let c = 0; c < a.columns; c++) a.values[c * a.records + i] = frame[at++];
    };
    for (const k of this.doc.moving) put(this.arrays[k]);
    for (const [name, size, edition] of this.layout.layers) {
      const layer = this.layers[name];
      if (!layer || layer.edition !== edition) {
        at += size;
        if (layer) stale.push(name);
        continue;
      }
      for (const a of layer.moving) {
        put(a);
        if (layer.fresh)
          for (let c = 0; c < a.columns; c++)
            a.values.fill(a.values[c * a.records + i], c * a.records, c * a.records + i);
      }
      layer.fresh = false;
    }
    this.times = this.clock.subarray(0, this.count);
    this.span = [this.times[0], this.times[i]];
    return stale;
  }

  numbersOf(name) {
    const a = this.arrays[this.doc.numbers[name]];
    const i = this.count - 1;
    return Array.from({ length: a.columns }, (_, c) => a.values[c * a.records + i]);
  }

  column(name, c) {
    const a = this.arrays[this.doc.numbers[name]];
    return a.values.subarray(c * a.records, c * a.records + this.count);
  }

  // The body under a point of the picture [pixels], and where the line of sight meets it: {body, point} in its frame.
  pick(x, y) {
    const { view, camera, host, doc } = this;
    const moment = { i: this.count - 1, u: 0 };
    const f = Math.tan((camera.fov * Math.PI) / 360);
    const h = host.clientHeight;
    const w = host.clientWidth;
    const ray = unit(
      add(view.forward, add(times((f * (2 * x - w)) / h, view.right), times((f * (h - 2 * y)) / h, view.top))),
    );
    let best = null;
    for (const { mark, arrays } of this.layers.bodies?.things ?? []) {
      if (mark.body === undefined || mark.vertices === undefined || mark.kind !== "Surface") continue;
      const p = vector(arrays[mark.positions], 0, moment);
      const q = conjugate(rotation(arrays[mark.rotations], 0, moment));
      const far = nearest(
        arrays[mark.vertices].values,
        arrays[mark.faces].values,
        rotated(q, minus(view.eye, p)),
        rotated(q, ray),
      );
      if (far < (best?.far ?? Infinity)) best = { far, body: mark.body };
    }
    if (!best) return null;
    const k = doc.bodies.findIndex(b => b.name === best.body);
    const hit = add(view.eye, times(best.far, ray));
    return { ...best, hit, point: rotated(conjugate(this.attitude(k, moment)), minus(hit, this.place(k, moment))) };
  }

  // The point of the plane through `hit`, parallel to the picture, at these pixels.
  under(x, y, hit) {
    const { view, camera, host } = this;
    const f = Math.tan((camera.fov * Math.PI) / 360);
    const h = host.clientHeight;
    const z = dot(minus(hit, view.eye), view.forward);
    return add(
      view.eye,
      times(
        z,
        add(
          view.forward,
          add(times((f * (2 * x - host.clientWidth)) / h, view.right), times((f * (h - 2 * y)) / h, view.top)),
        ),
      ),
    );
  }
}

// The least distance at which a ray from o along d meets a triangle (Möller and Trumbore, 1997); Infinity if none.
function nearest(vertices, faces, o, d) {
  let best = Infinity;
  const corner = k => [vertices[3 * k], vertices[3 * k + 1], vertices[3 * k + 2]];
  for (let n = 0; n < faces.length; n += 3) {
    const a = corner(faces[n]);
    const e1 = minus(corner(faces[n + 1]), a);
    const e2 = minus(corner(faces[n + 2]), a);
    const p = cross(d, e2);
    const det = dot(e1, p);
    if (Math.abs(det) < 1e-18) continue;
    const s = minus(o, a);
    const u = dot(s, p) / det;
    const q = cross(s, e1);
    const v = dot(d, q) / det;
    const t = dot(e2, q) / det;
    if (u >= 0 && v >= 0 && u + v <= 1 && t > 1e-9 && t < best) best = t;
  }
  return best;
}
