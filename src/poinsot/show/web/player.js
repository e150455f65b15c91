// The player: real time of the simulation, play, pause, seek and speed; keys and mouse; what programs and tests may call.

// The share of the full resolution at which a slow machine still draws some thirty pictures per second while things move.
class Pace {
  constructor() {
    this.share = 1;
    this.waits = [];
    this.fast = 0;
    this.proof = 180;
    this.rest = 0;
  }

  // After a picture that came so many ms after the one before. The median of a dozen decides; back up needs a row of
  // quick pictures, twice as many each time that it turned out to be too early, so that it does not go up and down.
  after(ms) {
    this.fast = ms < 20 ? this.fast + 1 : 0;
    this.waits.push(ms);
    if (this.share < 1 && this.fast >= this.proof) {
      this.share = Math.min(1, this.share / 0.8);
      this.fast = 0;
      this.rose = true;
    }
    if (this.waits.length < 12) return;
    const median = this.waits.sort((a, b) => a - b)[6];
    this.waits = [];
    if (this.rest > 0) this.rest--;
    else if (median > 36) this.coarser(median);
  }

  // Two steps down. If these have gained nothing, it is not the pixels that take the time: all of them again, for a while.
  coarser(median) {
    if (this.rose) {
      this.proof *= 2;
      this.rose = false;
    }
    if (this.share === 1) this.before = median;
    if (Math.abs(this.share - 0.64) < 0.01 && median > 0.93 * this.before) {
      this.share = 1;
      this.rest = 50;
      return;
    }
    this.share = Math.max(0.5, 0.8 * this.share);
  }
}

class Player {
  constructor(stage, page) {
    this.pace = new Pace();
    this.stirred = 0;
    this.stage = stage;
    this.t = stage.span[0];
    this.factor = 1;
    this.playing = stage.times.length > 1;
    this.dirty = true;
    this.hudOn = stage.doc.hud;
    this.furnish(page);
    this.mouse();
    this.keys();
    new ResizeObserver(() => this.resize()).observe(stage.host);
  }

  furnish(page) {
    const { stage } = this;
    this.hud = new Hud(stage, stage.host);
    this.news = new News(stage.doc.events, stage.host);
    this.panel = new Panel(this, page.main);
    this.bar = new Bar(this, page.root);
    this.menu = new Menu(this, stage.host);
  }

  run() {
    let before = performance.now();
    let drew = false;
    const loop = now => {
      requestAnimationFrame(loop);
      const seconds = Math.min(0.25, (now - before) / 1e3);
      const moves = this.moves || now < this.stirred;
      if (moves && drew && now - before < 1000) this.pace.after(now - before); // a page in the background waits longer
      before = now;
      this.sharpen(moves ? this.pace.share : 1);
      if (this.playing) this.advance(Math.max(0, seconds));
      if ((drew = this.dirty)) this.draw();
    };
    requestAnimationFrame(loop);
  }

  get moves() {
    return this.playing;
  }

  sharpen(share) {
    if (share !== this.stage.share) {
      this.stage.share = share;
      this.resize();
    }
  }

  // The view is being turned by hand.
  stir() {
    this.stirred = performance.now() + 300;
    this.dirty = true;
  }

  advance(seconds) {
    const [t0, t1] = this.stage.span;
    this.t += seconds * this.factor * this.stage.doc.rate;
    this.dirty = true;
    if (this.t > t1 + 0.8 * this.stage.doc.rate) this.t = t0; // the end stays for a moment
  }

  get shown() {
    return between(this.t, ...this.stage.span);
  }

  draw() {
    const t = this.shown;
    const { stage } = this;
    this.dirty = false;
    stage.draw(t);
    this.hud.draw(this.hudOn);
    this.panel.point(t, stage.view.moment.i);
    this.news.point(t);
    this.bar.point(t);
    this.drawn = (this.drawn ?? 0) + 1;
    this.told?.();
  }

