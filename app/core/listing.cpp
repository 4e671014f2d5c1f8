#include "core/listing.h"

#include "core/fields.h"
#include "core/sm_timeline_fields.h"
#include "core/softmax_fields.h"

namespace attnscope {
namespace {

constexpr Limits kIndex{.low = 0, .high = 1 << 24};
constexpr Limits kSum{.low = 0};
constexpr double kMostShared = 1 << 20;  // bytes, more than any CTA has
constexpr Limits kBarrier{.low = 0, .high = CodeControl::kNone};
constexpr Limits kValues{.low = 0, .high = code_value::kEnd - 1, .most = 64};

}  // namespace

template <>
struct FieldsOf<CodePlace> {
  static constexpr auto list =
      std::tuple{Field{"file", &CodePlace::file, kIndex}, Field{"line", &CodePlace::line, kIndex}};
};

template <>
struct FieldsOf<CodeCounts> {
  static constexpr auto list =
      std::tuple{Field{"issued", &CodeCounts::issued, kSum},         Field{"lanes", &CodeCounts::lanes, kSum},
                 Field{"wavefronts", &CodeCounts::wavefronts, kSum}, Field{"ideal", &CodeCounts::ideal, kSum},
                 Field{"sectors", &CodeCounts::sectors, kSum},       Field{"us", &CodeCounts::us, kSum}};
};

template <>
struct FieldsOf<SharedAccess> {
  using Of = SharedAccess;
  static constexpr auto list =
      std::tuple{Field{"at", &Of::at, Limits{.low = 0, .high = kMostShared, .required = true}},
                 Field{"mask", &Of::mask, Limits{.low = 0, .high = 0xffffffff, .required = true}},
                 Field{"bytes", &Of::bytes, Limits{.low = 1, .high = 16, .required = true}},
                 Field{"use", &Of::use, Limits{.required = true}}};
};

template <>
struct FieldsOf<SharedStep> {
  using Of = SharedStep;
  static constexpr auto list =
      std::tuple{Field{"warp", &Of::warp, kIndex}, Field{"turn", &Of::turn, kIndex}, Field{"shape", &Of::shape, kIndex},
                 Field{"base", &Of::base, Limits{.low = 0, .high = kMostShared}}};
};

template <>
struct FieldsOf<SharedSteps> {
  using Of = SharedSteps;
  static constexpr Limits kSteps{.most = Of::kMost, .required = true};
  static constexpr auto list = std::tuple{Field{"shapes", &Of::shapes, kSteps}, Field{"steps", &Of::steps, kSteps}};
};

template <>
struct FieldsOf<SharedPlace> {
  using Of = SharedPlace;
  static constexpr Limits kBytes{.low = 0, .high = kMostShared, .required = true};
  static constexpr auto list = std::tuple{Field{"name", &Of::name, Limits{.bytes = 4096, .required = true}},
                                          Field{"begin", &Of::begin, kBytes}, Field{"bytes", &Of::bytes, kBytes}};
};

template <>
struct FieldsOf<MatrixFragment> {
  using Of = MatrixFragment;
  static constexpr Limits kSize{.low = 1, .high = MatrixFragment::kMost, .required = true};
  static constexpr auto list =
      std::tuple{Field{"matrix", &Of::matrix},
                 Field{"rows", &Of::rows, kSize},
                 Field{"columns", &Of::columns, kSize},
                 Field{"bits", &Of::bits, Limits{.low = 8, .high = 64}},
                 Field{"run", &Of::run, Limits{.low = 1, .high = 4}},
                 Field{"by_columns", &Of::by_columns},
                 Field{"first", &Of::first, Limits{.low = MatrixFragment::kZero, .high = code_value::kUniform - 1}}};
  static void check(JsonReader& read, MatrixFragment& fragment) {
    if (!is_whole(fragment)) read.fault("rows", "the lanes do not hold equally much of the matrix");
  }
};

template <>
struct FieldsOf<CodeControl> {
  using Of = CodeControl;
  static constexpr auto list = std::tuple{Field{"stall", &Of::stall, Limits{.low = 0, .high = 15}},
                                          Field{"yields", &Of::yields},
                                          Field{"write_barrier", &Of::write_barrier, kBarrier},
                                          Field{"read_barrier", &Of::read_barrier, kBarrier},
                                          Field{"wait_mask", &Of::wait_mask, Limits{.low = 0, .high = 63}},
                                          Field{"reuse", &Of::reuse, Limits{.low = 0, .high = 15}}};
};

template <>
struct FieldsOf<CodeLine> {
  static constexpr auto list = std::tuple{Field{"text", &CodeLine::text, Limits{.bytes = 4096, .required = true}},
                                          Field{"places", &CodeLine::places, Limits{.most = 256}},
                                          Field{"control", &CodeLine::control},
                                          Field{"reads", &CodeLine::reads, kValues},
                                          Field{"writes", &CodeLine::writes, kValues},
                                          Field{"guarded", &CodeLine::guarded},
                                          Field{"targets", &CodeLine::targets, kIndex},
                                          Field{"falls_through", &CodeLine::falls_through},
                                          Field{"fragments", &CodeLine::fragments, Limits{.most = 4}},
                                          Field{"counts", &CodeLine::counts, Limits{.sparse = true}},
                                          Field{"shared", &CodeLine::shared, Limits{.sparse = true}}};
};

// Checks that every index is within the listing, so that readers need no further checks.
template <>
struct FieldsOf<Listing> {
  static constexpr auto list =
      std::tuple{Field{"experiment_hash", &Listing::experiment_hash, Limits{.bytes = 64, .required = true}},
                 Field{"files", &Listing::files, Limits{.bytes = 4096, .line = true}},
                 Field{"lines", &Listing::lines, Limits{.most = Listing::kMostLines, .required = true}},
                 Field{"ptx", &Listing::ptx, Limits{.bytes = 16 << 20}},
                 Field{"counted", &Listing::counted},
                 Field{"emulated_ctas", &Listing::emulated_ctas, kSum},
                 Field{"total_ctas", &Listing::total_ctas, kSum},
                 Field{"places", &Listing::places},
                 Field{"launch", &Listing::launch, Limits{.bytes = 1200, .sparse = true}},
                 Field{"softmax", &Listing::softmax, Limits{.sparse = true}},
                 Field{"timeline", &Listing::timeline, Limits{.sparse = true}}};
  static void check(JsonReader& read, Listing& listing) {
    for (const CodeLine& line : listing.lines) {
      for (const CodePlace& place : line.places)
        if (static_cast<size_t>(place.file) >= listing.files.size())
          read.fault("lines", "a place names a file that is not listed");
      for (const int64_t target : line.targets)
        if (static_cast<size_t>(target) >= listing.lines.size()) read.fault("lines", "a jump leads out of the listing");
      if (!line.shared) continue;
      if (line.shared->steps.empty()) read.fault("lines", "an access was never made");
      for (const SharedStep& step : line.shared->steps)
        if (static_cast<size_t>(step.shape) >= line.shared->shapes.size())
          read.fault("lines", "an access has addresses that are not listed");
    }
  }
};

std::string code_value::name(int value) {
  if (value >= kUniformPredicate) return "UP" + std::to_string(value - kUniformPredicate);
  if (value >= kPredicate) return "P" + std::to_string(value - kPredicate);
  if (value >= kUniform) return "UR" + std::to_string(value - kUniform);
  return "R" + std::to_string(value);
}

Json to_json(const Listing& listing) { return write_fields(listing); }

Result<Listing> listing_from_json(const Json& json, const std::string& where) {
  return read_fields<Listing>(json, where);
}

}  // namespace attnscope
