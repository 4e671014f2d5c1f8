#include "catalog/softmax_places.h"

#include <fmt/format.h>

#include "catalog/launch.h"
#include "catalog/manifest_reader.h"
#include "core/fields.h"

namespace attnscope {
namespace {
constexpr Limits kPiece{.bytes = 300, .line = true, .required = true};
constexpr Limits kExpression{.bytes = 2000, .line = true};
constexpr Limits kNeeded{.bytes = 2000, .line = true, .required = true};
}  // namespace

template <>
struct FieldsOf<SoftmaxPlaces::Written> {
  using Of = SoftmaxPlaces::Written;
  static constexpr auto list = std::tuple{Field{"line", &Of::line, kPiece},
                                          Field{"op", &Of::op, Limits{.bytes = 20, .line = true, .required = true}},
                                          Field{"warp", &Of::warp, kExpression}, Field{"lane", &Of::lane, kExpression},
                                          Field{"turn", &Of::turn, kExpression}};
};

template <>
struct FieldsOf<SoftmaxPlaces::Kept> {
  using Of = SoftmaxPlaces::Kept;
  static constexpr auto list =
      std::tuple{Field{"buffer", &Of::buffer, Limits{.bytes = 100, .line = true, .required = true}},
                 Field{"byte", &Of::byte, kNeeded}};
};

template <>
struct FieldsOf<SoftmaxPlaces> {
  using Of = SoftmaxPlaces;
  static constexpr auto list = std::tuple{Field{"rows", &Of::rows, kNeeded},
                                          Field{"keys", &Of::keys, kNeeded},
                                          Field{"ends", &Of::ends, kPiece},
                                          Field{"unit", &Of::unit, kExpression},
                                          Field{"m", &Of::m, Limits{.required = true}},
                                          Field{"l", &Of::l, Limits{.required = true}},
                                          Field{"scores", &Of::scores},
                                          Field{"weights", &Of::weights},
                                          Field{"o", &Of::o}};
};

namespace catalog {
namespace {

constexpr int64_t kMostKeys = 1 << 12;  // per tile

struct Named {
  Variables known;
  const Kernel& kernel;

  Result<int64_t> whole(const std::string& expression, const char* key) const {
    return evaluate(expression, known, kernel.where(std::string("softmax/") + key));
  }
};

Result<void> settle(const Named& named, const SoftmaxPlaces::Written& place, const std::string& key,
                    SoftmaxSite::Written& out) {
  out.line = only_line_with(named.kernel.source, place.line);
  out.op = place.op;
  for (const auto& [name, expression, value] : {std::tuple{"/warp", &place.warp, &out.warp},
                                                {"/lane", &place.lane, &out.lane},
                                                {"/turn", &place.turn, &out.turn}}) {
    auto found = named.whole(*expression, (key + name).c_str());
    if (!found) return fail(found.error());
    *value = *found;
  }
  if (out.warp > 31)
    return fail(Stage::catalog, named.kernel.where("softmax/" + key + "/warp") + ": a CTA has 32 warps at most");
  if (out.lane > 31)
    return fail(Stage::catalog, named.kernel.where("softmax/" + key + "/lane") + ": a warp has 32 lanes");
  return {};
}

// Evaluates `place` for `variable` from 0 to `count` - 1.
Result<void> settle(Named named, const std::optional<SoftmaxPlaces::Kept>& place, const std::string& key,
                    const char* variable, int64_t count, SoftmaxSite::Kept& out) {
  if (!place) return {};
  out.buffer = place->buffer;
  for (int64_t i = 0; i < count; ++i) {
    named.known[variable] = double(i);
    auto byte = named.whole(place->byte, (key + "/byte").c_str());
    if (!byte) return fail(byte.error());
    out.bytes.push_back(*byte);
  }
  return {};
}

Result<void> check_row(const Problem& problem, const SoftmaxRow& row) {
  if (row.batch < problem.batch && row.head < problem.heads && row.row < problem.seq_q) return {};
  return fail(Stage::input, "the problem has no " + row_text(row),
              fmt::format("It has {} batches, {} heads and {} rows, each from 0 on.", problem.batch, problem.heads,
                          problem.seq_q));
}

}  // namespace

int64_t only_line_with(const std::string& text, const std::string& piece) {
  const size_t first = text.find(piece);
  if (piece.empty() || first == std::string::npos || text.find(piece, first + 1) != std::string::npos) return 0;
  return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(first), '\n');
}

Result<SoftmaxSite> softmax_site(const Kernel& kernel, const Problem& problem, const Config& config,
                                 const SoftmaxRow& row) {
  if (!kernel.softmax)
    return fail(Stage::input, kernel.id + ": its manifest does not say where its softmax keeps m and l",
                "Add \"softmax\" to " + kernel.manifest_name + "; docs/writing-a-kernel.md describes it.");
  if (auto there = check_row(problem, row); !there) return fail(there.error());
  const SoftmaxPlaces& places = *kernel.softmax;
  Named named{variables(kernel, problem, config), kernel};
  named.known["scale"] = problem.effective_scale();
  auto rows = named.whole(places.rows, "rows"), keys = named.whole(places.keys, "keys");
  for (const auto* one : {&rows, &keys})
    if (!*one) return fail(one->error());
  if (*rows < 1 || *keys < 1 || *keys > kMostKeys)
    return fail(Stage::catalog, kernel.where("softmax") + ": a CTA has no rows, or a tile no keys or over 4,096");
  SoftmaxSite site;
  site.cta[0] = row.row / *rows;
  site.cta[1] = row.head;
  site.cta[2] = row.batch;
  site.keys = *keys;
  site.ends_line = only_line_with(kernel.source, places.ends);
  auto unit = evaluate_real(places.unit, named.known, kernel.where("softmax/unit"));
  if (!unit) return fail(unit.error());
  if (*unit <= 0) return fail(Stage::catalog, kernel.where("softmax/unit") + ": must be above 0");
  site.unit = *unit;
  named.known["row"] = double(row.row % *rows);
  for (const auto& done : {settle(named, places.m, "m", site.m), settle(named, places.l, "l", site.l),
                           settle(named, places.scores, "scores", "key", *keys, site.scores),
                           settle(named, places.weights, "weights", "key", *keys, site.weights),
                           settle(named, places.o, "o", "column", problem.head_dim, site.o)})
    if (!done) return fail(done.error());
  return site;
}

void read_softmax(JsonReader& read, Kernel& kernel) {
  fields::read(read, "softmax", kernel.softmax, Limits{});
  if (!kernel.softmax || read.failed()) return;
  const SoftmaxPlaces& places = *kernel.softmax;
  for (const auto& [key, piece] : {std::pair{"softmax/ends", &places.ends},
                                   {"softmax/m/line", &places.m.line},
                                   {"softmax/l/line", &places.l.line}})
    if (only_line_with(kernel.source, *piece) == 0)
      read.fault(key, "\"" + *piece + "\" does not stand in exactly one line of " + kernel.source_name,
                 "Give a piece of the line that no other line has.");
}

}  // namespace catalog
}  // namespace attnscope
