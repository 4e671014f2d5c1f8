#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/session.h"
#include "session/sharing.h"
#include "store/results.h"

namespace attnscope::sweep {

struct Found {
  DeviceSpec device;
  Versions versions;                  // of its worker
  Versions versions_of_runs() const;  // with the GPU's name, as its runs say them
};

// Where a search runs. The session outlives it.
struct Place {
  session::Session* session = nullptr;
  Found device;
  std::unique_ptr<store::Results> results = nullptr;  // null: what comes is not kept
  std::vector<DeviceSpec> emulated;                   // the devices that are data
  std::optional<session::Sharing> sharing = {};       // workers that share it
  std::filesystem::path resources = {};               // the program's own files, with the microbenchmarks; empty: none
  // A device by its id; it may block until its worker is up.
  std::function<Result<Found>(const std::string& id)> find = nullptr;
  std::function<uint64_t()> new_id = nullptr;  // of a scan, unlike every other one of the session

  // A watch runs on an emulated device, of the GPU's architecture if the device is a GPU.
  bool can_watch(const Kernel& kernel) const;
};

// The results that searches read and add to; an empty file: none. Where there are none yet and the disk or the folder
// takes none, `results` is null and `note` says why. A Failure: there are some, and they cannot be read.
struct OpenResults {
  std::unique_ptr<store::Results> results;
  std::string note;
};
Result<OpenResults> open_results(const std::filesystem::path& file);

}  // namespace attnscope::sweep
