// The scene: it draws the marks of all visible layers at a time, seen by a camera.

class Stage {
  constructor(doc, arrays, host) {
    this.doc = doc;
    this.arrays = arrays;
    this.host = host;
    this.share = 1;
    this.times = arrays[doc.times].values;
    this.span = [this.times[0], this.times[this.times.length - 1]];
    this.renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: false });
    this.renderer.toneMapping = THREE.NoToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    host.append(this.renderer.domElement);
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(doc.fov, 1, 0.1, 1e6);
    this.backdrop = new Backdrop(doc.world, doc.size);
    this.scene.add(this.backdrop.mesh);
    this.lights();
    this.haze();
    this.layers = {};
    for (const layer of doc.layers) this.take(layer, arrays);
    this.eye = new Eye(this, doc.camera);
    this.resize();
  }

  lights() {
    const dark = this.doc.world.kind === "orbit" && !this.doc.world.globe?.low;
    const [sun, sky] = dark ? [2.6, 1.5] : [2.1, 1.75];
    this.sun = new THREE.DirectionalLight(0xfffaf0, sun);
    this.sun.castShadow = !dark;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 3;
    this.sun.shadow.bias = -2e-4;
    this.sun.shadow.normalBias = 0.02;
    const above = new THREE.HemisphereLight(dark ? 0xdfe8ff : 0xf4f8ff, dark ? 0x9fb6d8 : 0xb9b7ae, sky);
    above.position.set(...this.doc.world.up);
    this.floor = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.ShadowMaterial({ opacity: 0.28, fog: false }));
    this.floor.receiveShadow = true;
    this.floor.material.depthWrite = false;
    this.scene.add(this.sun, this.sun.target, above, this.floor);
  }

  // What fades into the distance does so to the colour of the horizon.
  haze() {
    const p = paletteOf(this.doc.world);
    const color = new THREE.Color().setHex(p.horizon);
    this.scene.fog = { isFogExp2: true, color, density: 0.6 / Math.max(p.reach, 14 * this.doc.size) };
  }

  take(layer, arrays) {
    const group = new THREE.Group();
    const things = layer.marks.map(mark => new THINGS[mark.kind](mark, arrays));
    for (const thing of things) group.add(thing.object);
    group.visible = layer.on;
    if (things.some(thing => thing.object.count > MANY)) this.sun.castShadow = false; // they cast none, and time is short
    this.scene.add(group);
    this.layers[layer.name] = { group, things, meaning: layer.meaning };
  }

  moment(t) {
    const T = this.times;
    const n = T.length;
    if (n < 2 || t <= T[0]) return { i: 0, u: 0 };
    if (t >= T[n - 1]) return { i: n - 1, u: 0 };
    let low = 0;
    let high = n - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (T[middle] <= t) low = middle;
      else high = middle;
    }
    return { i: low, u: (t - T[low]) / (T[high] - T[low]) };
  }

  place(k, moment) {
    return vector(this.arrays[this.doc.positions], k, moment);
  }
  attitude(k, moment) {
    return rotation(this.arrays[this.doc.rotations], k, moment);
  }
  centre(k, moment) {
    return add(this.place(k, moment), rotated(this.attitude(k, moment), this.doc.bodies[k].middle));
  }

  // Where the centre of body k was at t [s], carried along by the turning Earth until `now`.
  overGround(k, t, now) {
    const p = this.centre(k, this.moment(t));
    const { rate = 0, low, centre } = this.doc.world.globe ?? {};
    return rate && low
      ? add(
          centre,
          rotated([Math.cos((rate * (now - t)) / 2), 0, 0, Math.sin((rate * (now - t)) / 2)], minus(p, centre)),
        )
      : p;
  }

  resize() {
    const { clientWidth: w, clientHeight: h } = this.host;
    const ratio = this.share * Math.min(devicePixelRatio, 2);
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(Math.max(w, 1), Math.max(h, 1), false);
    this.camera.aspect = Math.max(w, 1) / Math.max(h, 1);
    this.pixels = { x: (ratio * w) / 2, y: (ratio * h) / 2 };
  }

  draw(t) {
    const moment = this.moment(t);
    const { camera } = this;
    const view = this.eye.at(t, moment);
    const reach = size(minus(view.target, view.eye));
    let up = across(view.up, unit(minus(view.target, view.eye)));
    if (size(up) < 1e-6) up = perpendicular(unit(minus(view.target, view.eye)));
    const forward = unit(minus(view.target, view.eye));
    const top = unit(up);
    const right = cross(forward, top);
    this.view = { ...view, forward, top, right, t, moment };
    camera.near = view.near ?? 0.02 * reach;
    camera.far = 4e5 * camera.near;
    camera.matrixAutoUpdate = false;
    camera.matrix.makeBasis(
      new THREE.Vector3(...right),
      new THREE.Vector3(...top),
      new THREE.Vector3(...times(-1, forward)),
    );
    camera.matrix.decompose(camera.position, camera.quaternion, camera.scale);
    camera.matrixWorldNeedsUpdate = true;
    camera.updateProjectionMatrix();
    for (const { group, things } of Object.values(this.layers)) {
      if (group.visible)
        for (const thing of things) {
          thing.update(moment, view.eye);
          if (thing.object.material?.uniforms?.pixels) thing.object.material.uniforms.pixels.value = this.pixels;
        }
    }
    this.shine(view, reach);
    this.backdrop.update(view.eye, this.view, camera, this.renderer.domElement.height, t);
    this.renderer.render(this.scene, camera);
  }

  // The light and its shadows cover what is looked at.
  shine(view, reach) {
    const { sun, doc } = this;
    const focus = doc.bodies[this.eye.spec.body];
    const follows = this.eye.spec.kind !== "fixed";
    const wide = follows ? 1.7 * focus.radius : Math.min(1.1 * doc.size, 2 * reach);
    const target = minus(
      this.eye.spec.kind === "cockpit" ? this.centre(this.eye.spec.body, this.view.moment) : view.target,
      view.eye,
    );
    const ground = doc.world.ground;
    const height = ground === null ? Infinity : dot(add(target, view.eye), doc.world.up) - ground;
    const low = height < 6 * wide;
    const down = low ? height / Math.max(dot(doc.world.sun, doc.world.up), 0.2) : 0;
    sun.target.position.set(...target);
    sun.position.set(...add(target, times(3 * wide, doc.world.sun)));
    const c = sun.shadow.camera;
    c.left = c.bottom = -wide;
    c.right = c.top = wide;
    c.near = 0.1 * wide;
    c.far = 6 * wide + down;
    c.updateProjectionMatrix();
    this.floor.visible = low && sun.castShadow && doc.world.kind !== "orbit";
    if (!this.floor.visible) return;
    const foot = minus(target, times(height - 1e-3 * wide, doc.world.up));
    const shift = times(-height / Math.max(dot(doc.world.sun, doc.world.up), 0.2), across(doc.world.sun, doc.world.up));
    this.floor.position.set(...add(foot, shift));
    this.floor.scale.setScalar(3.4 * wide);
    this.floor.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(...doc.world.up));
  }

  // Where a point of the world is in the picture: pixels from the top left; null if it is behind the camera.
  project(p) {
    const { view, camera } = this;
    const d = minus(p, view.eye);
    const z = dot(d, view.forward);
    const f = 1 / Math.tan((camera.fov * Math.PI) / 360);
    if (z <= 0) return null;
    const { clientWidth: w, clientHeight: h } = this.host;
    return [w / 2 + ((h / 2) * f * dot(d, view.right)) / z, h / 2 - ((h / 2) * f * dot(d, view.top)) / z];
  }
}
