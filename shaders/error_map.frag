#version 330 core
// Shades a map of values (query rows down, head_dim across) into colours.
in vec2 uv;
out vec4 colour;

uniform sampler2D values;    // R32F, nearest
uniform sampler2D ready;     // R8, one texel a row of values: 0 where a row is not computed yet
uniform sampler2D ramp;      // colours by share of the range, lightness rising
uniform int logarithmic;     // 1: share of log10(low)…log10(high); 0: share of low…high
uniform float low;
uniform float high;
uniform vec4 window;         // part of the map that is shown: x, y, width, height, each 0…1
uniform vec4 nan_colour;
uniform vec4 inf_colour;
uniform vec4 not_yet_colour;

// A compiler may assume that no NaN occurs, so that isnan() is not to be relied on: the bits are.
bool is_nan(uint bits) { return (bits & 0x7FFFFFFFu) > 0x7F800000u; }
bool is_inf(uint bits) { return (bits & 0x7FFFFFFFu) == 0x7F800000u; }

void main() {
  vec2 at = window.xy + uv * window.zw;
  if (texture(ready, vec2(0.5, at.y)).r < 0.5) {
    // Diagonal lines: told apart from a computed zero without colour.
    float stripe = mod(gl_FragCoord.x + gl_FragCoord.y, 8.0) < 2.0 ? 1.35 : 1.0;
    colour = vec4(not_yet_colour.rgb * stripe, 1.0);
    return;
  }
  float value = texture(values, at).r;
  uint bits = floatBitsToUint(value);
  if (is_nan(bits)) {
    float check = mod(floor(gl_FragCoord.x / 3.0) + floor(gl_FragCoord.y / 3.0), 2.0);
    colour = vec4(nan_colour.rgb * mix(0.65, 1.0, check), 1.0);
    return;
  }
  if (is_inf(bits)) {
    float stripe = mod(gl_FragCoord.x - gl_FragCoord.y, 6.0) < 3.0 ? 1.0 : 0.0;
    colour = vec4(mix(nan_colour.rgb, inf_colour.rgb, stripe), 1.0);
    return;
  }
  float share = logarithmic == 1
      ? (value <= 0.0 ? 0.0 : (log(value) - log(low)) / (log(high) - log(low)))
      : (value - low) / (high - low);
  colour = vec4(texture(ramp, vec2(clamp(share, 0.0, 1.0) * (255.0 / 256.0) + 0.5 / 256.0, 0.5)).rgb, 1.0);
}
