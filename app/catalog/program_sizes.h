#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catalog/host_program.h"
#include "catalog/import.h"

namespace attnscope::catalog {

// A launch of a program with its template arguments.
struct ProgramLaunch {
  const ProgramPart* part = nullptr;
  std::string entry;
  std::map<std::string, TemplateValue> templates;

  // From this call on, names have their meaning at the launch.
  void enter(HostScope& scope) const {
    scope.templates = templates;
    scope.used_at = part->at;
  }
};

// The sizes of an imported program: whole numbers that its launches pass, by their names in the program's function, and
// that function's own parameters from which these are computed. A number that the host code computes from other sizes
// is not a size.
class ProgramSizes {
 public:
  ProgramSizes(const ReadSource& source, const HostProgram& program, const std::vector<ProgramLaunch>& launches,
               HostScope& scope, Imported& imported)
      : source_(source), program_(program), launches_(launches), scope_(scope), imported_(imported) {}

  // Finds them and adds them to the scope.
  void find();
  const std::map<std::string, int64_t>& values() const { return values_; }
  const std::vector<std::string>& names() const { return names_; }  // in the order in which the launches name them

 private:
  struct Size {
    std::string name, host;  // in the manifest and in the host code
    size_t at = 0, defined = 0;
    std::map<std::string, TemplateValue> templates;  // of the launch that passes it
  };
  using Depths = std::map<size_t, int>;  // by the place of a definition: how deep it was followed
  void find_in(const HostText& text, const ProgramLaunch& launch, int depth, Depths& followed);
  void enter(const Size& size);
  int64_t usual_value(const Size& size, size_t unknown) const;
  std::pair<std::optional<int64_t>, bool> value_of(const Size& size);
  bool follows(const Size& size);

  const ReadSource& source_;
  const HostProgram& program_;
  const std::vector<ProgramLaunch>& launches_;
  HostScope& scope_;
  Imported& imported_;
  std::vector<Size> candidates_;
  std::map<std::string, int64_t> values_;
  std::vector<std::string> names_;
};

}  // namespace attnscope::catalog
