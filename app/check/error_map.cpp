#include "check/error_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "check/float_formats.h"
#include "check/guarded_buffer.h"

namespace attnscope::check {
namespace {

constexpr int64_t kMaxTexels = int64_t{1} << 20;  // 4 MB of floats

float reference_value(const Reference& reference, int64_t index) {
  switch (reference.class_of(index)) {
    case ElementClass::nan:
      return std::numeric_limits<float>::quiet_NaN();
    case ElementClass::plus_inf:
      return std::numeric_limits<float>::infinity();
    case ElementClass::minus_inf:
      return -std::numeric_limits<float>::infinity();
    case ElementClass::finite:
      break;
  }
  return static_cast<float>(reference.values[static_cast<size_t>(index)]);
}

float error_of(const Reference& reference, int64_t index, float got) {
  const float expected = reference_value(reference, index);
  if (std::isfinite(expected) && std::isfinite(got))
    return static_cast<float>(std::abs(static_cast<double>(got) - reference.values[static_cast<size_t>(index)]));
  const bool same = std::isnan(expected) ? std::isnan(got) : expected == got;
  return same ? 0.0f : std::numeric_limits<float>::quiet_NaN();
}

// The value to keep when two elements share a texel.
float graver(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<float>::quiet_NaN();
  return std::abs(b) > std::abs(a) ? b : a;
}

// One query row's contribution to a map: its values, and whether it exists.
struct RowView {
  const Problem& problem;
  std::span<const std::byte> output;
  const Reference* reference;
  MapKind map;

  bool has_value(int64_t row) const { return map == MapKind::output || (reference && reference->find_row(row) >= 0); }
  bool computed(int64_t row) const {
    return map == MapKind::reference || !is_poison_row(problem.dtype, output.data(), offset(row), problem.head_dim);
  }
  int64_t offset(int64_t row) const {
    return element_offset(problem, problem.heads, problem.seq_q, row / problem.seq_q / problem.heads,
                          row / problem.seq_q % problem.heads, row % problem.seq_q, 0);
  }
  float value(int64_t row, int64_t d) const {
    if (map == MapKind::reference) return reference_value(*reference, reference->find_row(row) * problem.head_dim + d);
    const float got = load_element(problem.dtype, output.data(), offset(row) + d);
    if (map == MapKind::output) return got;
    return error_of(*reference, reference->find_row(row) * problem.head_dim + d, got);
  }
};

// Fills one texel row from query rows [begin, end). Returns whether it is ready.
bool fill_texel_row(const RowView& view, int64_t begin, int64_t end, std::span<float> texels) {
  const int64_t columns = view.problem.head_dim, width = static_cast<int64_t>(texels.size());
  bool any = false;
  for (int64_t row = begin; row < end; ++row) {
    if (!view.has_value(row)) continue;
    if (!view.computed(row)) return false;
    for (int64_t x = 0; x < width; ++x) {
      const int64_t last = (x + 1) * columns / width;
      for (int64_t d = x * columns / width; d < last; ++d) {
        float& texel = texels[static_cast<size_t>(x)];
        const bool first = !any && d == x * columns / width;
        texel = first ? view.value(row, d) : graver(texel, view.value(row, d));
      }
    }
    any = true;
  }
  return any;
}

}  // namespace

Result<void> check_view(const ViewRequest& r, const Problem& p) {
  auto refuse = [](std::string message) {
    return fail(Stage::input, std::move(message), "Ask for a map inside the problem.");
  };
  const int64_t row_end = r.row_end == 0 ? p.seq_q : r.row_end;
  if (r.batch < 0 || r.batch >= p.batch) return refuse(fmt::format("view: batch {} of {}", r.batch, p.batch));
  if (r.head < 0 || r.head >= p.heads) return refuse(fmt::format("view: head {} of {}", r.head, p.heads));
  if (r.row_begin < 0 || r.row_begin >= row_end || row_end > p.seq_q)
    return refuse(fmt::format("view: rows {} to {} of {}", r.row_begin, row_end, p.seq_q));
  if (r.width < 0 || r.height < 0) return refuse(fmt::format("view: {} × {} texels", r.width, r.height));
  return {};
}

Result<void> check_texels(const ViewRequest& request, int64_t width, int64_t height) {
  const int64_t most = request.target ? request.target->bytes / int64_t{sizeof(float)} : kMaxTexels;
  if (width * height <= most) return {};
  return fail(Stage::input, fmt::format("view: {} × {} texels are over {}", width, height, most),
              "Ask for a lower resolution.");
}

Tile blank_tile(const ViewRequest& request, int64_t width, int64_t height, float value, bool ready) {
  Tile tile;
  tile.request = request;
  tile.width = static_cast<int>(width);
  tile.height = static_cast<int>(height);
  tile.values.assign(static_cast<size_t>(width * height), value);
  tile.ready_rows.assign(static_cast<size_t>(height), ready ? 1 : 0);
  return tile;
}

Result<Tile> make_tile(const ViewRequest& request, const Problem& problem, std::span<const std::byte> output,
                       const Reference* reference) {
  const int64_t row_end = request.row_end == 0 ? problem.seq_q : request.row_end;
  if (auto valid = check_view(request, problem); !valid) return fail(valid.error());
  if (request.map != MapKind::reference &&
      output.size() != static_cast<size_t>(problem.q_elements()) * bytes_of(problem.dtype))
    return fail(Stage::internal, "the size of the output is not the problem's", "Report this with the problem.");
  const int64_t rows = row_end - request.row_begin;
  const int64_t width = request.width == 0 ? problem.head_dim : std::min<int64_t>(request.width, problem.head_dim);
  const int64_t height = request.height == 0 ? rows : std::min<int64_t>(request.height, rows);
  if (auto fits = check_texels(request, width, height); !fits) return fail(fits.error());
  Tile tile = blank_tile(request, width, height, Tile::kNotYet, false);
  const RowView view{problem, output, reference, request.map};
  const int64_t head_start = (request.batch * problem.heads + request.head) * problem.seq_q + request.row_begin;
  for (int64_t y = 0; y < height; ++y) {
    const std::span<float> texels(tile.values.data() + y * width, static_cast<size_t>(width));
    const bool ready =
        fill_texel_row(view, head_start + y * rows / height, head_start + (y + 1) * rows / height, texels);
    tile.ready_rows[static_cast<size_t>(y)] = ready;
    if (!ready) std::fill(texels.begin(), texels.end(), Tile::kNotYet);
  }
  return tile;
}

}  // namespace attnscope::check
