// How each kind of mark is drawn. Every position is taken relative to an origin near the camera before it is rounded to
// single precision, so that nothing trembles far from the world's origin.

const rgb = c => new THREE.Color(c[0] / 255, c[1] / 255, c[2] / 255).convertSRGBToLinear();

function surfaceOf(vertices, faces) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(vertices, 3));
  geometry.setIndex(new THREE.BufferAttribute(faces, 1));
  geometry.computeVertexNormals();
  return geometry;
}

function materialOf(mark) {
  const material = new THREE.MeshStandardMaterial({ roughness: 0.62, metalness: 0.04, side: THREE.DoubleSide });
  if (mark.opacity < 1) Object.assign(material, { transparent: true, opacity: mark.opacity, depthWrite: false });
  material.fog = !!mark.haze;
  if (mark.over) Object.assign(material, { depthTest: false, transparent: true });
  if (mark.glows) material.emissive = rgb(mark.colour).multiplyScalar(0.85);
  return material;
}

function placed(object, position, q) {
  object.position.set(...position);
  object.quaternion.set(q[1], q[2], q[3], q[0]);
}

class SurfaceThing {
  constructor(mark, arrays) {
    this.mark = mark;
    this.arrays = arrays;
    const geometry = surfaceOf(arrays[mark.vertices].values, arrays[mark.faces].values);
    const material = materialOf(mark);
    if (mark.shades !== undefined) {
      geometry.setAttribute(
        "color",
        new THREE.BufferAttribute(
          Float32Array.from(arrays[mark.shades].values, c => (c / 255) ** 2.2),
          3,
        ),
      );
      material.vertexColors = true;
    } else material.color = rgb(mark.colour);
    this.object = new THREE.Mesh(geometry, material);
    this.object.castShadow = mark.shadow;
    this.object.receiveShadow = mark.shadow;
    this.object.renderOrder = mark.opacity < 1 ? 2 : 0;
  }

  update(moment, origin) {
    const { mark, arrays } = this;
    placed(
      this.object,
      minus(vector(arrays[mark.positions], 0, moment), origin),
      rotation(arrays[mark.rotations], 0, moment),
    );
    if (mark.hue === undefined) return;
    const hue = arrays[mark.hue];
    const i = Math.min(moment.i, hue.records - 1);
    this.object.material.color = rgb([0, 1, 2].map(c => hue.values[c * hue.records + i]));
  }
}

// Light at the vertices alone, from above and the side: for copies so many that each is small.
function plainMaterial(mark) {
  const material = new THREE.ShaderMaterial({
    glslVersion: "300 es",
    side: THREE.FrontSide,
    uniforms: { opacity: { value: mark.opacity } },
    vertexShader: `out vec3 shade;
      void main() {
        vec3 n = normalize(mat3(viewMatrix) * mat3(instanceMatrix) * normal), light = normalize(vec3(-0.35, 0.75, 0.55));
        float day = 0.5 + 0.5 * dot(n, light);
        shade = instanceColor * (0.32 + 0.78 * day * day);
        gl_Position = projectionMatrix * modelViewMatrix * instanceMatrix * vec4(position, 1.0);
      }`,
    fragmentShader:
      "precision mediump float; in vec3 shade; uniform float opacity; out vec4 colour; void main() { colour = vec4(pow(shade, vec3(1.0 / 2.2)), opacity); }",
  });
  if (mark.opacity < 1) Object.assign(material, { transparent: true, depthWrite: false });
  return material;
}

const MANY = 200; // copies

class CopiesThing {
  constructor(mark, arrays) {
    this.mark = mark;
    this.arrays = arrays;
    const count = arrays[mark.positions].columns / 3;
    const material = count > MANY ? plainMaterial(mark) : materialOf(mark);
    this.object = new THREE.InstancedMesh(
      surfaceOf(arrays[mark.vertices].values, arrays[mark.faces].values),
      material,
      count,
    );
    this.object.frustumCulled = false;
    this.object.castShadow = mark.shadow;
    this.object.receiveShadow = mark.shadow;
    this.object.renderOrder = mark.over ? 8 : 0;
    const shades = arrays[mark.colours].values;
    for (let k = 0; k < count; k++) this.object.setColorAt(k, rgb(shades.subarray(3 * k, 3 * k + 3)));
  }

