// A live page: the stage shows the latest state that the program sent; what the user does goes back by the same socket.

const SHIFT = 120; // records that are forgotten at once when there is no room for more

class LiveStage extends Stage {
  constructor(doc, arrays, host) { super(doc, arrays, host); this.clock = this.arrays[doc.times].values; this.layout = { edition: -1, layers: [] }; this.forget(); }

  take(layer, arrays) {
    const old = this.layers[layer.name];
    if (old) this.scene.remove(old.group);
    super.take(layer, arrays);
    Object.assign(this.layers[layer.name], { moving: layer.moving.map(k => arrays[k]), edition: layer.edition, fresh: true });
  }

  forget() { this.count = 0; this.times = this.clock.subarray(0, 0); this.span = [0, 0]; for (const layer of Object.values(this.layers)) layer.fresh = true; }

  get moving() { return [...this.doc.moving.map(k => this.arrays[k]), ...Object.values(this.layers).flatMap(l => l.moving)]; }

  makeRoom() {
    for (const a of this.moving) for (let c = 0; c < a.columns; c++) a.values.copyWithin(c * a.records, c * a.records + SHIFT, (c + 1) * a.records);
    this.count -= SHIFT;
    if (this.view) this.view.moment = { i: Math.max(0, this.view.moment.i - SHIFT), u: 0 };
  }

  // One frame: header, then every moving array in the order of the layout. Layers of another edition are asked for anew.
  receive(frame) {
    if (this.count === LIVE_RECORDS) this.makeRoom();
    const i = this.count++, stale = [];
    this.header = Object.fromEntries(this.doc.header.map((name, k) => [name, frame[k]]));
    let at = this.doc.header.length;
    const put = a => { for (let c = 0; c < a.columns; c++) a.values[c * a.records + i] = frame[at++]; };
    for (const k of this.doc.moving) put(this.arrays[k]);
    for (const [name, size, edition] of this.layout.layers) {
      const layer = this.layers[name];
      if (!layer || layer.edition !== edition) { at += size; if (layer) stale.push(name); continue; }
      for (const a of layer.moving) { put(a); if (layer.fresh) for (let c = 0; c < a.columns; c++) a.values.fill(a.values[c * a.records + i], c * a.records, c * a.records + i); }
      layer.fresh = false;
    }
    this.times = this.clock.subarray(0, this.count); this.span = [this.times[0], this.times[i]];
    return stale;
  }

  numbersOf(name) { const a = this.arrays[this.doc.numbers[name]], i = this.count - 1; return Array.from({ length: a.columns }, (_, c) => a.values[c * a.records + i]); }

  column(name, c) { const a = this.arrays[this.doc.numbers[name]]; return a.values.subarray(c * a.records, c * a.records + this.count); }

  // The body under a point of the picture [pixels], and where the line of sight meets it: {body, point} in its frame.
  pick(x, y) {
    const { view, camera, host, doc } = this, moment = { i: this.count - 1, u: 0 }, f = Math.tan(camera.fov * Math.PI / 360), h = host.clientHeight, w = host.clientWidth;
    const ray = unit(add(view.forward, add(times(f * (2 * x - w) / h, view.right), times(f * (h - 2 * y) / h, view.top))));
    let best = null;
    for (const { mark, arrays } of this.layers.bodies?.things ?? []) {
      if (mark.body === undefined || mark.vertices === undefined || mark.kind !== "Surface") continue;
      const p = vector(arrays[mark.positions], 0, moment), q = conjugate(rotation(arrays[mark.rotations], 0, moment)), far = nearest(arrays[mark.vertices].values, arrays[mark.faces].values, rotated(q, minus(view.eye, p)), rotated(q, ray));
      if (far < (best?.far ?? Infinity)) best = { far, body: mark.body };
    }
    if (!best) return null;
    const k = doc.bodies.findIndex(b => b.name === best.body), hit = add(view.eye, times(best.far, ray));
    return { ...best, hit, point: rotated(conjugate(this.attitude(k, moment)), minus(hit, this.place(k, moment))) };
  }

  // The point of the plane through `hit`, parallel to the picture, at these pixels.
  under(x, y, hit) {
    const { view, camera, host } = this, f = Math.tan(camera.fov * Math.PI / 360), h = host.clientHeight, z = dot(minus(hit, view.eye), view.forward);
    return add(view.eye, times(z, add(view.forward, add(times(f * (2 * x - host.clientWidth) / h, view.right), times(f * (h - 2 * y) / h, view.top)))));
  }
}

