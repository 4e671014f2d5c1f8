#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>

#include "plain_kernels.h"

namespace attnscope::kernel_tests {
namespace {

using Sizes = std::map<std::string, int64_t>;
using Values = std::vector<double>;

size_t size(const Sizes& sizes, const char* name) { return static_cast<size_t>(sizes.at(name)); }
int whole(double value) { return static_cast<int>(value); }

Buffers stencil_1d(const Buffers& in, const Sizes&) {
  const Values& x = in.at("in");
  Values y(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    for (size_t k = i < 3 ? 0 : i - 3; k <= i + 3 && k < x.size(); ++k) y[i] += x[k];
  return {{"out", y}};
}

Buffers stencil_2d(const Buffers& in, const Sizes& sizes) {
  const Values& x = in.at("in");
  const auto height = static_cast<int>(size(sizes, "height")), width = static_cast<int>(size(sizes, "width"));
  Values y;
  for (int r = 0; r < height; ++r)
    for (int c = 0; c < width; ++c) {
      double sum = 0;
      for (int k = 0; k < 9; ++k) {
        const double weight = (k % 3 == 1 ? 2 : 1) * (k / 3 == 1 ? 2 : 1);
        const int rr = std::clamp(r + k / 3 - 1, 0, height - 1), cc = std::clamp(c + k % 3 - 1, 0, width - 1);
        sum += weight * x[static_cast<size_t>(rr * width + cc)];
      }
      y.push_back(sum / 16);
    }
  return {{"out", y}};
}

Buffers mandelbrot(const Buffers&, const Sizes& sizes) {
  Values steps;
  const size_t height = size(sizes, "height"), width = size(sizes, "width");
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x) {
      const double re = -2.0 + 3.0 * double(x) / double(width), im = -1.5 + 3.0 * double(y) / double(height);
      double a = 0, b = 0;
      int n = 0;
      for (; n < 50 && a * a + b * b <= 4.0; ++n) {
        const double next = a * a - b * b + re;
        b = a * b + b * a + im;
        a = next;
      }
      steps.push_back(n);
    }
  return {{"iterations", steps}};
}

Buffers xorshift(const Buffers&, const Sizes& sizes) {
  Values out;
  for (uint64_t i = 1; i <= size(sizes, "n"); ++i) {
    uint64_t state = 0x9E3779B97F4A7C15ull * i, value = 0;
    for (size_t round = 0; round < size(sizes, "rounds"); ++round) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      value = state * 0x2545F4914F6CDD1Dull;
    }
    out.push_back(double(value >> 32));
  }
  return {{"out", out}};
}

// Computed bit by bit, without a table.
Buffers crc32(const Buffers& in, const Sizes& sizes) {
  const Values& text = in.at("text");
  const size_t length = size(sizes, "length");
  Values crcs;
  for (size_t row = 0; row < size(sizes, "rows"); ++row) {
    uint32_t crc = ~0u;
    for (size_t i = 0; i < length; ++i) {
      crc ^= static_cast<uint32_t>(text[row * length + i]);
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0u);
    }
    crcs.push_back(~crc);
  }
  return {{"crc", crcs}};
}

Buffers murmur(const Buffers& in, const Sizes&) {
  Values hashes;
  for (const double key : in.at("keys")) {
    uint32_t h = 42, k = static_cast<uint32_t>(key) * 0xcc9e2d51u;
    h = std::rotl(h ^ std::rotl(k, 15) * 0x1b873593u, 13) * 5 + 0xe6546b64u;
    h ^= 4;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    hashes.push_back(h ^ (h >> 16));
  }
  return {{"hashes", hashes}};
}

Buffers nbody(const Buffers& in, const Sizes&) {
  const Values& body = in.at("body");
  Values force(body.size());
  for (size_t i = 0; i < body.size(); i += 4)
    for (size_t j = 0; j < body.size(); j += 4) {
      double d[3], square = 0.01;
      for (size_t k = 0; k < 3; ++k) {
        d[k] = body[j + k] - body[i + k];
        square += d[k] * d[k];
      }
      for (size_t k = 0; k < 3; ++k) force[i + k] += d[k] * body[j + 3] / (square * std::sqrt(square));
    }
  return {{"force", force}};
}

// The discrete Fourier transform by its definition.
Buffers fft(const Buffers& in, const Sizes&) {
  const Values& x = in.at("in");
  Values y(x.size());
  for (size_t row = 0; row < x.size(); row += 128)
    for (size_t k = 0; k < 64; ++k) {
      std::complex<double> sum = 0;
      for (size_t n = 0; n < 64; ++n)
        sum += std::complex<double>(x[row + 2 * n], x[row + 2 * n + 1]) *
               std::polar(1.0, -2 * std::numbers::pi * double(k * n % 64) / 64);
      y[row + 2 * k] = sum.real();
      y[row + 2 * k + 1] = sum.imag();
    }
  return {{"out", y}};
}