  // Columns of x, y, z and so on, between two records, into the matrices: no objects are made on the way.
  update(moment, origin) {
    const { mark, arrays, object } = this;
    const P = arrays[mark.positions];
    const Q = arrays[mark.rotations];
    const S = arrays[mark.scales];
    const out = object.instanceMatrix.array;
    const turns = Q.columns / 4;
    const sizes = S.columns / 3;
    for (let k = 0, o = 0; k < object.count; k++, o += 16) {
      const q = 4 * (k < turns ? k : 0);
      const s = 3 * (k < sizes ? k : 0);
      let w = at(Q, q, moment);
      let x = at(Q, q + 1, moment);
      let y = at(Q, q + 2, moment);
      let z = at(Q, q + 3, moment);
      const f = 1 / Math.sqrt(w * w + x * x + y * y + z * z);
      w *= f;
      x *= f;
      y *= f;
      z *= f;
      const a = at(S, s, moment) || 1e-12;
      const b = at(S, s + 1, moment) || 1e-12;
      const c = at(S, s + 2, moment) || 1e-12;
      out[o] = a * (1 - 2 * (y * y + z * z));
      out[o + 1] = 2 * a * (x * y + w * z);
      out[o + 2] = 2 * a * (x * z - w * y);
      out[o + 3] = 0;
      out[o + 4] = 2 * b * (x * y - w * z);
      out[o + 5] = b * (1 - 2 * (x * x + z * z));
      out[o + 6] = 2 * b * (y * z + w * x);
      out[o + 7] = 0;
      out[o + 8] = 2 * c * (x * z + w * y);
      out[o + 9] = 2 * c * (y * z - w * x);
      out[o + 10] = c * (1 - 2 * (x * x + y * y));
      out[o + 11] = 0;
      out[o + 12] = at(P, 3 * k, moment) - origin[0];
      out[o + 13] = at(P, 3 * k + 1, moment) - origin[1];
      out[o + 14] = at(P, 3 * k + 2, moment) - origin[2];
      out[o + 15] = 1;
    }
    object.instanceMatrix.needsUpdate = true;
  }
}

class AxesThing {
  constructor(mark, arrays) {
    this.mark = mark;
    this.arrays = arrays;
    this.count = arrays[mark.positions].columns / 3;
    this.object = ribbon(3 * this.count);
    this.object.geometry.instanceCount = 3 * this.count;
    this.object.material.uniforms.width.value = 0.04 * mark.length;
    tinted(
      this.object,
      k =>
        [
          [214, 48, 49],
          [46, 160, 67],
          [38, 98, 216],
        ][k % 3],
      3 * this.count,
    );
  }

  update(moment, origin) {
    const { mark, arrays } = this;
    const { a, b } = this.object.geometry.attributes;
    for (let k = 0; k < this.count; k++) {
      const p = minus(vector(arrays[mark.positions], k, moment), origin);
      const q = rotation(arrays[mark.rotations], k, moment);
      [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
      ].forEach((e, j) => {
        a.setXYZ(3 * k + j, ...p);
        b.setXYZ(3 * k + j, ...add(p, rotated(q, times(mark.length, e))));
      });
    }
    a.needsUpdate = b.needsUpdate = true;
  }
}

