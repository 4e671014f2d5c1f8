#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "catalog/program_buffers.h"
#include "catalog/program_places.h"
#include "catalog/program_sizes.h"

namespace attnscope::catalog {

// The steps of an imported program's manifest: its launches, memsets and copies, in the order of the host code. Sizes
// and buffers must be known.
class ProgramSteps {
 public:
  ProgramSteps(const ReadSource& source, const HostProgram& program, const std::vector<ProgramLaunch>& launches,
               const ProgramSizes& sizes, const ProgramBuffers& buffers, const ProgramPlaces& places, HostScope& scope,
               Imported& imported)
      : source_(source),
        program_(program),
        launches_(launches),
        sizes_(sizes),
        buffers_(buffers),
        places_(places),
        scope_(scope),
        imported_(imported) {}

  // `after`: the part follows the last launch.
  Result<void> add(const ProgramPart& part, bool after);
  size_t count() const { return steps_.size(); }
  nlohmann::ordered_json take() { return std::move(steps_); }

 private:
  Result<void> add_launch(const ProgramLaunch& one);
  Result<void> whole_buffer(const ProgramPart& part, size_t argument);
  Result<nlohmann::ordered_json> argument_of(const ProgramLaunch& one, size_t index);
  Result<nlohmann::ordered_json> address_of(const ProgramLaunch& one, const HostPointer& pointer,
                                            const SourceParameter& parameter, const std::string& text);
  std::string name_of(const ProgramPart& part, size_t argument) const;
  bool knows(const ProgramPart& part, size_t argument) const { return buffers_.has(name_of(part, argument)); }
  std::string said_at(const ProgramPart& part) const;

  const ReadSource& source_;
  const HostProgram& program_;
  const std::vector<ProgramLaunch>& launches_;
  const ProgramSizes& sizes_;
  const ProgramBuffers& buffers_;
  const ProgramPlaces& places_;
  HostScope& scope_;
  Imported& imported_;
  nlohmann::ordered_json steps_ = nlohmann::ordered_json::array();
};

}  // namespace attnscope::catalog