// The least distance at which a ray from o along d meets a triangle (Möller and Trumbore, 1997); Infinity if none.
function nearest(vertices, faces, o, d) {
  let best = Infinity;
  const corner = k => [vertices[3 * k], vertices[3 * k + 1], vertices[3 * k + 2]];
  for (let n = 0; n < faces.length; n += 3) {
    const a = corner(faces[n]), e1 = minus(corner(faces[n + 1]), a), e2 = minus(corner(faces[n + 2]), a), p = cross(d, e2), det = dot(e1, p);
    if (Math.abs(det) < 1e-18) continue;
    const s = minus(o, a), u = dot(s, p) / det, q = cross(s, e1), v = dot(d, q) / det, t = dot(e2, q) / det;
    if (u >= 0 && v >= 0 && u + v <= 1 && t > 1e-9 && t < best) best = t;
  }
  return best;
}

class LiveHud extends Hud {
  numbers(k, i) {
    const { doc, arrays } = this.stage, a = arrays[doc.numbers.exact], base = 6 * doc.exact.bodies.indexOf(k), of = j => a.values[(base + j) * a.records + i];
    return { position: [of(0), of(1), of(2)], velocity: [of(3), of(4), of(5)] };
  }
}

class LiveCurve extends Curve {
  constructor(spec, player, where) { super({ ...spec, series: [] }, player, where); this.spec = spec; this.canvas.style.cursor = "default"; this.canvas.onpointerdown = this.canvas.onpointermove = null; this.values = spec.series.map((_, k) => { const item = made("span", this.legend); item.style.color = COLOURS[k % COLOURS.length]; return item; }); }

  point(t, i) {
    const now = performance.now(), { stage } = this.player;
    if (!this.canvas.clientWidth || now - (this.drawn ?? -1e9) < 120 || !(stage.span[1] > stage.span[0])) return;
    this.drawn = now; this.times = stage.times;
    this.series = this.spec.series.map(s => ({ label: s.label, values: stage.column("curves", s.column) }));
    this.render(); this.show(i);
  }
}

class LivePanel {
  constructor(player, where) {
    const { doc } = player.stage;
    this.player = player; this.box = made("aside", where); this.fields = {};
    this.sliders(doc.sliders ?? []);
    if (doc.buttons?.length) this.buttons(doc.buttons, new Set(doc.triggers));
    if (doc.bodies_in_reach?.length) this.pushes(doc.bodies_in_reach);
    this.curves = (doc.curves ?? []).map(c => new LiveCurve(c, player, this.box));
    this.box.hidden = !this.box.children.length;
  }

  sliders(list) {
    for (const s of list) {
      const row = made("label", this.box, "slider"), slider = made("input"), field = made("input");
      made("span", row, "", s.label); row.append(slider, field);
      Object.assign(slider, { type: "range", min: s.low, max: s.high, step: (s.high - s.low) / 1000, value: s.value });
      Object.assign(field, { type: "number", step: "any", value: String(+s.value.toPrecision(6)) });
      slider.setAttribute("aria-label", s.label); field.setAttribute("aria-label", `${s.label}, as a number`);
      const send = value => { if (Number.isFinite(value)) this.player.say({ set: [s.name, s.k, value] }); };
      slider.oninput = () => { field.value = String(+(+slider.value).toPrecision(6)); send(+slider.value); };
      field.onchange = () => { slider.value = field.value; send(parseFloat(field.value)); };
      (this.fields[s.name] ??= [])[s.k] = { slider, field };
    }
  }

  take(values) { for (const [name, list] of Object.entries(values)) list.forEach((v, k) => { const f = this.fields[name]?.[k]; if (f && document.activeElement !== f.field && document.activeElement !== f.slider) { f.slider.value = v; f.field.value = String(+v.toPrecision(6)); } }); }

  // Buttons that are pressed; of events, which happen once, grey after that.
  buttons(names, events) {
    const box = made("div", this.box, "presses");
    this.triggers = {};
    for (const name of names) { const b = made("button", box, "", name), press = down => this.player.say({ press: name, down }); if (events.has(name)) { b.title = "make this event happen now"; this.triggers[name] = b; } b.onpointerdown = e => { b.setPointerCapture(e.pointerId); press(true); }; b.onpointerup = b.onpointercancel = () => press(false); }
  }