class LabelThing {
  constructor(mark, arrays) {
    this.mark = mark;
    this.arrays = arrays;
    const canvas = document.createElement("canvas");
    const g = canvas.getContext("2d");
    const font = "600 44px system-ui, sans-serif";
    g.font = font;
    canvas.width = Math.ceil(g.measureText(mark.text).width) + 28;
    canvas.height = 64;
    g.font = font;
    g.fillStyle = "rgba(255,255,255,.88)";
    g.beginPath();
    g.roundRect(0, 0, canvas.width, 64, 14);
    g.fill();
    g.fillStyle = "#1c2733";
    g.textBaseline = "middle";
    g.fillText(mark.text, 14, 34);
    this.object = new THREE.Sprite(
      new THREE.SpriteMaterial({ map: new THREE.CanvasTexture(canvas), depthTest: false }),
    );
    this.object.material.map.colorSpace = THREE.SRGBColorSpace;
    this.object.renderOrder = 10;
    this.object.scale.set((mark.height * canvas.width) / 64, mark.height, 1);
    this.object.center.set(0.5, -0.35);
  }

  update(moment, origin) {
    this.object.position.set(...minus(vector(this.arrays[this.mark.positions], 0, moment), origin));
  }
}

// A surface that bends: each vertex moves with two neighbouring bones, by its weight for the second.
class SkinThing {
  constructor(mark, arrays) {
    this.mark = mark;
    this.arrays = arrays;
    this.rest = arrays[mark.vertices].values;
    this.weights = arrays[mark.weights].values;
    this.first = arrays[mark.first].values;
    const material = materialOf(mark);
    material.color = rgb(mark.colour);
    this.object = new THREE.Mesh(
      surfaceOf(new Float32Array(this.rest.length / 2), arrays[mark.faces].values),
      material,
    );
    this.object.castShadow = this.object.receiveShadow = mark.shadow;
    this.object.frustumCulled = false;
  }

  update(moment, origin) {
    const { mark, arrays, rest, weights, first } = this;
    const position = this.object.geometry.attributes.position;
    const bones = arrays[mark.positions].columns / 3;
    const poses = Array.from({ length: bones }, (_, k) => [
      minus(vector(arrays[mark.positions], k, moment), origin),
      rotation(arrays[mark.rotations], k, moment),
    ]);
    const base = poses[0][0];
    for (let i = 0; i < position.count; i++) {
      const w = weights[i];
      const k = first[i];
      const near = [rest[6 * i], rest[6 * i + 1], rest[6 * i + 2]];
      const far = [rest[6 * i + 3], rest[6 * i + 4], rest[6 * i + 5]];
      const p = add(poses[k][0], rotated(poses[k][1], near));
      const l = Math.min(k + 1, bones - 1);
      const q = w ? add(poses[l][0], rotated(poses[l][1], far)) : p;
      position.setXYZ(i, ...minus(add(times(1 - w, p), times(w, q)), base));
    }
    this.object.position.set(...base);
    position.needsUpdate = true;
    this.object.geometry.computeVertexNormals();
    if (mark.hue === undefined) return;
    const hue = arrays[mark.hue];
    const i = Math.min(moment.i, hue.records - 1);
    this.object.material.color = rgb([0, 1, 2].map(c => hue.values[c * hue.records + i]));
  }
}

// A plane that is not the ground of the backdrop.
class PlaneThing {
  constructor(mark, arrays) {
    this.mark = mark;
    this.arrays = arrays;
    this.object = new THREE.Mesh(
      new THREE.PlaneGeometry(mark.size, mark.size),
      new THREE.MeshStandardMaterial({
        color: 0xdfe5ec,
        roughness: 1,
        side: THREE.DoubleSide,
        transparent: true,
        opacity: 0.85,
      }),
    );
    this.object.receiveShadow = true;
  }

  update(moment, origin) {
    placed(
      this.object,
      minus(vector(this.arrays[this.mark.positions], 0, moment), origin),
      rotation(this.arrays[this.mark.rotations], 0, moment),
    );
  }
}

const THINGS = {
  Surface: SurfaceThing,
  Copies: CopiesThing,
  Lines: LinesThing,
  Path: PathThing,
  Arrows: ArrowsThing,
  Axes: AxesThing,
  Label: LabelThing,
  Skin: SkinThing,
  Plane: PlaneThing,
};
