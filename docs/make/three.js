// The parts of three.js that the player uses, as one file for the browser:
//   npm install three@0.187.0 esbuild
//   npx esbuild three.js --bundle --minify --format=iife --global-name=THREE --legal-comments=inline | gzip -9n > three.min.js.gz
export { WebGLRenderer, Scene, PerspectiveCamera, Mesh, InstancedMesh, BufferGeometry, InstancedBufferGeometry, BufferAttribute,
  InstancedBufferAttribute, MeshStandardMaterial, ShaderMaterial, ShadowMaterial, DirectionalLight, HemisphereLight,
  Color, Vector2, Vector3, Quaternion, Euler, Matrix3, Matrix4, AlwaysDepth, PlaneGeometry, CylinderGeometry, ConeGeometry, DataTexture, CanvasTexture, Group, Sprite,
  SpriteMaterial, DoubleSide, FrontSide, BackSide, RepeatWrapping, SRGBColorSpace, LinearSRGBColorSpace, NoToneMapping, PCFShadowMap, PCFSoftShadowMap, DynamicDrawUsage, REVISION,
  NoColorSpace, LinearFilter, LinearMipmapLinearFilter, NormalBlending } from "three";