  seek(t) {
    this.playing = false;
    this.t = between(t, ...this.stage.span);
    this.dirty = true;
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing && this.t >= this.stage.span[1]) this.t = this.stage.span[0];
    this.dirty = true;
  }

  step(n) {
    const { i, u } = this.stage.moment(this.shown);
    const k = between(i + n + (n < 0 && u > 0 ? 1 : 0), 0, this.stage.times.length - 1);
    this.seek(this.stage.times[k]);
  }

  look(spec) {
    this.stage.eye.take(spec);
    this.menu?.mark();
    this.dirty = true;
  }

  async layer(name, on) {
    if (!this.stage.layers[name]) {
      if (!this.stage.doc.served) return;
      const part = await (await fetch(`layer?name=${encodeURIComponent(name)}&${location.search.slice(1)}`)).json();
      this.stage.take(part.layer, await unpacked(part));
    }
    this.stage.layers[name].group.visible = on;
    this.dirty = true;
  }

  resize() {
    this.stage.resize();
    this.dirty = true;
  }

  mouse() {
    const canvas = this.stage.renderer.domElement;
    canvas.onpointerdown = e => canvas.setPointerCapture(e.pointerId);
    canvas.onpointermove = e => {
      if (e.buttons) this.turned(e);
    };
    this.wheel();
  }

  // The camera follows the mouse.
  turned(e) {
    this.stage.eye.drag(e.movementX, e.movementY);
    this.stir();
  }

  wheel() {
    this.stage.renderer.domElement.addEventListener(
      "wheel",
      e => {
        e.preventDefault();
        this.stage.eye.zoom(Math.exp(0.0012 * e.deltaY));
        this.stir();
      },
      { passive: false },
    );
  }

  // What keys do, by their codes; those in `repeats` go on while they are held down.
  get actions() {
    return {
      Space: () => this.toggle(),
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      Home: () => this.seek(this.stage.span[0]),
      End: () => this.seek(this.stage.span[1]),
      KeyC: () => this.change(),
    };
  }

  get repeats() {
    return ["ArrowLeft", "ArrowRight"];
  }

  // The next kind of camera.
  change() {
    const next = { chase: "orbit", orbit: "cockpit", cockpit: "fixed" };
    this.look({ kind: next[this.stage.eye.spec.kind] ?? "chase" });
  }

  keys() {
    addEventListener("keydown", e => {
      if (!this.actions[e.code] || typing(e)) return;
      e.preventDefault();
      if (!e.repeat || this.repeats.includes(e.code)) this.actions[e.code]();
    });
  }
}

// Whether a key belongs to a field of the page, or to the browser.
const typing = e =>
  /INPUT|SELECT|TEXTAREA/.test(e.target?.tagName ?? "") ||
  (e.code === "Space" && e.target?.tagName === "BUTTON") ||
  e.ctrlKey ||
  e.metaKey ||
  e.altKey;

// A page that is served tells the program its time, and is told where to go.
function served(player) {
  const events = new EventSource("events");
  const told = { t: NaN, at: 0 };
  events.onmessage = e => {
    const order = JSON.parse(e.data);
    if (order.time !== undefined) player.seek(order.time);
    if (order.playing !== undefined && order.playing !== player.playing) player.toggle();
  };
  events.addEventListener("over", () => {
    events.close();
    player.told = null;
    made("div", player.stage.host, "notice", "The program has ended; this page is no longer connected.");
  });
  player.told = () => {
    const now = performance.now();
    if (player.shown === told.t || (player.playing && now - told.at < 100)) return;
    told.t = player.shown;
    told.at = now;
    fetch("state", {
      method: "POST",
      body: JSON.stringify({ time: player.shown, playing: player.playing, at: performance.timeOrigin + now }),
    }).catch(() => {});
  };
}

function refused(text) {
  made("p", document.body, "refused", text);
}

// The page with its stage; null if it cannot be drawn, which it then says.
async function staged(doc, Kind) {
  const root = made("div", document.body, "page");
  const main = made("main", root);
  const host = made("div", main, "picture");
  if (doc.bare) root.classList.add("bare");
  try {
    return { root, main, stage: new Kind(doc, await unpacked(doc), host) };
  } catch (error) {
    root.remove();
    refused(
      /WebGL/.test(String(error))
        ? "This browser cannot draw in three dimensions (WebGL 2 is missing or switched off). Try another browser, or update the graphics driver."
        : `The page cannot be shown: ${error}`,
    );
    return null;
  }
}

async function start(doc) {
  const page = await staged(doc, Stage);
  if (!page) return;
  const { stage } = page;
  const player = new Player(stage, page);
  legend(doc, stage.host);
  if (doc.served && !doc.bare) served(player);
  if (!doc.bare) player.run();
  window.poinsot = {
    player,
    stage,
    doc,
    show(t) {
      player.seek(t);
      player.draw();
    },
    pose: name => {
      const k = doc.bodies.findIndex(b => b.name === name);
      const m = stage.moment(player.shown);
      return [...stage.place(k, m), ...stage.attitude(k, m)];
    },
    where: name =>
      stage.project(
        stage.centre(
          doc.bodies.findIndex(b => b.name === name),
          stage.moment(player.shown),
        ),
      ),
    readings: () => player.hud.readings(),
  };
}
