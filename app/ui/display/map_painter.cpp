#include "ui/display/map_painter.h"

#include <glad/glad.h>
#include <imgui.h>

#include <string>
#include <vector>

#include "platform/atomic_file.h"

namespace attnscope::ui {
namespace {

constexpr uint64_t kMaxShaderBytes = 1 << 20;

Result<GLuint> compiled(GLenum kind, const std::filesystem::path& file) {
  const Result<std::string> source = platform::read_file(file, kMaxShaderBytes);
  if (!source) return fail(source.error());
  const GLuint shader = glCreateShader(kind);
  const GLchar* text = source->data();
  const GLint length = static_cast<GLint>(source->size());
  glShaderSource(shader, 1, &text, &length);
  glCompileShader(shader);
  GLint good = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
  if (good) return shader;
  std::string log(4096, '\0');
  GLsizei written = 0;
  glGetShaderInfoLog(shader, static_cast<GLsizei>(log.size()), &written, log.data());
  log.resize(static_cast<size_t>(written));
  glDeleteShader(shader);
  return fail(Stage::internal, file.string() + ": the OpenGL driver refuses this shader: " + log,
              "Maps stay empty; everything else works. Please report it with the driver's name.");
}

Result<GLuint> linked(GLuint vertex, GLuint fragment) {
  const GLuint program = glCreateProgram();
  glAttachShader(program, vertex);
  glAttachShader(program, fragment);
  glLinkProgram(program);
  glDeleteShader(vertex);
  glDeleteShader(fragment);
  GLint good = 0;
  glGetProgramiv(program, GL_LINK_STATUS, &good);
  if (good) return program;
  glDeleteProgram(program);
  return fail(Stage::internal, "The OpenGL driver cannot link the map's shaders",
              "Maps stay empty; everything else works.");
}

GLuint nearest_texture() {
  GLuint texture = 0;
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  return texture;
}

void set_colour(GLuint program, const char* name, uint32_t colour) {
  const ImVec4 c = ImGui::ColorConvertU32ToFloat4(colour);
  glUniform4f(glGetUniformLocation(program, name), c.x, c.y, c.z, c.w);
}

// Saves and restores all OpenGL state that painting changes and the window's drawing relies on.
class KeepGlState {
 public:
  KeepGlState() {
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &framebuffer_);
    glGetIntegerv(GL_VIEWPORT, viewport_);
    glGetIntegerv(GL_CURRENT_PROGRAM, &program_);
    glGetIntegerv(GL_VERTEX_ARRAY_BINDING, &vertex_array_);
    glGetIntegerv(GL_ACTIVE_TEXTURE, &unit_);
    blend_ = glIsEnabled(GL_BLEND);
    scissor_ = glIsEnabled(GL_SCISSOR_TEST);
  }
  ~KeepGlState() {
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, static_cast<GLuint>(framebuffer_));
    glViewport(viewport_[0], viewport_[1], viewport_[2], viewport_[3]);
    glUseProgram(static_cast<GLuint>(program_));
    glBindVertexArray(static_cast<GLuint>(vertex_array_));
    glActiveTexture(static_cast<GLenum>(unit_));
    if (blend_) glEnable(GL_BLEND);
    if (scissor_) glEnable(GL_SCISSOR_TEST);
  }
  KeepGlState(const KeepGlState&) = delete;
  KeepGlState& operator=(const KeepGlState&) = delete;

 private:
  GLint framebuffer_ = 0, viewport_[4] = {}, program_ = 0, vertex_array_ = 0, unit_ = GL_TEXTURE0;
  GLboolean blend_ = 0, scissor_ = 0;
};

}  // namespace

Result<std::unique_ptr<MapPainter>> MapPainter::create(const std::filesystem::path& shaders) {
  const Result<GLuint> vertex = compiled(GL_VERTEX_SHADER, shaders / "map.vert");
  if (!vertex) return fail(vertex.error());
  const Result<GLuint> fragment = compiled(GL_FRAGMENT_SHADER, shaders / "error_map.frag");
  if (!fragment) {
    glDeleteShader(*vertex);
    return fail(fragment.error());
  }
  const Result<GLuint> program = linked(*vertex, *fragment);
  if (!program) return fail(program.error());
  std::unique_ptr<MapPainter> painter(new MapPainter());
  painter->program_ = *program;
  glGenVertexArrays(1, &painter->vertex_array_);
  glGenFramebuffers(1, &painter->framebuffer_);
  painter->values_ = nearest_texture();
  painter->ready_ = nearest_texture();
  return painter;
}

MapPainter::~MapPainter() {
  glDeleteProgram(program_);
  glDeleteVertexArrays(1, &vertex_array_);
  glDeleteFramebuffers(1, &framebuffer_);
  const GLuint textures[] = {target_, values_, shared_values_, ready_, ramps_[0], ramps_[1]};
  glDeleteTextures(6, textures);
}

uint32_t MapPainter::bar_texture(Ramp ramp) {
  GLuint& texture = ramps_[ramp == Ramp::rising ? 0 : 1];
  if (texture == 0) {
    texture = nearest_texture();
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 256, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, colour_ramp(ramp).data());
  }
  return texture;
}

