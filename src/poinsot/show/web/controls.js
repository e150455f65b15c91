// What a pilot holds: keys with their going down and up, a gamepad, a stick on the screen. All of it goes to the program.

const DEAD = 0.06; // of a gamepad's axes about their centre

class Controls {
  constructor(player, host) {
    this.player = player;
    this.spec = player.stage.doc.cockpit;
    this.held = new Set();
    this.buttons = new Set();
    this.axes = {};
    this.pad = null;
    const mine = e => this.spec.keys[e.code] && !typing(e);
    addEventListener("keydown", e => {
      if (!mine(e)) return;
      e.preventDefault();
      if (!this.held.has(e.code)) {
        this.held.add(e.code);
        this.freed();
        this.send();
      }
    });
    addEventListener("keyup", e => {
      if (this.held.delete(e.code)) {
        e.preventDefault();
        this.send();
      }
    });
    addEventListener("blur", () => {
      if (this.held.size) {
        this.held.clear();
        this.send();
      }
    });
    this.screen(host);
  }

  send() {
    this.player.say({ keys: [...this.held, ...this.buttons] }, true);
  }

  // After a gamepad was pulled out its axes hold, until a key is used.
  freed() {
    if (this.lost) {
      this.player.say({ axes: Object.fromEntries(this.lost.map(axis => [axis, null])) });
      this.lost = null;
      this.player.notify("", 0, "pad");
    }
  }

  poll() {
    const pad = [...(navigator.getGamepads?.() ?? [])].find(p => p?.connected) ?? null;
    if (!pad) {
      if (this.pad) this.gone();
      return;
    }
    if (!this.pad) {
      this.pad = pad.id;
      this.lost = null;
      this.player.notify(`Gamepad: ${pad.id}`, 4000, "pad");
    }
    const moved = {};
    const down = new Set();
    for (const [key, action] of Object.entries(this.spec.gamepad)) {
      const [, kind, number, turned] = key.match(/^(axis|button)(\d+)(-?)$/);
      if (kind === "button") {
        if (pad.buttons[number]?.pressed) down.add(key);
        continue;
      }
      const raw = (pad.axes[number] ?? 0) * (turned ? -1 : 1);
      const springs = /pitch|roll|yaw|steering/.test(action);
      const value = springs ? (Math.abs(raw) < DEAD ? 0 : raw) : (raw + 1) / 2;
      if (Math.abs(value - (this.axes[action] ?? 0)) > 0.004) moved[action] = this.axes[action] = value;
    }
    if (Object.keys(moved).length) this.player.say({ axes: moved }, true);
    if (down.size !== this.buttons.size || [...down].some(b => !this.buttons.has(b))) {
      this.buttons = down;
      this.send();
    }
  }

  gone() {
    this.pad = null;
    this.lost = Object.keys(this.axes);
    this.axes = {};
    if (this.buttons.size) {
      this.buttons.clear();
      this.send();
    }
    this.player.notify("The gamepad is gone. The controls stay where they were; any key takes over.", Infinity, "pad");
  }

  // A stick, pedals and a throttle to be moved by mouse or finger.
  screen(host) {
    const box = (this.box = made("div", host, "stickbox"));
    const field = made("div", box, "field");
    const knob = made("i", field);
    const has = this.spec.controls;
    box.hidden = !matchMedia("(pointer: coarse)").matches;
    const drag = (where, move, free) => {
      where.onpointerdown = e => {
        where.setPointerCapture(e.pointerId);
        move(e);
      };
      where.onpointermove = e => {
        if (where.hasPointerCapture(e.pointerId)) move(e);
      };
      where.onpointerup = where.onpointercancel = free;
    };
    const part = (e, where) => {
      const b = where.getBoundingClientRect();
      return [
        between((2 * (e.clientX - b.left)) / b.width - 1, -1, 1),
        between((2 * (e.clientY - b.top)) / b.height - 1, -1, 1),
      ];
    };
    drag(
      field,
      e => {
        const [x, y] = part(e, field);
        knob.style.transform = `translate(${44 * x}px, ${44 * y}px)`;
        this.player.say({ axes: { roll: x, pitch: y } }, true);
      },
      () => {
        knob.style.transform = "";
        this.player.say({ axes: { roll: null, pitch: null } });
      },
    );
    field.title = "the stick";
    if (has.yaw || has.steering) {
      const pedals = made("div", box, "pedals");
      const mark = made("i", pedals);
      pedals.title = "the pedals";
      drag(
        pedals,
        e => {
          const [x] = part(e, pedals);
          mark.style.transform = `translateX(${46 * x}px)`;
          this.player.say({ axes: { yaw: x } }, true);
        },
        () => {
          mark.style.transform = "";
          this.player.say({ axes: { yaw: null } });
        },
      );
    }
    if (has.throttle) {
      const lever = made("div", box, "lever");
      this.lever = made("i", lever);
      lever.title = "the throttle";
      drag(
        lever,
        e => this.player.say({ axes: { throttle: (1 - part(e, lever)[1]) / 2 } }, true),
        () => {},
      );
    }
  }

  show(places) {
    if (this.lever && !this.box.hidden) this.lever.style.bottom = `${88 * places.throttle}px`;
  }
}
