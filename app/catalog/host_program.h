#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catalog/host_scope.h"
#include "catalog/host_steps.h"
#include "catalog/import_parameters.h"

namespace attnscope::catalog {

// The name of a host pointer in the program's function.
struct HostPointer {
  std::string name;      // empty: it cannot be followed, or is null
  size_t at = SIZE_MAX;  // where it has this name
  bool null = false;     // nullptr, NULL or 0
  // For an address within it: the sum of these is the number of its elements before.
  std::vector<HostText> offsets = {};
};

struct ProgramPart {
  enum class Kind { launch, memset, copy, upload, call };
  Kind kind = Kind::launch;
  const SourceLaunch* launch = nullptr;  // with its kernel; both are null for the other kinds
  const SourceKernel* kernel = nullptr;  // also null if the file does not define it
  std::string name;                      // of the called function or of the kernel
  std::vector<std::string> arguments;    // of a call
  size_t at = 0;                         // byte offset in the source
  std::string unclear;                   // why it may not run exactly once; empty: it does
};

// What a host function does with the device, in order, including the functions of the file that it calls.
class HostProgram {
 public:
  // The scope decides which branches are taken. All three must outlive the program.
  HostProgram(const ReadSource& source, const HostScope& scope, const HostFunction& function);

  const HostFunction& function() const { return function_; }
  const std::vector<ProgramPart>& parts() const { return parts_; }
  size_t launches() const;
  // True if it has too many calls, so that parts() is incomplete.
  bool cut() const { return cut_; }
  // True if a launch only reads what an earlier one stores. `clear`: considers only launches that certainly run.
  bool hands_on(bool clear) const;

  // What a kernel does with its parameter.
  PointerUse use(const SourceKernel& kernel, const SourceParameter& parameter) const;
  // Follows a launch's or call's argument through casts, aliases and called functions to the program's function.
  HostPointer pointer(const std::string& text, size_t at) const;
  // Like pointer(), and also through `p + n` and `&p[n]`, whose offsets add up. An address of a cast pointer is not
  // followed, because its elements have another size.
  HostPointer address(const std::string& text, size_t at) const;
  // The pointers that an argument may be an address within, if it is not a whole pointer: d_x for "d_x + n", also
  // through aliases.
  std::set<std::string> within(const std::string& text, size_t at) const { return within(text, at, 0); }
  // What the host code does with a pointer: in the program's function, in its callers and in the functions that these
  // pass it to.
  struct Contents {
    bool allocated = false, uploaded = false, downloaded = false;
    bool cleared = false;  // set to 0 before the program's function is called
    bool handed = false;   // passed to the program's function as a parameter
  };
  Contents contents(const HostPointer& pointer) const;
  // The name for HostSource::followed_allocation.
  HostText allocated_as(const HostPointer& pointer) const;

 private:
  void flatten(const HostFunction& function, const std::string& unclear, int depth);
  void add_call(const HostStep& step, const HostFunction& function, const std::string& unclear, int depth);
  std::vector<SourceLaunch>::const_iterator first_launch(size_t from) const;
  std::optional<bool> taken(const SourceBranch& branch);
  struct Step : HostStep {
    std::vector<std::string> pointers;  // of the arguments that are a pointer's name
  };
  const std::vector<Step>& steps_of(const HostFunction& function) const;
  struct Effects {
    bool launches = false;
    bool changes = false;  // changes device memory, or may
  };
  Effects effects(const HostFunction& function) const;  // including those of everything that it calls
  Effects own_effects(const HostFunction& function) const;
  const HostFunction* called_by(const Step& step) const;
  std::set<std::string> within(const std::string& text, size_t at, int depth) const;
  using Seen = std::set<std::pair<const HostFunction*, std::string>>;
  void look(const HostFunction& function, const std::string& name, bool caller, int depth, Contents& found,
            Seen& seen) const;

  const ReadSource& source_;
  const HostScope& scope_;
  const HostFunction& function_;
  std::vector<ProgramPart> parts_;
  std::set<const HostFunction*> inlined_;
  bool cut_ = false;
  std::map<std::pair<size_t, bool>, std::optional<bool>> taken_;  // by a condition's place
  mutable std::map<const HostFunction*, std::vector<Step>> steps_;
  mutable std::map<const SourceKernel*, PointerUses> uses_;
  mutable std::map<const HostFunction*, Effects> effects_;
  mutable std::map<std::pair<std::string, size_t>, std::set<std::string>> within_;  // by a name and its definition
};

}  // namespace attnscope::catalog