void MapPainter::upload(const Tile& tile) {
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glBindTexture(GL_TEXTURE_2D, values_);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, tile.width, tile.height, 0, GL_RED, GL_FLOAT, tile.values.data());
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  source_ = values_;
  width_ = tile.width;
  height_ = tile.height;
  upload_ready(tile);
}

void MapPainter::upload_ready(const Tile& tile) {
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  std::vector<uint8_t> ready(static_cast<size_t>(tile.height), 255);
  for (size_t row = 0; row < ready.size() && row < tile.ready_rows.size(); ++row)
    ready[row] = tile.ready_rows[row] ? 255 : 0;
  glBindTexture(GL_TEXTURE_2D, ready_);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, 1, tile.height, 0, GL_RED, GL_UNSIGNED_BYTE, ready.data());
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
}

Result<void> MapPainter::take(PixelPort& port, const Tile& tile, uint64_t version) {
  const KeepGlState keep;
  glActiveTexture(GL_TEXTURE0);
  if (shared_values_ == 0) shared_values_ = nearest_texture();
  if (tile.width != shared_width_ || tile.height != shared_height_) {
    glBindTexture(GL_TEXTURE_2D, shared_values_);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, tile.width, tile.height, 0, GL_RED, GL_FLOAT, nullptr);
    shared_width_ = shared_height_ = 0;
    if (auto attached = port.attach(shared_values_); !attached) return attached;
    shared_width_ = tile.width;
    shared_height_ = tile.height;
  }
  if (auto copied = port.copy(tile.request.target->ticket, tile.width, tile.height); !copied) return copied;
  source_ = shared_values_;
  width_ = tile.width;
  height_ = tile.height;
  upload_ready(tile);
  uploaded_version_ = version;
  return {};
}

void MapPainter::read_values(int x, int y, int width, int height, float* out) {
  const KeepGlState keep;
  GLint reading = 0;
  glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &reading);
  GLuint framebuffer = 0;
  glGenFramebuffers(1, &framebuffer);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
  glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, source_, 0);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(x, y, width, height, GL_RED, GL_FLOAT, out);
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, static_cast<GLuint>(reading));
  glDeleteFramebuffers(1, &framebuffer);
}

float MapPainter::value_at(int x, int y) {
  float value = 0;
  if (source_ != 0 && x >= 0 && y >= 0 && x < width_ && y < height_) read_values(x, y, 1, 1, &value);
  return value;
}

std::vector<float> MapPainter::values() {
  std::vector<float> all(static_cast<size_t>(width_) * static_cast<size_t>(height_));
  if (source_ != 0 && !all.empty()) read_values(0, 0, width_, height_, all.data());
  return all;
}

void MapPainter::ensure_target(int width, int height) {
  if (width == target_width_ && height == target_height_) return;
  target_width_ = width;
  target_height_ = height;
  if (target_ == 0) target_ = nearest_texture();
  glBindTexture(GL_TEXTURE_2D, target_);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer_);
  glFramebufferTexture2D(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target_, 0);
  painted_version_ = 0;
}

uint32_t MapPainter::paint(const Tile& tile, uint64_t version, const MapLook& look, int width, int height) {
  if (tile.width <= 0 || tile.height <= 0 || width <= 0 || height <= 0) return 0;
  if (!tile.in_target && tile.values.size() < static_cast<size_t>(tile.width) * static_cast<size_t>(tile.height))
    return 0;
  const KeepGlState keep;
  glActiveTexture(GL_TEXTURE0);
  ensure_target(width, height);
  if (version == painted_version_ && look == painted_look_) return target_;
  if (version != uploaded_version_ && !tile.in_target) upload(tile);
  painted_version_ = uploaded_version_ = version;
  painted_look_ = look;
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer_);
  glViewport(0, 0, width, height);
  glDisable(GL_BLEND);
  glDisable(GL_SCISSOR_TEST);
  glUseProgram(program_);
  const GLuint textures[3] = {source_, ready_, bar_texture(look.ramp)};
  const char* const names[3] = {"values", "ready", "ramp"};
  for (int unit = 0; unit < 3; ++unit) {
    glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
    glBindTexture(GL_TEXTURE_2D, textures[unit]);
    glUniform1i(glGetUniformLocation(program_, names[unit]), unit);
  }
  glUniform1i(glGetUniformLocation(program_, "logarithmic"), look.logarithmic ? 1 : 0);
  glUniform1f(glGetUniformLocation(program_, "low"), look.low);
  glUniform1f(glGetUniformLocation(program_, "high"), look.high);
  glUniform4f(glGetUniformLocation(program_, "window"), look.x, look.y, look.width, look.height);
  set_colour(program_, "nan_colour", look.nan);
  set_colour(program_, "inf_colour", look.inf);
  set_colour(program_, "not_yet_colour", look.not_yet);
  glBindVertexArray(vertex_array_);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  return target_;
}

}  // namespace attnscope::ui
