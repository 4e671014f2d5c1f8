#pragma once
#include <cstddef>
#include <string>

#include "catalog/read_source.h"
#include "core/result.h"
#include "core/source_lines.h"

namespace attnscope::catalog {

inline constexpr const char* kProgramWayOn =
    "Write its steps into \"launches\" of a manifest (docs/writing-a-kernel.md, Several launches), or import one "
    "kernel with --entry NAME.";

// Says where in its source something of a program stands, and why it cannot be imported. The source must outlive it.
class ProgramPlaces {
 public:
  ProgramPlaces(const std::string& source_name, const ReadSource& source, const std::string& function)
      : source_name_(source_name), function_(function), source_(source), lines_(source_name, source.text) {}

  // "file.cu:12", of a byte offset.
  std::string place(size_t at) const;
  tl::unexpected<Failure> refuse(size_t at, const std::string& what) const;

 private:
  const std::string source_name_, function_;
  const ReadSource& source_;
  const SourceLines lines_;
};

}  // namespace attnscope::catalog
