// Lines, paths and arrows: ribbons that keep a width, and shafts with heads.

// Lines with a width in metres, and at least 1.2 pixels: a quad per segment, turned towards the camera.
function ribbon(count) {
  const geometry = new THREE.InstancedBufferGeometry();
  geometry.setAttribute(
    "position",
    new THREE.BufferAttribute(new Float32Array([0, -1, 0, 1, -1, 0, 0, 1, 0, 1, 1, 0]), 3),
  );
  geometry.setIndex([0, 1, 2, 2, 1, 3]);
  for (const name of ["a", "b", "tint"])
    geometry.setAttribute(
      name,
      new THREE.InstancedBufferAttribute(new Float32Array(3 * count), 3).setUsage(THREE.DynamicDrawUsage),
    );
  const material = new THREE.ShaderMaterial({
    glslVersion: "300 es",
    uniforms: { width: { value: 0.01 }, pixels: { value: { x: 1, y: 1 } } },
    side: THREE.DoubleSide,
    vertexShader: `in vec3 a, b, tint; uniform float width; uniform vec2 pixels; out vec3 shade;
      void main() {
        vec4 A = modelViewMatrix * vec4(a, 1.0), B = modelViewMatrix * vec4(b, 1.0);
        float near = -0.02 * max(length(A.xyz), length(B.xyz)) - 1e-9;
        if (A.z > near && B.z > near) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
        if (A.z > near) A = mix(A, B, (near - A.z) / (B.z - A.z)); else if (B.z > near) B = mix(B, A, (near - B.z) / (A.z - B.z));
        vec4 P = projectionMatrix * A, Q = projectionMatrix * B;
        vec2 along = (Q.xy / Q.w - P.xy / P.w) * pixels, side = length(along) > 1e-6 ? normalize(vec2(-along.y, along.x)) : vec2(0.0, 1.0);
        vec4 R = mix(P, Q, position.x);
        float reach = max(0.5 * width * projectionMatrix[1][1] * pixels.y / R.w, 1.2);
        R.xy += position.y * side * reach / pixels * R.w;
        gl_Position = R; shade = tint;
      }`,
    fragmentShader: "precision highp float; in vec3 shade; out vec4 colour; void main() { colour = vec4(shade, 1.0); }",
  });
  const mesh = new THREE.Mesh(geometry, material);
  mesh.frustumCulled = false;
  geometry.instanceCount = 0;
  return mesh;
}

function tinted(mesh, colourOf, count) {
  const tint = mesh.geometry.attributes.tint;
  for (let k = 0; k < count; k++) tint.setXYZ(k, ...colourOf(k).map(c => c / 255));
  tint.needsUpdate = true;
}

class LinesThing {
  constructor(mark, arrays) {
    this.mark = mark;
    this.arrays = arrays;
    this.shown = null;
    this.count = arrays[mark.points].columns / 6;
    this.object = ribbon(this.count);
    this.object.geometry.instanceCount = this.count;
    this.object.material.uniforms.width.value = mark.width;
  }

  update(moment, origin) {
    const { mark, arrays, count } = this;
    const points = arrays[mark.points];
    const colours = arrays[mark.colours];
    placed(
      this.object,
      minus(vector(arrays[mark.positions], 0, moment), origin),
      rotation(arrays[mark.rotations], 0, moment),
    );
    if (this.shown !== null && points.records === 1 && colours.records === 1) return;
    const { a, b } = this.object.geometry.attributes;
    const i = Math.min(moment.i, colours.records - 1);
    this.middle = this.middle ?? vector(points, 0, moment);
    for (let k = 0; k < count; k++) {
      a.setXYZ(k, ...vector(points, 2 * k, moment));
      b.setXYZ(k, ...vector(points, 2 * k + 1, moment));
    }
    a.needsUpdate = b.needsUpdate = true;
    tinted(
      this.object,
      k => [0, 1, 2].map(c => colours.values[(3 * (3 * k < colours.columns ? k : 0) + c) * colours.records + i]),
      count,
    );
    this.shown = moment;
  }
}

class PathThing {
  constructor(mark, arrays) {
    this.mark = mark;
    this.arrays = arrays;
    this.points = arrays[mark.points];
    this.moves = arrays[mark.positions].records > 1 || arrays[mark.rotations].records > 1;
    this.object = ribbon(Math.max(1, this.points.records - 1));
    this.object.material.uniforms.width.value = mark.width;
    tinted(this.object, () => mark.colour, this.points.records - 1);
  }

  // In a frame at rest the points themselves are taken relative to the origin.
  update(moment, origin) {
    const { mark, arrays, points } = this;
    const { a, b } = this.object.geometry.attributes;
    if (this.moves)
      placed(
        this.object,
        minus(vector(arrays[mark.positions], 0, moment), origin),
        rotation(arrays[mark.rotations], 0, moment),
      );
    const from = this.moves ? [0, 0, 0] : minus(origin, vector(arrays[mark.positions], 0, moment));
    const n = Math.min(moment.i + (moment.u > 0), points.records - 1);
    let before = minus(vector(points, 0, { i: 0, u: 0 }), from);
    for (let k = 0; k < n; k++) {
      const now = minus(vector(points, 0, k < moment.i ? { i: k + 1, u: 0 } : moment), from);
      a.setXYZ(k, ...before);
      b.setXYZ(k, ...now);
      before = now;
    }
    a.needsUpdate = b.needsUpdate = true;
    this.object.geometry.instanceCount = n;
  }
}

class ArrowsThing {
  constructor(mark, arrays) {
    this.mark = mark;
    this.arrays = arrays;
    const count = arrays[mark.starts].columns / 3;
    const w = mark.width;
    const material = materialOf({ opacity: 1, over: mark.over });
    material.color = rgb(mark.colour);
    const shaft = new THREE.CylinderGeometry(w / 2, w / 2, 1, 16).translate(0, 0.5, 0);
    const head = new THREE.ConeGeometry(1.4 * w, 4 * w, 20).translate(0, -2 * w, 0);
    this.object = new THREE.Group();
    this.meshes = [shaft, head].map(g => {
      const m = new THREE.InstancedMesh(g.rotateX(Math.PI / 2), material, count);
      m.frustumCulled = false;
      m.renderOrder = mark.over ? 9 : 0;
      this.object.add(m);
      return m;
    });
  }

  update(moment, origin) {
    const {
      mark,
      arrays,
      meshes: [shaft, head],
    } = this;
    const m = new THREE.Matrix4();
    const z = new THREE.Vector3(0, 0, 1);
    const o = new THREE.Quaternion();
    for (let k = 0; k < shaft.count; k++) {
      const v = vector(arrays[mark.vectors], k, moment);
      const l = size(v);
      const start = minus(vector(arrays[mark.starts], k, moment), origin);
      const w = mark.width;
      const small = Math.min(1, l / (6 * w));
      o.setFromUnitVectors(z, new THREE.Vector3(...unit(l ? v : [0, 0, 1])));
      shaft.setMatrixAt(
        k,
        m.compose(
          new THREE.Vector3(...start),
          o,
          new THREE.Vector3(small || 1e-12, small || 1e-12, Math.max(l - 3.9 * w * small, 1e-12)),
        ),
      );
      head.setMatrixAt(
        k,
        m.compose(new THREE.Vector3(...add(start, v)), o, new THREE.Vector3(1, 1, 1).multiplyScalar(small || 1e-12)),
      );
    }
    shaft.instanceMatrix.needsUpdate = head.instanceMatrix.needsUpdate = true;
  }
}