Buffers rope(const Buffers& in, const Sizes& sizes) {
  const Values& x = in.at("x");
  const size_t dim = size(sizes, "dim");
  Values y(x.size());
  for (size_t p = 0; p < size(sizes, "positions"); ++p)
    for (size_t i = 0; i < dim / 2; ++i) {
      const std::complex<double> turned = std::complex<double>(x[p * dim + i], x[p * dim + i + dim / 2]) *
                                          std::polar(1.0, double(p) * std::pow(1e4, -2.0 * double(i) / double(dim)));
      y[p * dim + i] = turned.real();
      y[p * dim + i + dim / 2] = turned.imag();
    }
  return {{"y", y}};
}

Buffers top_k(const Buffers& in, const Sizes& sizes) {
  const Values& x = in.at("x");
  const auto cols = static_cast<ptrdiff_t>(size(sizes, "cols"));
  Values best;
  for (auto row = x.begin(); row != x.end(); row += cols) {
    Values sorted(row, row + cols);
    std::ranges::sort(sorted, std::greater<>());
    best.insert(best.end(), sorted.begin(), sorted.begin() + 4);
  }
  return {{"best", best}};
}

Buffers recursion(const Buffers& in, const Sizes&) {
  const double fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34};
  Values out;
  for (size_t i = 0; i < in.at("in").size(); ++i) {
    const int x = whole(in.at("in")[i]), n = static_cast<int>(i % 3);
    const int ackermann = x % 3 == 0 ? n + 1 : x % 3 == 1 ? n + 2 : 2 * n + 3;
    out.push_back(fibonacci[x] + ackermann);
  }
  return {{"out", out}};
}

Buffers switch_table(const Buffers& in, const Sizes&) {
  Values y;
  for (size_t i = 0; i < in.at("x").size(); ++i) {
    const int v = whole(in.at("x")[i]), op = whole(in.at("op")[i]);
    const int results[] = {v + 7, v * 3, -v, v ^ 0x55, v * 4, v >> 1, v * v, -v - 1, v % 17, v / 5 - 1, v - 1, v - 1};
    y.push_back(results[op]);
  }
  return {{"y", y}};
}

Buffers division_64(const Buffers& in, const Sizes&) {
  Values q, r;
  for (size_t i = 0; i < in.at("a").size(); ++i) {
    const auto a = static_cast<int64_t>(in.at("a")[i]), b = static_cast<int64_t>(in.at("b")[i]);
    q.push_back(double(a / b));
    r.push_back(double(a % (b + 1)));
  }
  return {{"q", q}, {"r", r}};
}

Buffers atomics_mix(const Buffers& in, const Sizes&) {
  const Values& x = in.at("x");
  int sum = 0, top = 0, low = 0, ors = 0, xors = 0, thirds = 0;  // the words start as zeros
  for (const double value : x) {
    const int v = whole(value);
    sum += v, top = std::max(top, v), low = std::min(low, v), ors |= v, xors ^= v, thirds += v % 3;
  }
  const auto n = static_cast<int>(x.size());
  return {{"sums",
           {double(sum), double(top), double(low), double(ors), double(xors), double(thirds), double(n % 100),
            double(-n)}}};
}

Buffers reverse_rows(const Buffers& in, const Sizes& sizes) {
  Values out = in.at("in");
  const auto length = static_cast<ptrdiff_t>(size(sizes, "length"));
  for (auto row = out.begin(); row != out.end(); row += length) std::reverse(row, row + length);
  return {{"out", out}};
}

// Computed by cofactors.
Buffers inverse_3x3(const Buffers& in, const Sizes&) {
  Values out;
  for (size_t first = 0; first < in.at("in").size(); first += 9) {
    double a[3][3];
    for (size_t k = 0; k < 9; ++k) a[k / 3][k % 3] = in.at("in")[first + k] + (k % 4 == 0 ? 8 : 0);
    const auto minor = [&](size_t r, size_t c) {
      return a[(r + 1) % 3][(c + 1) % 3] * a[(r + 2) % 3][(c + 2) % 3] -
             a[(r + 1) % 3][(c + 2) % 3] * a[(r + 2) % 3][(c + 1) % 3];
    };
    const double determinant = a[0][0] * minor(0, 0) + a[0][1] * minor(0, 1) + a[0][2] * minor(0, 2);
    for (size_t k = 0; k < 9; ++k) out.push_back(minor(k % 3, k / 3) / determinant);
  }
  return {{"out", out}};
}

Buffers ballot_compact(const Buffers& in, const Sizes&) {
  const Values& x = in.at("in");
  Values out(x.size()), counts;
  for (size_t warp = 0; warp < x.size(); warp += 32) {
    size_t kept = 0;
    for (size_t i = warp; i < warp + 32; ++i)
      if (whole(x[i]) % 2 == 0) out[warp + kept++] = x[i];
    counts.push_back(double(kept));
  }
  return {{"out", out}, {"counts", counts}};
}

// Warps come in any order; in the emulator, in ascending order. Elements that were not written are zero.
Buffers coalesced_group(const Buffers& in, const Sizes&) {
  Values kept;
  for (const double value : in.at("x"))
    if (value > 50) kept.push_back(value);
  const double count = double(kept.size());
  kept.resize(in.at("x").size());
  return {{"kept", kept}, {"count", {count}}};
}

