// The expected results of each kernel about one feature of CUDA: intrinsics, types, headers, ways of control flow.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "plain_kernels.h"

namespace attnscope::kernel_tests {
namespace {

using Sizes = std::map<std::string, int64_t>;
using Values = std::vector<double>;

size_t size(const Sizes& sizes, const char* name) { return static_cast<size_t>(sizes.at(name)); }
uint32_t word(double value) { return static_cast<uint32_t>(value); }
int whole(double value) { return static_cast<int>(value); }

Buffers funnel_ldg(const Buffers& in, const Sizes&) {
  const auto left = [](uint32_t low, uint32_t high, uint32_t by) {
    return by >= 32 ? low : static_cast<uint32_t>((uint64_t{high} << 32 | low) << by >> 32);
  };
  const auto right = [](uint32_t low, uint32_t high, uint32_t by) {
    return by >= 32 ? high : static_cast<uint32_t>((uint64_t{high} << 32 | low) >> by);
  };
  Values y;
  const Values& v = in.at("x");
  for (size_t i = 0; i < v.size(); i += 4) {
    const uint32_t a = word(v[i]), b = word(v[i + 1]), c = word(v[i + 2]), d = word(v[i + 3]);
    y.push_back(left(a, b, c & 31) ^ right(a, b, d % 40));
    y.push_back(right(b, c, d & 31) + left(c, d, a % 40));
  }
  return {{"y", y}};
}

Buffers volatile_warp(const Buffers& in, const Sizes&) {
  const Values& x = in.at("in");
  Values sums;
  for (auto row = x.begin(); row != x.end(); row += 64) sums.push_back(std::accumulate(row, row + 64, 0.0));
  return {{"out", sums}, {"ordered", Values(x.size(), 1)}};
}

Buffers inline_ptx(const Buffers& in, const Sizes&) {
  Values mixed, c;
  for (size_t i = 0; i < in.at("a").size(); ++i) {
    const uint32_t a = word(in.at("a")[i]), b = word(in.at("b")[i]);
    const uint32_t field = a >> 5 & 0x7ff, joined = (b & ~0x1ff00u) | (a & 0x1ff) << 8;
    mixed.push_back(field ^ joined ^ static_cast<uint32_t>(uint64_t{a} * b >> 7));
  }
  for (size_t i = 0; i < mixed.size(); ++i) c.push_back(word(mixed[i ^ 33]) + static_cast<uint32_t>(i % 32));
  return {{"c", c}};
}

Buffers dot_int8(const Buffers& in, const Sizes& sizes) {
  const size_t words = size(sizes, "words");
  Values c(size(sizes, "rows"));
  for (size_t i = 0; i < in.at("a").size(); ++i)
    for (int shift = 0; shift < 32; shift += 8) {
      const auto byte = [&](const char* name) {
        return static_cast<int8_t>(static_cast<uint32_t>(whole(in.at(name)[i])) >> shift);
      };
      c[i / words] += byte("a") * byte("b");
    }
  return {{"c", c}};
}

Buffers last_block(const Buffers& in, const Sizes&) {
  return {{"total", {std::accumulate(in.at("in").begin(), in.at("in").end(), 0.0)}}};
}

Buffers block_votes(const Buffers& in, const Sizes&) {
  const Values& x = in.at("x");
  Values y;
  for (auto block = x.begin(); block != x.end(); block += 96) {
    const auto odd = std::count_if(block, block + 96, [](double v) { return whole(v) % 2 == 1; });
    const bool any = std::any_of(block, block + 96, [](double v) { return v > 98; });
    y.push_back(double(odd) + 1000 + (any ? 10000 : 0));
  }
  return {{"y", y}};
}

Buffers atomics_wide(const Buffers& in, const Sizes& sizes) {
  const double n = double(size(sizes, "n"));
  return {{"sum", {std::accumulate(in.at("x").begin(), in.at("x").end(), 0.0), 0}},
          {"words", {n * (n - 1) / 2 * 1048576, 3 * (n - 1), 7 * n, 0}},
          {"pair", {n, n / 4}}};
}

Buffers half2_polynomial(const Buffers& in, const Sizes&) {
  const Values& x = in.at("x");
  Values y, most;
  for (const double v : x) y.push_back(1 + v + v * v / 2 - v / 4 + (v < 0 ? 1 : 0));
  for (size_t i = 0; i < x.size(); i += 2) most.push_back(std::max(x[i], x[i + 1]));
  return {{"y", y}, {"most", most}};
}

Buffers bf16_fma(const Buffers& in, const Sizes&) {
  const Values &a = in.at("a"), &b = in.at("b");
  Values c, top;
  for (size_t i = 0; i < a.size(); ++i) c.push_back(std::max(a[i] * b[i] + 0.5, -1.0));
  for (size_t i = 0; i < a.size(); i += 2) top.push_back(std::max(a[i], b[i + 1]));
  return {{"c", c}, {"top", top}};
}

double as_half(double value) {
  std::array<std::byte, 2> bytes{};
  check::store_value(ElementType::f16, bytes.data(), 0, value);
  return check::load_value(ElementType::f16, bytes.data(), 0);
}

Buffers conversions(const Buffers& in, const Sizes&) {
  Values numbers, wide, back;
  for (size_t i = 0; i < in.at("x").size(); ++i) {
    const double x = in.at("x")[i], d = in.at("d")[i];
    const auto single = static_cast<float>(x);
    for (const double value : {std::floor(x), std::ceil(x) + std::nearbyint(x), std::trunc(x) + std::trunc(as_half(x)),
                               std::trunc(x) + std::trunc(double(single * 300.f))})
      numbers.push_back(value);
    wide.push_back(std::floor(d));
    wide.push_back(std::trunc(std::abs(d) * 4));
    back.push_back(in.at("bytes")[i] / 2);
    back.push_back(float(std::trunc(d)) + std::clamp(single, 0.f, 1.f));
    back.push_back(std::round(x) + 2 * std::nearbyint(x) + 4 * std::trunc(x));
  }
  return {{"whole", numbers}, {"wide", wide}, {"back", back}};
}

Buffers fp64_math(const Buffers& in, const Sizes&) {
  Values y;
  for (const double v : in.at("x"))
    for (const double value :
         {std::exp(-v) + std::log(v), std::sin(v) * std::cos(3 * v), std::pow(v, 1.7) / std::sqrt(v + 1),
          std::tanh(v) - std::cbrt(v), 1 / std::sqrt(v) + std::hypot(v, 2.0),
          std::fma(v, v, -1.0) + std::fmod(v * 10, 3.0) + std::erf(v)})
      y.push_back(value);
  return {{"y", y}};
}

Buffers fast_math(const Buffers& in, const Sizes&) {
  Values y;
  for (const double v : in.at("x"))
    for (const double value : {std::exp(-v) + std::log(v), std::sin(v) + std::cos(v), v / (3 + v) + std::pow(v, 1.5),
                               1 / std::sqrt(v) + 1 / v + std::sqrt(v) + std::tanh(v)})
      y.push_back(value);
  return {{"y", y}};
}

// f of each part of two words, `bits` wide.
template <class F>
uint32_t by_parts(uint32_t a, uint32_t b, uint32_t bits, F f) {
  const uint32_t mask = (1u << bits) - 1;
  uint32_t joined = 0;
  for (uint32_t at = 0; at < 32; at += bits) joined |= (f(a >> at & mask, b >> at & mask) & mask) << at;
  return joined;
}

Buffers packed_bytes(const Buffers& in, const Sizes&) {
  using U = uint32_t;
  Values c;
  for (size_t i = 0; i < in.at("a").size(); ++i) {
    const U a = word(in.at("a")[i]), b = word(in.at("b")[i]);
    c.push_back(by_parts(a, b, 8, [](U x, U y) { return x + y; }));
    c.push_back(by_parts(a, b, 16, [](U x, U y) { return std::max(x, y); }) ^
                by_parts(a, b, 8, [](U x, U y) { return (x + y + 1) / 2; }));
    c.push_back(by_parts(a, b, 8, [](U x, U y) { return x > y ? 0xffu : 0u; }) +
                by_parts(a, b, 8, [](U x, U y) { return x > y ? x - y : y - x; }));
  }
  return {{"c", c}};
}

// By long multiplication of halves.
uint64_t high_product(uint64_t a, uint64_t b) {
  const uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & 0xffffffff);
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

Buffers integer_intrinsics(const Buffers& in, const Sizes&) {
  Values y;
  for (const double value : in.at("x")) {
    const auto v = static_cast<uint64_t>(value);
    const auto low = static_cast<int32_t>(v), high = static_cast<int32_t>(v >> 20);
    y.push_back(double(high_product(v << 20, 0x9E3779B97F4A7C15ull) >> 12));
    uint64_t reversed = 0;
    for (int bit = 0; bit < 64; ++bit) reversed |= (v >> bit & 1) << (63 - bit);
    y.push_back(double(std::popcount(v) + 100 * std::countl_zero(v) + 10000 * (v == 0 ? 0 : std::countr_zero(v) + 1)) +
                double(reversed >> 40) * 1e6);
    const auto low_24 = [](int32_t x) { return int64_t{static_cast<int32_t>(static_cast<uint32_t>(x) << 8) >> 8}; };
    const int64_t product = int64_t{low} * high;
    const auto product_24 = static_cast<int32_t>(low_24(low) * low_24(high));
    y.push_back(double(int64_t{product_24} + (product >> 32) + ((int64_t{low} + high) >> 1) +
                       ((int64_t{low} + high + 1) >> 1)));
    y.push_back(double(product % 1000003 + static_cast<int64_t>((v >> (low & 31)) % 97) +
                       (static_cast<int64_t>(v << 30) >> (high & 15)) / 100000));
  }
  return {{"y", y}};
}

Buffers async_copy(const Buffers& in, const Sizes&) {
  Values out = in.at("in");
  for (auto stage = out.begin(); stage != out.end(); stage += 256) std::reverse(stage, stage + 256);
  return {{"out", out}};
}

Buffers argmax_warp(const Buffers& in, const Sizes& sizes) {
  const auto cols = static_cast<ptrdiff_t>(size(sizes, "cols"));
  Values index, value;
  for (auto row = in.at("x").begin(); row != in.at("x").end(); row += cols) {
    const auto best = std::max_element(row, row + cols);
    index.push_back(double(best - row));
    value.push_back(2 * *best);
  }
  return {{"index", index}, {"value", value}};
}

double tangled(int v) {
  int sum = 0;
  for (int steps = 0;;) {
    int factor = 2;
    while (factor * factor <= v && v % factor != 0) ++factor;
    if (factor * factor > v) factor = v;
    sum += factor;
    if (factor == 7) return sum + 100000 + steps;
    v /= factor;
    if (++steps > 4) return sum + steps;
    for (; v % 3 == 0; v /= 3)
      if ((sum += 1000) > 3000) return sum + steps;
    if (v <= 1) return sum + 100000 + steps;
  }
}
Buffers tangled_flow(const Buffers& in, const Sizes&) {
  Values y;
  for (const double v : in.at("x")) y.push_back(tangled(whole(v)));
  return {{"y", y}};
}

Buffers block_reduce_cub(const Buffers& in, const Sizes&) {
  const Values& x = in.at("in");
  Values sums, scanned(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    if (i % 32 != 0) scanned[i] = scanned[i - 1] + x[i - 1];
  for (auto row = x.begin(); row != x.end(); row += 128) sums.push_back(std::accumulate(row, row + 128, 0.0));
  return {{"sums", sums}, {"scanned", scanned}};
}

Buffers cuda_std(const Buffers& in, const Sizes&) {
  Values y;
  double total = 0;
  for (const double value : in.at("x")) {
    const int rest = whole(value) % 7;
    y.push_back(whole(value) / 7 * std::pow(10, rest % 4) + rest);
    total += rest;
  }
  return {{"y", y}, {"total", {total}}};
}

Buffers cube_3d(const Buffers& in, const Sizes& sizes) {
  const size_t nx = size(sizes, "nx"), ny = size(sizes, "ny"), nz = size(sizes, "nz");
  const auto at = [&](size_t x, size_t y, size_t z) {
    return in.at("in")[(std::min(z, nz - 1) * ny + std::min(y, ny - 1)) * nx + std::min(x, nx - 1)];
  };
  Values out;
  for (size_t z = 0; z < nz; ++z)
    for (size_t y = 0; y < ny; ++y)
      for (size_t x = 0; x < nx; ++x)
        out.push_back((at(x, y, z) + at(x + 1, y, z) + at(x, y + 1, z) + at(x, y, z + 1)) / 4 + double(nx + nz) -
                      double(ny));
  return {{"out", out}};
}

Buffers philox(const Buffers&, const Sizes& sizes) {
  Values out;
  for (size_t i = 0; i < size(sizes, "n"); ++i) {
    std::array<uint32_t, 4> c{static_cast<uint32_t>(i), 0, 0, 0};
    uint32_t key[2] = {static_cast<uint32_t>(size(sizes, "seed")), 0};
    for (int round = 0; round < 10; ++round) {
      const uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
      c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(b),
           static_cast<uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(a)};
      key[0] += 0x9E3779B9u, key[1] += 0xBB67AE85u;
    }
    out.insert(out.end(), c.begin(), c.end());
  }
  return {{"out", out}};
}

// FIPS 180-4; its constants are the fractions of the cube and square roots of the first primes.
Buffers sha256(const Buffers& in, const Sizes& sizes) {
  std::vector<uint32_t> cubes, squares;
  for (int candidate = 2; cubes.size() < 64; ++candidate) {
    bool prime = true;
    for (int d = 2; d * d <= candidate; ++d) prime &= candidate % d != 0;
    if (!prime) continue;
    const auto fraction = [](long double root) {
      return static_cast<uint32_t>((root - std::floor(root)) * 4294967296.0L);
    };
    cubes.push_back(fraction(std::cbrt(static_cast<long double>(candidate))));
    squares.push_back(fraction(std::sqrt(static_cast<long double>(candidate))));
  }
  Values digest;
  for (size_t block = 0; block < size(sizes, "n"); ++block) {
    std::vector<uint32_t> w;
    for (size_t i = 0; i < 16; ++i) w.push_back(word(in.at("block")[block * 16 + i]));
    const auto turned = [](uint32_t x, int a, int b) { return std::rotr(x, a) ^ std::rotr(x, b); };
    for (size_t i = 16; i < 64; ++i)
      w.push_back(w[i - 16] + (turned(w[i - 15], 7, 18) ^ w[i - 15] >> 3) + w[i - 7] +
                  (turned(w[i - 2], 17, 19) ^ w[i - 2] >> 10));
    std::vector<uint32_t> s(squares.begin(), squares.begin() + 8);
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t mixed =
          s[7] + (turned(s[4], 6, 11) ^ std::rotr(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + cubes[i] + w[i];
      const uint32_t first =
          mixed + (turned(s[0], 2, 13) ^ std::rotr(s[0], 22)) + ((s[0] & s[1]) | (s[2] & (s[0] | s[1])));
      s[3] += mixed;
      std::rotate(s.begin(), s.end() - 1, s.end());
      s[0] = first;
    }
    for (size_t i = 0; i < 8; ++i) digest.push_back(s[i] + squares[i]);
  }
  return {{"digest", digest}};
}

Buffers edit_distance(const Buffers& in, const Sizes& sizes) {
  const size_t length = size(sizes, "length");
  Values distance;
  for (size_t pair = 0; pair < size(sizes, "pairs"); ++pair) {
    std::vector<std::vector<size_t>> table(length + 1, std::vector<size_t>(length + 1));
    for (size_t i = 0; i <= length; ++i) table[i][0] = table[0][i] = i;
    for (size_t i = 1; i <= length; ++i)
      for (size_t j = 1; j <= length; ++j) {
        const bool same = in.at("a")[pair * length + i - 1] == in.at("b")[pair * length + j - 1];
        table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (same ? 0 : 1)});
      }
    distance.push_back(double(table[length][length]));
  }
  return {{"distance", distance}};
}

Buffers scan_cg(const Buffers& in, const Sizes&) {
  const Values& x = in.at("in");
  Values out, firsts;
  for (size_t i = 0; i < x.size(); ++i) {
    const auto tile = x.begin() + static_cast<ptrdiff_t>(i / 8 * 8);
    out.push_back(std::accumulate(tile, x.begin() + static_cast<ptrdiff_t>(i) + 1, 0.0));
    const auto alike = [&](double v) { return whole(v) % 2 == whole(x[i]) % 2; };
    firsts.push_back(*std::find_if(tile, tile + 8, alike) + 1000 * double(std::count_if(tile, tile + 8, alike)));
  }
  return {{"out", out}, {"firsts", firsts}};
}

Buffers heat_grid_sync(const Buffers& in, const Sizes& sizes) {
  Values from = in.at("a"), to = in.at("b");
  for (int64_t step = 0; step < sizes.at("steps"); ++step) {
    to = from;
    for (size_t i = 1; i + 1 < from.size(); ++i) to[i] = 0.25 * from[i - 1] + 0.5 * from[i] + 0.25 * from[i + 1];
    std::swap(from, to);
  }
  return {{"a", from}, {"b", to}};  // after an even number of steps
}

Buffers sum_grid_sync(const Buffers& in, const Sizes&) {
  constexpr size_t ctas = 40, threads = 256;
  Values parts(ctas);
  for (size_t i = 0; i < in.at("in").size(); ++i) parts[i / threads % ctas] += in.at("in")[i];
  parts[0] = std::accumulate(parts.begin(), parts.end(), 0.0);
  return {{"out", parts}};
}

Buffers arrive_wait_grid(const Buffers& in, const Sizes&) {
  const Values& x = in.at("in");
  Values out, ranks;
  for (size_t i = 0; i < x.size(); ++i) {
    out.push_back(x[i] + 1000 * x[x.size() - 1 - i]);
    ranks.push_back(double(i / 64));
  }
  return {{"out", out}, {"ranks", ranks}};
}

Buffers memcpy_async_barrier(const Buffers& in, const Sizes& sizes) {
  constexpr size_t threads = 128;
  const size_t tiles = size(sizes, "tiles");
  Values out(in.at("in").size() / tiles);
  for (size_t i = 0; i < in.at("in").size(); ++i)
    out[i / threads / tiles * threads + threads - 1 - i % threads] += in.at("in")[i];
  return {{"out", out}};
}

Buffers producer_consumer(const Buffers& in, const Sizes&) {
  Values out(96);
  for (size_t i = 0; i < in.at("in").size(); i += 96)
    for (size_t k = 0; k < 96; ++k) out[k] = 5 * out[k] + 3 * (in.at("in")[i + k] + in.at("in")[i + 95 - k]);
  return {{"out", out}};
}

Buffers pipeline_block(const Buffers& in, const Sizes& sizes) {
  Values out;
  for (size_t i = 0; i < 64 * size(sizes, "tiles"); ++i) {
    const double* const other = &in.at("in")[4 * (i / 64 * 64 + 63 - i % 64)];
    out.push_back(other[0] + 2 * other[1] + 4 * other[2] + 8 * other[3]);
  }
  return {{"out", out}};
}

}  // namespace