  pushes(bodies) {
    const box = made("div", this.box, "pushes"), body = made("select", box), way = made("select", box), force = made("input", box), go = made("button", box, "", "Push");
    for (const b of bodies) made("option", body, "", b.name).value = b.name;
    for (const w of ["x", "\u2212x", "y", "\u2212y", "z", "\u2212z"]) made("option", way, "", w);
    Object.assign(force, { type: "number", min: 0, step: 0.5, value: 3 }); force.title = "force, in multiples of the weight of the body"; force.setAttribute("aria-label", force.title);
    body.setAttribute("aria-label", "body that is pushed"); way.setAttribute("aria-label", "direction of the push");
    go.title = "push it for 0.15 s; or pull a body with the mouse";
    go.onclick = () => { const n = way.selectedIndex, f = [0, 0, 0]; f[n >> 1] = (n % 2 ? -1 : 1) * +force.value * bodies.find(b => b.name === body.value).weight; this.player.say({ push: [body.value, f] }); };
  }

  happened(names) { for (const [name, b] of Object.entries(this.triggers ?? {})) b.disabled = names.includes(name); }

  point(t, i) { if (!this.box.hidden) for (const curve of this.curves) curve.point(t, i); }
}

class LiveBar {
  constructor(player, where) {
    this.player = player;
    const bar = made("footer", where), button = (name, title, action) => { const b = made("button", bar); icon(b, name); b.title = title; b.setAttribute("aria-label", title); b.onclick = () => { action(); b.blur(); }; return b; };
    this.play = button("pause", "pause, or go on (space)", () => player.toggle());
    button("on", "one control period on (.)", () => player.say({ step: true }));
    button("start", "start again (R)", () => player.say({ reset: true }));
    this.clock = made("output", bar, "clock");
    this.status = made("span", bar, "status");
    this.extra = made("span", bar, "extra");
    this.speed = made("select", bar, "speed"); this.speed.title = "speed"; this.speed.setAttribute("aria-label", "speed");
    for (const f of [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8]) { const o = made("option", this.speed, "", f < 1 ? `\u00d7 1/${1 / f}` : `\u00d7 ${f}`); o.value = f; o.selected = f === 1; }
    this.speed.onchange = () => { player.say({ speed: +this.speed.value }); this.speed.blur(); };
  }

  point(t) {
    const { header, problem } = this.player.stage, sign = header.paused ? "play" : "pause";
    this.clock.textContent = `${t.toFixed(2)} s`;
    this.status.textContent = problem ? "" : header.paused ? "paused" : header.late > 0.2 ? "slower than the chosen speed" : "";
    if (this.play.dataset.icon !== sign) icon(this.play, sign);
    if (document.activeElement !== this.speed && +this.speed.value !== header.speed) this.speed.value = header.speed;
  }
}

class LivePlayer extends Player {
  furnish(page) {
    const { stage } = this;
    this.playing = false; this.seq = 0; this.sent = []; this.latencies = []; this.arrivals = []; this.asked = new Set();
    this.hud = new LiveHud(stage, stage.host); this.news = new News([], stage.host);
    this.panel = new LivePanel(this, page.main); this.bar = new LiveBar(this, page.root); this.menu = new Menu(this, stage.host);
    this.notices = made("div", stage.host, "notices");
    this.connect();
  }

