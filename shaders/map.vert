#version 330 core
// One triangle that covers the target; uv is 0…1 over it; the map's first row is at v = 0.
out vec2 uv;
void main() {
  vec2 corner = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
  uv = vec2(corner.x, corner.y);
  gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
}
