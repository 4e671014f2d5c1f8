#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "catalog/manifest_reader.h"
#include "catalog/softmax_places.h"
#include "core/fields.h"
#include "core/source_pieces.h"

namespace attnscope {
namespace {

// Where a phase is: a function, or from one line to another, each named by a piece of its text or by its number.
struct PhasePlace {
  std::string name, function, from, to;
  int64_t first = 0, last = 0;
};

}  // namespace

template <>
struct FieldsOf<PhasePlace> {
  static constexpr Limits kPiece{.bytes = 200, .line = true}, kLine{.low = 1, .high = 1e7};
  static constexpr auto list =
      std::tuple{Field{"name", &PhasePlace::name, Limits{.bytes = 100, .line = true, .required = true}},
                 Field{"function", &PhasePlace::function, kPiece},
                 Field{"from", &PhasePlace::from, kPiece},
                 Field{"to", &PhasePlace::to, kPiece},
                 Field{"first", &PhasePlace::first, kLine},
                 Field{"last", &PhasePlace::last, kLine}};
};

namespace catalog {
namespace {

constexpr const char* kPhases = "phases";
constexpr size_t kMostPhases = 100;

struct NamedRange {
  size_t phase = 0;  // index in the manifest
  LineRange lines;
};

class PhaseReader {
 public:
  PhaseReader(JsonReader& read, const Kernel& kernel, const SourcePieces& pieces)
      : read_(read),
        kernel_(kernel),
        pieces_(pieces),
        lines_(static_cast<int64_t>(std::ranges::count(kernel.source, '\n')) +
               (kernel.source.empty() || kernel.source.ends_with('\n') ? 0 : 1)) {
    fields::read(read_, kPhases, places_, Limits{.most = kMostPhases});
    for (size_t i = 0; i < places_.size() && !read_.failed(); ++i) add(i);
    refuse_overlaps();
  }

  std::vector<NamedLines> phases() const {
    std::vector<NamedLines> named;
    for (const NamedRange& range : ranges_) named.push_back({name(range), range.lines});
    return named;
  }

 private:
  const std::string& name(const NamedRange& range) const { return places_[range.phase].name; }
  static std::string at(size_t phase, const char* key) { return fmt::format("{}/{}/{}", kPhases, phase, key); }

  void add(size_t phase) {
    const PhasePlace& place = places_[phase];
    const bool by_function = !place.function.empty(), by_text = !place.from.empty() || !place.to.empty(),
               by_number = place.first > 0 || place.last > 0;
    if (int{by_function} + int{by_text} + int{by_number} != 1)
      return read_.fault(fmt::format("{}/{}", kPhases, phase), "does not say in exactly one way where the phase is",
                         "Give \"function\"; or \"from\" and \"to\", pieces of lines; or \"first\" and \"last\".");
    if (by_function) return add_function(phase, place.function);
    const std::optional<int> first =
        by_text ? line_with(phase, "from", place.from) : line_of(phase, "first", place.first);
    const std::optional<int> last = by_text ? line_with(phase, "to", place.to) : line_of(phase, "last", place.last);
    if (!first || !last) return;
    if (*last < *first)
      return read_.fault(at(phase, by_text ? "to" : "last"), "is before the phase's first line", "Exchange the two.");
    ranges_.push_back({phase, {*first, *last}});
  }

  void add_function(size_t phase, const std::string& function) {
    const std::vector<LineRange> found = pieces_.lines_of(function);
    if (found.empty())
      read_.fault(at(phase, "function"), "\"" + function + "\" is not a function of " + kernel_.source_name,
                  "Give its name without template arguments and namespace.");
    for (const LineRange& lines : found) ranges_.push_back({phase, lines});
  }

  std::optional<int> line_with(size_t phase, const char* key, const std::string& piece) {
    const int line = piece.empty() ? 0 : static_cast<int>(only_line_with(kernel_.source, piece));
    if (line > 0) return line;
    read_.fault(at(phase, key), "\"" + piece + "\" does not stand in exactly one line of " + kernel_.source_name,
                "Give a piece of the line that no other line has.");
    return std::nullopt;
  }

  std::optional<int> line_of(size_t phase, const char* key, int64_t line) {
    if (line >= 1 && line <= lines_) return static_cast<int>(line);
    read_.fault(at(phase, key), fmt::format("is not a line of {}, which has {}", kernel_.source_name, lines_));
    return std::nullopt;
  }

  void refuse_overlaps() {
    std::ranges::stable_sort(ranges_, {}, [](const NamedRange& range) { return range.lines.first; });
    for (size_t i = 1; i < ranges_.size() && !read_.failed(); ++i)
      if (ranges_[i].lines.first <= ranges_[i - 1].lines.last)
        read_.fault(fmt::format("{}/{}", kPhases, ranges_[i].phase),
                    fmt::format("\"{}\" and \"{}\" both have line {} of {}", name(ranges_[i]), name(ranges_[i - 1]),
                                ranges_[i].lines.first, kernel_.source_name),
                    "A line belongs to one phase.");
  }

  JsonReader& read_;
  const Kernel& kernel_;
  const SourcePieces& pieces_;
  int64_t lines_;
  std::vector<PhasePlace> places_;
  std::vector<NamedRange> ranges_;
};

}  // namespace

void read_phases(JsonReader& read, Kernel& kernel) {
  if (read.has(kPhases)) kernel.phases = PhaseReader(read, kernel, SourcePieces(kernel.source)).phases();
}

}  // namespace catalog
}  // namespace attnscope