  connect() {
    const token = location.pathname.split("/")[1];
    this.socket = new WebSocket(`${location.protocol.replace("http", "ws")}//${location.host}/${token}/socket`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = e => { if (typeof e.data === "string") this.hear(JSON.parse(e.data)); else this.frame(new Float64Array(e.data)); };
    this.socket.onclose = () => { this.over = true; made("div", this.stage.host, "notice", "The program has ended; this page is no longer connected."); };
  }

  // A message to the program; those marked as input are timed until the picture that shows them.
  say(what, input = false) {
    if (this.socket.readyState !== 1) return;
    this.seq++;
    if (input) this.sent.push([this.seq, performance.now()]);
    this.socket.send(JSON.stringify({ ...what, seq: this.seq }));
  }

  frame(numbers) {
    const { stage } = this;
    for (const name of stage.receive(numbers)) this.renew(name);
    this.t = stage.span[1]; this.dirty = true;
    this.arrivals.push(performance.now()); if (this.arrivals.length > 600) this.arrivals.splice(0, 300);
  }

  hear(said) {
    const { stage } = this;
    if (said.layout) stage.layout = said.layout;
    if (said.reset) stage.forget();
    if (said.problem !== undefined) { stage.problem = said.problem; this.alarm(said.problem); }
    if (said.seat !== undefined) this.seated(said.seat);
    if (said.news) { this.news.events = said.news; this.panel.happened(said.news.map(e => e.name)); this.news.point(this.t); }
    if (said.values) this.panel.take(said.values);
    if (said.notice) this.notify(said.notice, 6000);
  }

  alarm(text) { this.news.problem = text; this.news.point(this.t); }

  // A notice that goes away after a while; one of each kind.
  notify(text, until = 6000, kind = "") {
    const old = kind && this.notices.querySelector(`[data-kind="${kind}"]`);
    if (old) old.remove();
    if (!text) return null;
    const box = made("div", this.notices, "note", text);
    box.dataset.kind = kind;
    if (until < Infinity) setTimeout(() => box.remove(), until);
    return box;
  }

  seated(own) {
    this.pilot = own;
    const box = this.notify(own ? "" : "This page watches: another one is in control.", Infinity, "seat");
    if (box) { const b = made("button", box, "", "Take over"); b.onclick = () => this.say({ take: true }); }
  }

  draw() {
    if (!this.stage.count) { this.dirty = false; return; }
    super.draw();
    const { seen } = this.stage.header;
    while (this.sent.length && this.sent[0][0] <= seen) { this.latencies.push(performance.now() - this.sent.shift()[1]); if (this.latencies.length > 600) this.latencies.splice(0, 300); }
  }

  get shown() { return this.stage.span[1]; }

  get moves() { return this.stage.count > 0 && !this.stage.header.paused; }

  toggle() { this.say({ pause: !this.stage.header.paused }); }

  async renew(name) {
    if (this.asked.has(name)) return;
    this.asked.add(name);
    try {
      const part = await (await fetch(`layer?name=${encodeURIComponent(name)}`)).json(), on = this.stage.layers[name]?.group.visible ?? true;
      this.stage.take({ ...part.layer, on }, await unpacked(part));
    } finally { this.asked.delete(name); }
  }

  async layer(name, on) {
    if (!this.stage.layers[name]) await this.renew(name);
    this.stage.layers[name].group.visible = on; this.dirty = true;
  }

  mouse() {
    const canvas = this.stage.renderer.domElement, place = e => { const b = canvas.getBoundingClientRect(); return [e.clientX - b.left, e.clientY - b.top]; };
    let held = null;
    canvas.onpointerdown = e => {
      canvas.setPointerCapture(e.pointerId);
      const hit = this.stage.count && e.button === 0 && this.pilot ? this.stage.pick(...place(e)) : null;
      held = hit && this.stage.doc.bodies_in_reach?.some(b => b.name === hit.body) ? hit : null;
      if (held) this.say({ grab: [held.body, held.point, held.hit] }, true);
    };
    canvas.onpointermove = e => {
      if (!e.buttons) return;
      if (held) this.say({ grab: [held.body, held.point, this.stage.under(...place(e), held.hit)] }, true);
      else { this.stage.eye.drag(e.movementX, e.movementY); this.stir(); }
    };
    canvas.onpointerup = canvas.onpointercancel = () => { if (held) this.say({ let: true }); held = null; };
    canvas.addEventListener("wheel", e => { e.preventDefault(); this.stage.eye.zoom(Math.exp(0.0012 * e.deltaY)); this.stir(); }, { passive: false });
  }

  get actions() { return { Space: () => this.toggle(), KeyR: () => this.say({ reset: true }), Period: () => this.say({ step: true }), KeyC: () => this.look({ kind: { chase: "orbit", orbit: "cockpit", cockpit: "fixed" }[this.stage.eye.spec.kind] ?? "chase" }) }; }

  keys() {
    addEventListener("keydown", e => { if (this.actions[e.code] && !typing(e)) { e.preventDefault(); if (!e.repeat) this.actions[e.code](); } });
  }
}

// Whether a key belongs to a field of the page, or to the browser.
const typing = e => /INPUT|SELECT|TEXTAREA/.test(e.target?.tagName ?? "") || (e.code === "Space" && e.target?.tagName === "BUTTON") || e.ctrlKey || e.metaKey || e.altKey;

async function startLive(doc) {
  const page = await staged(doc, LiveStage);
  if (!page) return;
  const { stage } = page, player = new (doc.cockpit ? Cockpit : LivePlayer)(stage, page), latest = () => ({ i: stage.count - 1, u: 0 });
  player.run();
  window.poinsot = {
    player, stage, doc,
    pose: name => { const k = doc.bodies.findIndex(b => b.name === name); return stage.count ? [...stage.place(k, latest()), ...stage.attitude(k, latest())] : null; },
    where: name => stage.project(stage.centre(doc.bodies.findIndex(b => b.name === name), stage.view.moment)),
    readings: () => player.hud.readings(),
    // Frames per second over the last second or two, and the time from an input to its picture [ms].
    rates: () => { const a = player.arrivals.slice(-120); return { frames: a.length > 1 ? 1e3 * (a.length - 1) / (a[a.length - 1] - a[0]) : 0, latencies: [...player.latencies] }; },
  };
}
