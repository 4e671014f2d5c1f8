#pragma once
#include <cstddef>
#include <filesystem>
#include <string>

#include "core/device_spec.h"
#include "core/kernel.h"
#include "core/problem.h"
#include "core/result.h"

namespace attnscope::cli {

// Records how far each kernel's search for a problem on a device is, so that an interrupted one continues and one that
// has finished is not repeated. A mark is a file under `folder`; it is of one kernel's text.
class BestMarks {
 public:
  static constexpr size_t kMost = 4096;  // marks in the folder, of all problems and devices; each is under 1 KB

  BestMarks(std::filesystem::path folder, const Problem& problem, const DeviceSpec& device, size_t most = kMost);
  // Whether a search has begun and not ended.
  bool begun(const Kernel& kernel) const;
  // The budget of the widest search that has ended; 0: there was none, or another has begun since.
  size_t ended(const Kernel& kernel) const;
  Result<void> begin(const Kernel& kernel) const;
  // If there are more than `most` marks, the oldest of ended searches go: such a search is repeated when it is asked
  // for.
  Result<void> end(const Kernel& kernel, size_t budget) const;
  void take(const Kernel& kernel) const;  // if the file cannot be removed, the search is repeated

 private:
  std::filesystem::path file_of(const Kernel& kernel) const;
  std::string text_of(const Kernel& kernel) const;
  void trim() const;

  std::filesystem::path folder_;
  size_t most_;
  std::string of_;  // the problem and the device
};

}  // namespace attnscope::cli
