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

// What a pointer of the host code is called in the program's function.
struct HostPointer {
  std::string name;      // empty: it is not followed, or null
  size_t at = SIZE_MAX;  // where it has this name
  bool null = false;     // nullptr, NULL or 0
  // Of an address within it: how many of its elements lie before, the sum of these.
  std::vector<HostText> offsets = {};
};

struct ProgramPart {
  enum class Kind { launch, memset, copy, upload, call };
  Kind kind = Kind::launch;
  const SourceLaunch* launch = nullptr;  // with its kernel; both null for the other kinds
  const SourceKernel* kernel = nullptr;  // null as well if the file does not define it
  std::string name;                      // of the called function or of the kernel
  std::vector<std::string> arguments;    // of a call
  size_t at = 0;                         // bytes from the source's start
  std::string unclear;                   // why it is not known that it runs exactly once; empty: it does
};

// What a host function does with the device, in order, with the functions of the file that it calls for it.
class HostProgram {
 public:
  // The scope says which branches are taken. All three must outlive the program.
  HostProgram(const ReadSource& source, const HostScope& scope, const HostFunction& function);

  const HostFunction& function() const { return function_; }
  const std::vector<ProgramPart>& parts() const { return parts_; }
  size_t launches() const;
  // It has too many calls: the parts are not all.
  bool cut() const { return cut_; }
  // Whether a launch only reads what one before it stores. `clear`: only launches that certainly run count.
  bool hands_on(bool clear) const;

  // What a kernel does with its parameter.
  PointerUse use(const SourceKernel& kernel, const SourceParameter& parameter) const;
  // Follows a launch's or call's argument through casts, aliases and called functions to the program's function.
  HostPointer pointer(const std::string& text, size_t at) const;
  // As pointer(), and through `p + n` and `&p[n]`, whose offsets add up. One of a cast pointer is not followed: its
  // elements are others.
  HostPointer address(const std::string& text, size_t at) const;
  // What an argument that is not a whole pointer may be an address within: d_x of "d_x + n", also through aliases.
  std::set<std::string> within(const std::string& text, size_t at) const { return within(text, at, 0); }
  // What the host code does with a pointer, in the program's function, in those that call it and in those that these
  // hand it to.
  struct Contents {
    bool allocated = false, uploaded = false, downloaded = false;
    bool cleared = false;  // set to 0 before the program's function is called
    bool handed = false;   // the program's function gets it as a parameter
  };
  Contents contents(const HostPointer& pointer) const;
  // The name that HostSource::followed_allocation takes.
  HostText allocated_as(const HostPointer& pointer) const;

 private:
  void flatten(const HostFunction& function, const std::string& unclear, int depth);
  void add_call(const HostStep& step, const HostFunction& function, const std::string& unclear, int depth);
  std::vector<SourceLaunch>::const_iterator first_launch(size_t from) const;
  std::optional<bool> taken(const SourceBranch& branch);
  struct Step : HostStep {
    std::vector<std::string> pointers;  // of the arguments, as far as they are a pointer's name
  };
  const std::vector<Step>& steps_of(const HostFunction& function) const;
  struct Effects {
    bool launches = false;
    bool changes = false;  // device memory, or it is not known
  };
  Effects effects(const HostFunction& function) const;  // with those of all that it calls
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
