// Sky, ground and globe: one triangle over the whole picture, whose pixels follow their rays.

const BACKDROP = `
precision highp float;
in vec3 ray;
out vec4 colour;
uniform vec3 forward, up, first, second, sun;
uniform vec3 zenith, horizon, meadow, far, ink, glow;
uniform float height, haze, hasGround, lines, near, beyond, pixel;
uniform vec2 offsets[13];        // the camera along first and second, modulo 10^(k-3) m
uniform vec4 runway;             // its middle from the camera along first and second [m], cosine and sine of its course
uniform vec2 runwaySize;         // half its length and width [m]; 0: none
uniform float low, above, radius;   // above: |camera - centre|^2 - 1, in radii; low: a flight near the ground
uniform vec3 outward;            // the camera from the centre, in radii
uniform mat3 fixedAxes;          // world axes -> Earth-fixed ones
uniform sampler2D land;

vec3 sky(vec3 d) {
  float e = dot(d, up), s = clamp(hasGround > 0.5 ? e : abs(e), 0.0, 1.0);
  vec3 c = mix(horizon, zenith, pow(s, 0.55));
#ifdef SUN
  float toSun = max(dot(d, sun), 0.0);
  c += glow * (0.18 * pow(toSun, 24.0) + 0.9 * smoothstep(0.99985, 0.99992, toSun));
#endif
  return c;
}

float ruled(vec2 x, vec2 width) {  // lines at whole numbers, about one pixel wide
  vec2 d = abs(fract(x - 0.5) - 0.5) / max(width, 1e-9);
  return 1.0 - clamp(min(d.x, d.y) - 0.35, 0.0, 1.0);
}

vec3 ground(vec3 d, float t, vec3 above, vec3 soil) {
  vec2 along = t * vec2(dot(d, first), dot(d, second));
  float slant = max(-dot(d, up), 1e-5);
  float footprint = t * pixel / sqrt(slant);       // metres per pixel, between the fine and the coarse direction
  float level = log(footprint * 34.0) / log(10.0), k = floor(level), part = level - k;
  vec3 base = mix(soil, far, clamp(0.5 + 0.25 * log(t / 300.0), 0.0, 1.0));
  float strength = 0.0;
  for (int j = 0; j < 3; j++) {
    int n = int(clamp(k + float(j) + 3.0, 0.0, 12.0));
    float cell = pow(10.0, float(n) - 3.0);
    vec2 x = (offsets[n] + along) / cell;
    float weight = j == 0 ? (1.0 - part) * 0.35 : j == 1 ? mix(0.7, 0.35, part) : 0.7;
    strength = max(strength, weight * ruled(x, fwidth(along) / cell));
  }
  base = mix(base, ink, strength * lines);
#ifdef RUNWAY
  {
    vec2 p = along - runway.xy, q = vec2(p.x * runway.z + p.y * runway.w, -p.x * runway.w + p.y * runway.z);
    vec2 soft = fwidth(q), edge = smoothstep(-soft, soft, runwaySize - abs(q));
    float paint = 0.0;
    float line = smoothstep(-soft.y, soft.y, 0.45 - abs(q.y)) * step(0.5, fract(q.x / 60.0)) * step(abs(q.x), runwaySize.x - 70.0);
    float bars = step(abs(abs(q.x) - runwaySize.x + 28.0), 15.0) * step(0.5, fract(q.y / 3.6)) * step(abs(q.y), runwaySize.y - 2.0);
    float sides = smoothstep(-soft.y, soft.y, 0.45 - abs(abs(q.y) - runwaySize.y + 1.0));
    paint = max(max(line, bars), sides);
    base = mix(base, mix(vec3(0.36, 0.37, 0.39), vec3(0.93), paint * clamp(2.0 - soft.y, 0.0, 1.0)), edge.x * edge.y);
  }
#endif
  return mix(above, base, exp(-t / (haze + 10.0 * abs(height))));
}

#ifdef GLOBE
float hash(vec3 p) { p = fract(p * vec3(443.897, 441.423, 437.195)); p += dot(p, p.yzx + 19.19); return fract((p.x + p.y) * p.z); }

vec3 space(vec3 d) {
  vec3 cell = floor(d * 130.0), inside = fract(d * 130.0) - 0.5;
  float h = hash(cell + 0.5);
  float star = step(0.9965, h) * smoothstep(0.34, 0.1, length(inside)) * fract(h * 913.0);
  return mix(vec3(0.012, 0.016, 0.03), vec3(1.0), star);
}

#endif
float depth(float z) {  // of the buffer, z metres ahead
  return clamp(0.5 + 0.5 * ((beyond + near) / (beyond - near) - 2.0 * beyond * near / ((beyond - near) * z)), 0.0, 1.0);
}

#ifdef GLOBE
vec3 globe(vec3 d) {
  float b = dot(outward, d), disc = b * b - above;
  vec3 c = space(d), overhead = normalize(outward);
  float high = 0.5 * above * radius, air = low * min(1.0, 1.4 * exp(-max(high, 0.0) / 15e3)) * smoothstep(-0.15, 0.2, dot(overhead, sun));  // metres
  float closest = length(outward - b * d);
  vec3 nearest = normalize(outward - b * d);
  if (b < 0.0 || above < 0.02) c += vec3(0.25, 0.5, 0.95) * 0.75 * exp(-max(closest - 1.0, 0.0) / 0.012) * mix(0.35, 1.0, smoothstep(-0.25, 0.35, dot(nearest, sun)));
  if (disc < 0.0 || b > 0.0) return mix(c, sky(d), air);
  float t = -b - sqrt(disc);
  gl_FragDepth = depth(t * radius * dot(d, forward) * 1.0003);
  vec3 n = normalize(outward + t * d), f = fixedAxes * n;
  float lon = atan(f.y, f.x), lat = asin(clamp(f.z, -1.0, 1.0));
  vec2 uv = vec2(lon / 6.2831853 + 0.5, lat / 3.1415927 + 0.5);
  vec4 surface = textureGrad(land, uv, vec2(pixel * t / 6.28, 0.0), vec2(0.0, pixel * t / 3.14));
  vec3 water = vec3(0.075, 0.22, 0.42), soil = mix(vec3(0.36, 0.45, 0.25), vec3(0.62, 0.56, 0.40), smoothstep(0.55, 0.15, abs(abs(lat) - 0.42) + 0.1));
  soil = mix(soil, vec3(0.90, 0.93, 0.95), smoothstep(1.08, 1.25, abs(lat) + 0.06 * sin(5.0 * lon)));
  c = mix(water, soil, surface.r);
  c = mix(c, vec3(0.85, 0.9, 0.8), 0.55 * surface.g);
  vec2 deg = vec2(lon, lat) * 57.29578 / 15.0, w = vec2(pixel * t * 57.3 / 15.0) / vec2(max(cos(lat), 0.02), 1.0) / max(-dot(n, d), 0.15);
  c = mix(c, vec3(0.75, 0.85, 1.0), 0.22 * ruled(deg, w));
  float day = smoothstep(-0.08, 0.25, dot(n, sun));
  c *= 0.32 + day * (0.38 + 0.55 * max(dot(n, sun), 0.0));
  vec3 from = mix(c, vec3(0.35, 0.58, 0.95) * (0.3 + 0.7 * day), 0.75 * pow(1.0 - max(-dot(n, d), 0.0), 3.0));
  if (air < 0.01) return from;
  float e = dot(d, overhead);
  return mix(from, ground(d, t * radius, sky(d - e * overhead), mix(vec3(0.20, 0.36, 0.52), meadow, surface.r)), smoothstep(0.02, 0.35, air));
}

#endif

void main() {
  vec3 d = normalize(ray);
  gl_FragDepth = 1.0;
#ifdef GLOBE
  colour = vec4(globe(d), 1.0);
#else
  vec3 above = sky(d);
  float e = dot(d, up);
  float t = hasGround > 0.5 && e * sign(height) < -1e-6 ? -height / e : -1.0;
  vec3 c = t > 0.0 ? ground(d, t, sky(d - e * up), meadow) : above;
  if (t > 0.0 && height > 0.0) {
    float z = t * dot(d, forward) * 1.0003;
    gl_FragDepth = depth(z);
  }
  colour = vec4(c, 1.0);
#endif
}`;

