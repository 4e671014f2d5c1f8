#include "catalog/program_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace attnscope::catalog {

std::string ProgramPlaces::place(size_t at) const {
  const auto before = std::string_view(source_.text).substr(0, at);
  const SourcePlace place = lines_.place_of(1 + std::ranges::count(before, '\n'));
  return fmt::format("{}:{}", place.file, place.line);
}

tl::unexpected<Failure> ProgramPlaces::refuse(size_t at, const std::string& what) const {
  return fail(Stage::input,
              fmt::format("{}: {} launches several kernels, but {} ({})", source_name_, function_, what, place(at)),
              kProgramWayOn);
}

}  // namespace attnscope::catalog
