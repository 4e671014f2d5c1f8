// Chooses the version of a CUDA library that fits this machine's driver.
#include "cuda_api/choose.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "core/joined.h"
#include "cuda_api/driver.h"
#include "cuda_api/nvrtc.h"
#include "platform/paths.h"

namespace attnscope::cuda_api {
namespace {

namespace fs = std::filesystem;

constexpr int kOldestMajor = 11, kNewestMajor = 13;
constexpr int kFirstYear = 2000;

std::string install_hint(CudaLibrary which) {
  const LibraryName& name = name_of(which);
  const std::string get =
      which == CudaLibrary::nvrtc ? "Run `attnscope fetch`, which fetches NVRTC, install" : "Install";
  return get + " the CUDA toolkit, or set $" + name.environment + " to a " + name.file + ".";
}

template <class Library>
struct FirstOpened {
  std::optional<Library> library;    // empty: none opened
  std::vector<std::string> reasons;  // why the earlier libraries, or all of them, did not fit
};

// Tries the places of that version in order. The system's loader gives no reason: a library that it does not find does
// not exist.
template <class Open>
auto open_first(CudaLibrary which, int major, const Open& open) {
  FirstOpened<typename decltype(open(LibraryPlace{}))::value_type> first;
  const std::vector<LibraryPlace> places = library_places(which, major);
  const auto with_headers =
      std::ranges::find_if(places, [](const LibraryPlace& place) { return !place.includes.empty(); });
  for (LibraryPlace place : places) {
    // This library has no headers; another of the same version may have them.
    if (place.includes.empty() && with_headers != places.end()) place.includes = with_headers->includes;
    auto opened = open(place);
    if (opened) {
      first.library = std::move(*opened);
      break;
    }
    if (place.origin != "system") first.reasons.push_back(opened.error().message);
  }
  return first;
}

// The other major versions that exist, for the message that says why they do not fit.
std::string others_than(CudaLibrary which, int major) {
  std::vector<std::string> others;
  for (int other = kOldestMajor; other <= kNewestMajor + 1; ++other) {
    if (other == major) continue;
    for (const LibraryPlace& place : library_places(which, other))
      if (place.library.is_absolute())
        others.push_back(name_of(which).title + " " + std::to_string(other) + " (" + place.origin + ")");
  }
  return joined(others);
}

Failure mismatch(CudaLibrary which, Stage stage, const Driver& driver, const std::vector<std::string>& reasons) {
  const int major = driver.version() / 1000;
  const std::string others = others_than(which, major);
  return Failure{stage,
                 "The driver is for CUDA " + driver.version_text() + " and needs " + name_of(which).title + " " +
                     std::to_string(major) + ", which is not on this machine" +
                     (others.empty() ? "" : "; there is " + others) + "." +
                     (reasons.empty() ? "" : " " + joined(reasons, {}, " ")),
                 install_hint(which)};
}

Failure named_is_too_new(CudaLibrary which, Stage stage, const std::string& version, const Driver& driver) {
  return Failure{stage,
                 "$" + std::string(name_of(which).environment) + " is for CUDA " + version +
                     ", but the driver is for CUDA " + driver.version_text() + " and cannot run its code.",
                 "Name one for CUDA " + std::to_string(driver.version() / 1000) + " or unset it."};
}

bool is_named(CudaLibrary which) { return !platform::environment(name_of(which).environment).empty(); }

Failure named_does_not_open(CudaLibrary which, Stage stage, const Failure& why) {
  return Failure{stage, "$" + std::string(name_of(which).environment) + ": " + why.message, "Correct or unset it."};
}

// "12.8.4.1" from libcublas.so.12.8.4.1, which libcublas.so.12 may link to.
std::string version_in_name(const fs::path& library) {
  std::error_code error;
  const fs::path real = library.is_absolute() ? fs::canonical(library, error) : library;
  const std::string name = (error ? library : real).filename().string();
  const size_t at = name.rfind(".so.");
  return at == std::string::npos ? "" : name.substr(at + 4);
}

Result<ChosenLibrary> open_library(const LibraryPlace& place) {
  auto library = SharedLibrary::open(place.library);
  if (!library) return fail(library.error());
  const std::string version = version_in_name(place.library);
  // CUPTI's file is named after its year, libcupti.so.2025.3.1, which does not say which driver it is for.
  const int major = std::atoi(version.c_str());
  return ChosenLibrary{std::move(*library), place, major < kFirstYear ? major : 0, version};
}

}  // namespace

Result<ChosenLibrary> choose_library(CudaLibrary which) {
  auto driver = Driver::open();
  if (!driver)
    return fail(Stage::device, std::string(name_of(which).title) + " needs a GPU: " + driver.error().message,
                driver.error().hint);
  if (is_named(which)) {
    auto library = open_library(library_places(which, 0).front());
    if (!library) return fail(named_does_not_open(which, Stage::device, library.error()));
    if (library->major > driver->version() / 1000)
      return fail(named_is_too_new(which, Stage::device, library->version, *driver));
    return library;
  }
  auto first = open_first(which, driver->version() / 1000, open_library);
  if (!first.library) return fail(mismatch(which, Stage::device, *driver, first.reasons));
  return std::move(*first.library);
}

Result<std::shared_ptr<const Nvrtc>> choose_nvrtc() {
  constexpr CudaLibrary which = CudaLibrary::nvrtc;
  auto driver = Driver::open();
  if (!driver && !platform::environment("ATTNSCOPE_LIBCUDA").empty())
    return fail(Stage::compile, "$ATTNSCOPE_LIBCUDA: " + driver.error().message, driver.error().hint);
  if (is_named(which)) {
    auto nvrtc = Nvrtc::open(library_places(which, 0).front());
    if (!nvrtc) return fail(named_does_not_open(which, Stage::compile, nvrtc.error()));
    if (driver && (*nvrtc)->major() > driver->version() / 1000)
      return fail(named_is_too_new(which, Stage::compile, (*nvrtc)->version_text(), *driver));
    return nvrtc;
  }
  const auto open = [](const LibraryPlace& place) { return Nvrtc::open(place); };
  if (driver) {
    auto first = open_first(which, driver->version() / 1000, open);
    if (!first.library) return fail(mismatch(which, Stage::compile, *driver, first.reasons));
    return std::move(*first.library);
  }
  std::vector<std::string> reasons;
  for (const int major : {12, kNewestMajor}) {
    auto first = open_first(which, major, open);
    if (first.library) return std::move(*first.library);
    reasons.insert(reasons.end(), first.reasons.begin(), first.reasons.end());
  }
  return fail(
      Stage::compile,
      "NVRTC, the CUDA compiler, is not on this machine." + (reasons.empty() ? "" : " " + joined(reasons, {}, " ")),
      install_hint(which));
}

}  // namespace attnscope::cuda_api