const PALETTES = {
  studio: {
    zenith: 0xcfd9e6,
    horizon: 0xf6f8fb,
    meadow: 0xe9edf2,
    far: 0xeef1f5,
    ink: 0xaab5c3,
    glow: 0x000000,
    reach: 60,
  },
  field: {
    zenith: 0x3f79bf,
    horizon: 0xdce7f0,
    meadow: 0x74875f,
    far: 0x8d9c7c,
    ink: 0x4c5b41,
    glow: 0xfff1d0,
    reach: 9e3,
  },
  orbit: {
    zenith: 0x000000,
    horizon: 0x000000,
    meadow: 0x000000,
    far: 0x000000,
    ink: 0x000000,
    glow: 0x000000,
    reach: 1,
  },
};

const paletteOf = world => PALETTES[world.globe?.low ? "field" : world.kind]; // a flight near the ground has a sky, also over a globe

const linear = hex => {
  const c = new THREE.Color();
  c.setHex(hex, THREE.LinearSRGBColorSpace);
  return c;
}; // the shader writes display values

// Land white, coast green: from lines of longitude and latitude in tenths of degrees.
function landTexture(lines) {
  const canvas = document.createElement("canvas");
  const w = (canvas.width = 2048);
  const h = (canvas.height = 1024);
  const g = canvas.getContext("2d");
  g.fillStyle = "#000";
  g.fillRect(0, 0, w, h);
  g.fillStyle = "#f00";
  g.strokeStyle = "#ff0";
  g.lineWidth = 1.6;
  g.lineJoin = "round";
  for (const line of lines) {
    g.beginPath();
    line.forEach(([lon, lat], k) => g[k ? "lineTo" : "moveTo"]((lon / 3600 + 0.5) * w, (0.5 - lat / 1800) * h));
    g.fill();
    g.stroke();
  }
  const texture = new THREE.CanvasTexture(canvas);
  texture.wrapS = THREE.RepeatWrapping;
  texture.colorSpace = THREE.NoColorSpace;
  return texture;
}

