#include "check/attention_map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "check/attention_simd.h"
#include "check/error_map.h"
#include "check/inputs.h"
#include "check/parallel.h"
#include "platform/process.h"

namespace attnscope::check {
namespace {

constexpr int64_t kRowsAtOnce = 32;  // per thread

struct Job {
  const Problem& problem;
  int64_t batch = 0, head = 0, row_begin = 0, rows = 0;
  Tile& tile;
  DecodedHead keys;
};

// Decodes only K, because the map shows weights.
DecodedHead decode_keys(const Problem& p, int64_t batch, int64_t head) {
  DecodedHead keys;
  keys.resize(p.seq_k, p.head_dim, false);
  const int64_t kv_head = head / (p.heads / p.kv_heads);
  std::vector<float> rows(static_cast<size_t>(kKeyBlock * p.head_dim));
  for (int64_t first = 0; first < p.seq_k; first += kKeyBlock) {
    const int64_t count = std::min(kKeyBlock, p.seq_k - first);
    const int64_t index = ((batch * p.kv_heads + kv_head) * p.seq_k + first) * p.head_dim;
    for (int64_t i = 0; i < count * p.head_dim; ++i)
      rows[static_cast<size_t>(i)] = input_element(p, Tensor::k, index + i);
    keys.put_keys(first / kKeyBlock, count, rows.data());
  }
  return keys;
}

void load_rows(const Job& job, int64_t row, int64_t end, QueryRows& rows) {
  const Problem& p = job.problem;
  for (int64_t r = 0; r < kRowTile; ++r) {
    rows.visible[static_cast<size_t>(r)] = row + r < end ? visible_keys(p, row + r) : 0;
    for (int64_t d = 0; row + r < end && d < p.head_dim; ++d) {
      const int64_t index = ((job.batch * p.heads + job.head) * p.seq_q + row + r) * p.head_dim + d;
      rows.q[static_cast<size_t>(r * p.head_dim + d)] = input_element(p, Tensor::q, index);
    }
  }
}

// Writes one row's weights, divided by their sum, into its texels. A NaN stays, because every comparison with it is
// false.
void take_row(const double* weights, int64_t visible, int64_t columns, std::span<float> texels) {
  double sum = 0;
  for (int64_t key = 0; key < visible; ++key) sum += weights[key];
  const auto width = static_cast<int64_t>(texels.size());
  for (int64_t x = 0; x < width; ++x) {
    float& texel = texels[static_cast<size_t>(x)];
    const int64_t end = std::min((x + 1) * columns / width, visible);
    for (int64_t key = x * columns / width; key < end; ++key) {
      const auto share = static_cast<float>(weights[key] / sum);
      if (share > texel || std::isnan(share)) texel = share;
    }
  }
}

struct Space {
  QueryRows rows;
  Scratch scratch;
};

// Computes the texel rows from y to y_end.
void make_texels(Job& job, Space& space, int64_t y, int64_t y_end) {
  const Problem& p = job.problem;
  const int64_t end = y_end * job.rows / job.tile.height;
  for (int64_t row = y * job.rows / job.tile.height; row < end; row += kRowTile) {
    load_rows(job, job.row_begin + row, job.row_begin + end, space.rows);
    weigh_exact(job.keys, space.rows, p.effective_scale(), space.scratch);
    for (int64_t r = 0; r < kRowTile && row + r < end; ++r) {
      while (row + r >= (y + 1) * job.rows / job.tile.height) ++y;
      take_row(space.scratch.scores.data() + r * job.keys.padded_keys, space.rows.visible[static_cast<size_t>(r)],
               p.seq_k,
               std::span(job.tile.values)
                   .subspan(static_cast<size_t>(y * job.tile.width), static_cast<size_t>(job.tile.width)));
    }
  }
}

bool work_on(Job& job, size_t threads) {
  const int64_t height = job.tile.height, step = std::max<int64_t>(1, kRowsAtOnce * height / job.rows);
  std::vector<Space> spaces(threads);
  return in_parallel(threads, static_cast<size_t>((height + step - 1) / step), [&](size_t thread, size_t item) {
    Space& space = spaces[thread];
    if (space.rows.visible.empty()) {  // the thread's first item
      space.rows.resize(kRowTile, job.problem.head_dim);
      if (thread > 0) platform::lower_thread_priority();
    }
    const int64_t y = static_cast<int64_t>(item) * step;
    make_texels(job, space, y, std::min(y + step, height));
  });
}

}  // namespace

Result<Tile> make_attention_tile(const ViewRequest& request, const Problem& problem, int threads) {
  if (auto valid = check_view(request, problem); !valid) return fail(valid.error());
  const int64_t row_end = request.row_end == 0 ? problem.seq_q : request.row_end, rows = row_end - request.row_begin;
  const int64_t width = request.width == 0 ? problem.seq_k : std::min<int64_t>(request.width, problem.seq_k);
  const int64_t height = request.height == 0 ? rows : std::min<int64_t>(request.height, rows);
  if (auto fits = check_texels(request, width, height); !fits) return fail(fits.error());
  Tile tile = blank_tile(request, width, height, 0.0f, true);
  Job job{problem,
          request.batch,
          request.head,
          request.row_begin,
          rows,
          tile,
          decode_keys(problem, request.batch, request.head)};
  if (!work_on(job, threads > 0 ? static_cast<size_t>(threads) : std::max(1u, std::thread::hardware_concurrency())))
    return fail(Stage::check, "There is not enough memory for this attention matrix.", "Look at fewer rows or keys.");
  return tile;
}

}  // namespace attnscope::check