const std::map<std::string, Independent>& results_of_features() {
  static const std::map<std::string, Independent> all{{"funnel_ldg", {funnel_ldg}},
                                                      {"volatile_warp", {volatile_warp}},
                                                      {"inline_ptx", {inline_ptx}},
                                                      {"dot_int8", {dot_int8}},
                                                      {"last_block", {last_block}},
                                                      {"block_votes", {block_votes}},
                                                      {"atomics_wide", {atomics_wide, 1e-12}},
                                                      {"half2_polynomial", {half2_polynomial, 2e-3}},
                                                      {"bf16_fma", {bf16_fma, 4e-3}},
                                                      {"conversions", {conversions}},
                                                      {"fp64_math", {fp64_math, 1e-14}},
                                                      {"fast_math", {fast_math, 2e-6}},
                                                      {"packed_bytes", {packed_bytes}},
                                                      {"integer_intrinsics", {integer_intrinsics}},
                                                      {"async_copy", {async_copy}},
                                                      {"argmax_warp", {argmax_warp}},
                                                      {"tangled_flow", {tangled_flow}},
                                                      {"block_reduce_cub", {block_reduce_cub}},
                                                      {"cuda_std", {cuda_std}},
                                                      {"cube_3d", {cube_3d, 1e-6}},
                                                      {"philox", {philox}},
                                                      {"sha256", {sha256}},
                                                      {"edit_distance", {edit_distance}},
                                                      {"scan_cg", {scan_cg}},
                                                      {"heat_grid_sync", {heat_grid_sync, 1e-5}},
                                                      {"sum_grid_sync", {sum_grid_sync, 1e-6}},
                                                      {"arrive_wait_grid", {arrive_wait_grid}},
                                                      {"memcpy_async_barrier", {memcpy_async_barrier, 1e-5}},
                                                      {"producer_consumer", {producer_consumer}},
                                                      {"pipeline_block", {pipeline_block, 1e-5}}};
  return all;
}

}  // namespace attnscope::kernel_tests
