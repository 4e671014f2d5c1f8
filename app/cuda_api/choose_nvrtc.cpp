#include "cuda_api/driver.h"
#include "cuda_api/nvrtc.h"
#include "platform/paths.h"

namespace attnscope::cuda_api {
namespace {

constexpr int newest_major = 13;
constexpr const char* install_hint =
    "Run ./dev build, which fetches NVRTC, install the CUDA toolkit, or set $ATTNSCOPE_NVRTC to a libnvrtc.so.";

// A library that is there but does not open is passed over for the next; its reason is kept in case none opens.
Result<std::shared_ptr<const Nvrtc>> open_first(int major, std::string& reasons) {
  for (LibraryPlace place : nvrtc_places(major)) {
    if (place.include.empty())  // the library came without headers: another of its version may have them
      for (const LibraryPlace& other : nvrtc_places(major))
        if (place.include.empty()) place.include = other.include;
    auto nvrtc = Nvrtc::open(place);
    if (nvrtc) return nvrtc;
    if (place.origin != "system") reasons += (reasons.empty() ? "" : " ") + nvrtc.error().message;
  }
  return fail(Stage::compile, {});
}

Result<std::shared_ptr<const Nvrtc>> open_named(const Driver* driver) {
  const LibraryPlace place = nvrtc_places(0).front();
  auto nvrtc = Nvrtc::open(place);
  if (!nvrtc) return fail(Stage::compile, "$ATTNSCOPE_NVRTC: " + nvrtc.error().message, "Correct or unset it.");
  if (driver == nullptr || (*nvrtc)->major() <= driver->version() / 1000) return nvrtc;
  return fail(Stage::compile,
              "$ATTNSCOPE_NVRTC is of CUDA " + (*nvrtc)->version_text() + ", whose code the driver of CUDA " +
                  driver->version_text() + " does not run.",
              "Name an NVRTC of CUDA " + std::to_string(driver->version() / 1000) + " or unset it.");
}

// What there is of other major versions, for the sentence that says why it does not do.
std::string others_than(int major) {
  std::string others;
  for (int other = 11; other <= newest_major + 1; ++other) {
    if (other == major) continue;
    for (const LibraryPlace& place : nvrtc_places(other))
      if (place.library.is_absolute())
        others += (others.empty() ? "" : ", ") + ("NVRTC " + std::to_string(other)) + " (" + place.origin + ")";
  }
  return others;
}

}  // namespace

Result<std::shared_ptr<const Nvrtc>> choose_nvrtc() {
  auto driver = Driver::open();
  if (!driver && !platform::environment("ATTNSCOPE_LIBCUDA").empty())
    return fail(Stage::compile, "$ATTNSCOPE_LIBCUDA: " + driver.error().message, driver.error().hint);
  if (!platform::environment("ATTNSCOPE_NVRTC").empty()) return open_named(driver ? &*driver : nullptr);

  std::string reasons;
  if (!driver) {
    for (const int major : {12, newest_major})
      if (auto nvrtc = open_first(major, reasons)) return nvrtc;
    return fail(Stage::compile, "NVRTC, the CUDA compiler, is not on this machine. " + reasons, install_hint);
  }
  const int major = driver->version() / 1000;
  if (auto nvrtc = open_first(major, reasons)) return nvrtc;
  const std::string others = others_than(major);
  return fail(Stage::compile,
              "The driver is of CUDA " + driver->version_text() + " and needs NVRTC " + std::to_string(major) +
                  ", which is not on this machine" + (others.empty() ? "" : "; there is " + others) + ". " + reasons,
              install_hint);
}

}  // namespace attnscope::cuda_api