Buffers collatz(const Buffers&, const Sizes& sizes) {
  Values steps;
  for (size_t i = 1; i <= size(sizes, "n"); ++i) {
    int count = 0;
    for (size_t v = i; v != 1; ++count) v = v % 2 ? 3 * v + 1 : v / 2;
    steps.push_back(count);
  }
  return {{"steps", steps}};
}

Buffers upper_case(const Buffers& in, const Sizes&) {
  Values out;
  for (const double c : in.at("in")) out.push_back(c >= 97 && c <= 122 ? c - 32 : c);
  return {{"out", out}};
}

Buffers monte_carlo(const Buffers&, const Sizes& sizes) {
  Values hits;
  for (uint32_t thread = 0; thread < 64; ++thread) {
    uint32_t state = thread * 747796405u + 2891336453u;
    const auto draw = [&] {
      state = state * 1664525u + 1013904223u;
      return float(state >> 8) * 0x1p-24f;
    };
    int inside = 0;
    for (size_t t = 0; t < size(sizes, "trials"); ++t) {
      const float x = draw(), y = draw();
      const volatile float xx = x * x, yy = y * y;  // each rounded, nothing fused
      inside += xx + yy < 1.f;
    }
    hits.push_back(inside);
  }
  return {{"hits", hits}};
}

Buffers game_of_life(const Buffers& in, const Sizes& sizes) {
  const Values& now = in.at("now");
  const size_t height = size(sizes, "height"), width = size(sizes, "width");
  Values next;
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x) {
      double around = 0;
      for (size_t k = 0; k < 9; ++k)
        if (k != 4) around += now[(y + k / 3 + height - 1) % height * width + (x + k % 3 + width - 1) % width];
      next.push_back(around == 3 || (around == 2 && now[y * width + x] == 1));
    }
  return {{"next", next}};
}

Buffers bit_tricks(const Buffers& in, const Sizes&) {
  Values y;
  for (const double value : in.at("x")) {
    const auto v = static_cast<uint32_t>(value);
    const int lowest = v == 0 ? 0 : std::countr_zero(v) + 1;
    y.push_back(double(std::popcount(v) + (std::countl_zero(v) << 8) + (lowest << 16)));
    uint32_t reversed = 0;
    for (int bit = 0; bit < 32; ++bit) reversed |= (v >> bit & 1u) << (31 - bit);
    y.push_back(reversed);
    const uint64_t bytes = uint64_t{~v} << 32 | v;  // selectors 3, 1, 5, 2 from the lowest
    const auto byte = [&](int which) { return static_cast<uint32_t>(bytes >> (8 * which) & 0xff); };
    y.push_back(byte(3) | byte(1) << 8 | byte(5) << 16 | byte(2) << 24);
    const auto high = static_cast<uint32_t>(uint64_t{v} * 0x9E3779B9u >> 32);
    y.push_back(high + static_cast<uint32_t>(std::abs(int64_t{v >> 1} - 12345)) + 7u);
  }
  return {{"y", y}};
}

Buffers warp_votes(const Buffers& in, const Sizes&) {
  const Values& x = in.at("x");
  Values y;
  for (size_t i = 0; i < x.size(); ++i) {
    const auto warp = x.begin() + static_cast<ptrdiff_t>(i / 32 * 32);
    const bool seven = std::find(warp, warp + 32, 7) != warp + 32;
    y.push_back(double(std::count(warp, warp + 32, x[i])) + 100 + (seven ? 1000 : 0) +
                10000 * *std::min_element(warp, warp + 32));
  }
  return {{"y", y}};
}

}  // namespace

const std::map<std::string, Independent>& results_of_algorithms() {
  static const std::map<std::string, Independent> all{{"stencil_1d", {stencil_1d}},
                                                      {"stencil_2d", {stencil_2d, 1e-5}},
                                                      {"mandelbrot", {mandelbrot}},
                                                      {"xorshift", {xorshift}},
                                                      {"crc32", {crc32}},
                                                      {"murmur", {murmur}},
                                                      {"nbody", {nbody, 1e-3}},
                                                      {"fft_shared", {fft, 1e-4}},
                                                      {"rope", {rope, 1e-5}},
                                                      {"top_k", {top_k}},
                                                      {"recursion", {recursion}},
                                                      {"switch_table", {switch_table}},
                                                      {"division_64", {division_64}},
                                                      {"atomics_mix", {atomics_mix}},
                                                      {"dynamic_shared", {reverse_rows}},
                                                      {"inverse_3x3", {inverse_3x3, 1e-13}},
                                                      {"ballot_compact", {ballot_compact}},
                                                      {"coalesced_group", {coalesced_group}},
                                                      {"collatz", {collatz}},
                                                      {"upper_case", {upper_case}},
                                                      {"monte_carlo", {monte_carlo}},
                                                      {"game_of_life", {game_of_life}},
                                                      {"bit_tricks", {bit_tricks}},
                                                      {"warp_votes", {warp_votes}}};
  return all;
}

}  // namespace attnscope::kernel_tests