class Backdrop {
  constructor(world, size) {
    this.world = world;
    const p = paletteOf(world);
    const value = v => ({ value: v });
    this.uniforms = {
      forward: value([0, 0, 0]),
      up: value(world.up),
      first: value(world.first),
      second: value(cross(world.up, world.first)),
      sun: value(world.sun),
      height: value(0),
      haze: value(Math.max(p.reach, world.kind === "studio" ? 14 * size : 0)),
      hasGround: value(world.ground === null ? 0 : 1),
      lines: value(0.55),
      near: value(0.1),
      beyond: value(1e6),
      pixel: value(1e-3),
      offsets: value(Array.from({ length: 13 }, () => new THREE.Vector2())),
      runway: value([0, 0, 1, 0]),
      runwaySize: value(world.runway ? [world.runway.length / 2, world.runway.width / 2] : [0, 0]),
      low: value(world.globe?.low ? 1 : 0),
      above: value(1),
      radius: value(world.globe?.radius ?? 1),
      outward: value([2, 0, 0]),
      fixedAxes: value(new THREE.Matrix3()),
      land: value(world.globe ? landTexture(world.globe.coast) : null),
    };
    for (const name of ["zenith", "horizon", "meadow", "far", "ink", "glow"])
      this.uniforms[name] = value(linear(p[name]));
    for (const name of ["forward", "up", "first", "second", "sun", "outward"])
      this.uniforms[name].value = new THREE.Vector3(...this.uniforms[name].value);
    const triangle = new THREE.BufferGeometry();
    triangle.setAttribute("position", new THREE.BufferAttribute(new Float32Array([-1, -1, 1, 3, -1, 1, -1, 3, 1]), 3));
    const material = new THREE.ShaderMaterial({
      glslVersion: "300 es",
      uniforms: this.uniforms,
      fragmentShader: BACKDROP,
      depthWrite: true,
      // Software that draws without a graphics card computes both sides of every branch: what is not there is left out.
      defines: Object.fromEntries(
        [
          ["GLOBE", world.globe],
          ["RUNWAY", world.runway],
          ["SUN", p.glow],
        ]
          .filter(([, there]) => there)
          .map(([name]) => [name, 1]),
      ),
      vertexShader:
        "out vec3 ray; uniform mat3 rays; void main() { ray = rays * vec3(position.xy, 1.0); gl_Position = vec4(position.xy, 1.0, 1.0); }",
    });
    material.depthFunc = THREE.AlwaysDepth;
    this.uniforms.rays = value(new THREE.Matrix3());
    this.mesh = new THREE.Mesh(triangle, material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = -1000;
  }

  // eye: the camera in the world [m]; its axes right, top and forward; t [s].
  update(eye, axes, camera, height, t) {
    const u = this.uniforms;
    const world = this.world;
    const tan = Math.tan((camera.fov * Math.PI) / 360);
    u.rays.value.set(
      ...[0, 1, 2].flatMap(i => [axes.right[i] * tan * camera.aspect, axes.top[i] * tan, axes.forward[i]]),
    );
    u.forward.value.set(...axes.forward);
    u.near.value = camera.near;
    u.beyond.value = camera.far;
    u.pixel.value = (2 * tan) / height;
    if (world.globe) return this.turn(eye, t);
    const second = cross(world.up, world.first);
    u.height.value = world.ground === null ? 1 : dot(eye, world.up) - world.ground;
    this.ruled(dot(eye, world.first), dot(eye, second));
    if (world.runway) {
      const from = minus(world.runway.middle, eye);
      u.runway.value = [dot(from, world.first), dot(from, second), ...world.runway.course];
    }
  }

  // Where the camera is on the grid of the ground [m].
  ruled(x, y) {
    this.uniforms.offsets.value.forEach((o, k) => {
      const cell = 10 ** (k - 3);
      o.x = x - cell * Math.floor(x / cell);
      o.y = y - cell * Math.floor(y / cell);
    });
  }

  turn(eye, t) {
    const { centre, rate, low, angle = 0, sunk = 0 } = this.world.globe;
    const radius = this.world.globe.radius - sunk;
    const u = this.uniforms;
    const from = minus(eye, centre);
    const o = times(1 / radius, from);
    const far = size(o) * radius - radius;
    u.outward.value.set(...o);
    u.above.value = (far / radius) * (2 + far / radius);
    u.radius.value = radius;
    const c = Math.cos(angle + rate * t);
    const s = Math.sin(angle + rate * t);
    u.fixedAxes.value.set(c, s, 0, -s, c, 0, 0, 0, 1);
    if (!low) return;
    const up = unit(from);
    const east = unit(cross([0, 0, 1], up));
    const flat = Math.hypot(from[0], from[1]);
    const lon = Math.atan2(from[1], from[0]) - angle - rate * t;
    u.up.value.set(...up);
    u.first.value.set(...east);
    u.second.value.set(...cross(up, east));
    u.height.value = Math.max(far, 1);
    this.meridian ??= lon;
    const east0 = lon - this.meridian;
    this.ruled(flat * (east0 - 2 * Math.PI * Math.round(east0 / (2 * Math.PI))), radius * Math.atan2(from[2], flat));
  }
}
