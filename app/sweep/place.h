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
  Versions versions;                  // its worker's
  Versions versions_of_runs() const;  // with the GPU's name, as in its runs
};

// Where a search runs. The session must outlive it.
struct Place {
  session::Session* session = nullptr;
  Found device;
  std::unique_ptr<store::Results> results = nullptr;  // null: results are not stored
  std::vector<DeviceSpec> emulated;                   // the emulated devices
  std::optional<session::Sharing> sharing = {};       // workers that share the search
  std::filesystem::path resources = {};               // the program's own files, with the microbenchmarks; empty: none
  // Finds a device by its id; may block until its worker is up.
  std::function<Result<Found>(const std::string& id)> find = nullptr;
  std::function<uint64_t()> new_id = nullptr;  // for a scan; unique in its session
  // Opens a second session, in which a model ranks while the device runs; must outlive the search, too. Null: the model
  // and the device take turns in the first one.
  std::function<Result<session::Session*>()> open_beside = nullptr;

  // True if a watch can run: on an emulated device, with the GPU's architecture if the device is a GPU.
  bool can_watch(const Kernel& kernel) const;
};

// Whether nvcc compiles some of these configs. A worker shares a whole search or none of it.
bool by_nvcc(const std::vector<Config>& configs);
// The place's workers as they share a search of these configs.
std::optional<session::Sharing> sharing_of(const Place& place, const std::vector<Config>& configs);

// The results that searches read and add to; none for an empty path. If there are none yet and the disk is full or the
// folder cannot be written, `results` is null and `note` says why. Failure: results exist and cannot be read.
struct OpenResults {
  std::unique_ptr<store::Results> results;
  std::string note;
};
Result<OpenResults> open_results(const std::filesystem::path& file);

}  // namespace attnscope::sweep
