// A live page follows the program: frames come by a socket, and what the user does goes back by it.

class LivePlayer extends Player {
  furnish(page) {
    const { stage } = this;
    this.playing = false;
    this.seq = 0;
    this.sent = [];
    this.latencies = [];
    this.arrivals = [];
    this.asked = new Set();
    this.hud = new LiveHud(stage, stage.host);
    this.news = new News([], stage.host);
    this.panel = new LivePanel(this, page.main);
    this.bar = new LiveBar(this, page.root);
    this.menu = new Menu(this, stage.host);
    this.notices = made("div", stage.host, "notices");
    this.connect();
  }

  connect() {
    const token = location.pathname.split("/")[1];
    this.socket = new WebSocket(`${location.protocol.replace("http", "ws")}//${location.host}/${token}/socket`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = e => {
      if (typeof e.data === "string") this.hear(JSON.parse(e.data));
      else this.frame(new Float64Array(e.data));
    };
    this.socket.onclose = () => {
      this.over = true;
      made("div", this.stage.host, "notice", "The program has ended; this page is no longer connected.");
    };
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
    this.t = stage.span[1];
    this.dirty = true;
    this.arrivals.push(performance.now());
    if (this.arrivals.length > 600) this.arrivals.splice(0, 300);
  }

  hear(said) {
    const { stage } = this;
    if (said.layout) stage.layout = said.layout;
    if (said.reset) stage.forget();
    if (said.problem !== undefined) {
      stage.problem = said.problem;
      this.alarm(said.problem);
    }
    if (said.seat !== undefined) this.seated(said.seat);
    if (said.news) {
      this.news.events = said.news;
      this.panel.happened(said.news.map(e => e.name));
      this.news.point(this.t);
    }
    if (said.values) this.panel.take(said.values);
    if (said.notice) this.notify(said.notice, 6000);
  }

  alarm(text) {
    this.news.problem = text;
    this.news.point(this.t);
  }

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
    if (box) {
      const b = made("button", box, "", "Take over");
      b.onclick = () => this.say({ take: true });
    }
  }

  draw() {
    if (!this.stage.count) {
      this.dirty = false;
      return;
    }
    super.draw();
    const { seen } = this.stage.header;
    while (this.sent.length && this.sent[0][0] <= seen) {
      this.latencies.push(performance.now() - this.sent.shift()[1]);
      if (this.latencies.length > 600) this.latencies.splice(0, 300);
    }
  }

  get shown() {
    return this.stage.span[1];
  }

  get moves() {
    return this.stage.count > 0 && !this.stage.header.paused;
  }

  toggle() {
    this.say({ pause: !this.stage.header.paused });
  }

  async renew(name) {
    if (this.asked.has(name)) return;
    this.asked.add(name);
    try {
      const part = await (await fetch(`layer?name=${encodeURIComponent(name)}`)).json();
      const on = this.stage.layers[name]?.group.visible ?? true;
      this.stage.take({ ...part.layer, on }, await unpacked(part));
    } finally {
      this.asked.delete(name);
    }
  }

  async layer(name, on) {
    if (!this.stage.layers[name]) await this.renew(name);
    this.stage.layers[name].group.visible = on;
    this.dirty = true;
  }

  mouse() {
    const canvas = this.stage.renderer.domElement;
    const place = e => {
      const b = canvas.getBoundingClientRect();
      return [e.clientX - b.left, e.clientY - b.top];
    };
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
      else this.turned(e);
    };
    canvas.onpointerup = canvas.onpointercancel = () => {
      if (held) this.say({ let: true });
      held = null;
    };
    this.wheel();
  }

  get actions() {
    return {
      Space: () => this.toggle(),
      KeyR: () => this.say({ reset: true }),
      Period: () => this.say({ step: true }),
      KeyC: () => this.change(),
    };
  }

  get repeats() {
    return [];
  }
}

async function startLive(doc) {
  const page = await staged(doc, LiveStage);
  if (!page) return;
  const { stage } = page;
  const player = new (doc.cockpit ? Cockpit : LivePlayer)(stage, page);
  const latest = () => ({ i: stage.count - 1, u: 0 });
  player.run();
  window.poinsot = {
    player,
    stage,
    doc,
    pose: name => {
      const k = doc.bodies.findIndex(b => b.name === name);
      return stage.count ? [...stage.place(k, latest()), ...stage.attitude(k, latest())] : null;
    },
    where: name =>
      stage.project(
        stage.centre(
          doc.bodies.findIndex(b => b.name === name),
          stage.view.moment,
        ),
      ),
    readings: () => player.hud.readings(),
    // Frames per second over the last second or two, and the time from an input to its picture [ms].
    rates: () => {
      const a = player.arrivals.slice(-120);
      return {
        frames: a.length > 1 ? (1e3 * (a.length - 1)) / (a[a.length - 1] - a[0]) : 0,
        latencies: [...player.latencies],
      };
    },
  };
}
