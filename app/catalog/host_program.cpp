#include "catalog/host_program.h"

#include <algorithm>

#include "catalog/address_parts.h"
#include "catalog/pointer_use.h"

namespace attnscope::catalog {
namespace {

constexpr int kDeepestCalls = 8;     // functions that call functions, names that stand for names
constexpr size_t kMostParts = 2000;  // more than any manifest may have

bool is_null(std::string_view text) { return text == "nullptr" || text == "NULL" || text == "0"; }

// A member of a struct is a different pointer than the struct; x.data_ptr<float>() is x.
std::string whole_pointer(const std::string& text) {
  const size_t dot = text.find('.');
  if (dot != std::string::npos) {
    const std::string_view member = std::string_view(text).substr(dot + 1);
    if (!member.starts_with("data_ptr") && !member.starts_with("get(") && !member.starts_with("data(")) return {};
  }
  return pointer_name(text);
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

bool is_memcpy(const std::string& name) { return name == "cudaMemcpy" || name == "cudaMemcpyAsync"; }
bool is_memset(const std::string& name) { return name == "cudaMemset" || name == "cudaMemsetAsync"; }
bool copies(const HostStep& step, std::string_view direction) {
  return is_memcpy(step.name) && step.arguments.size() >= 4 && contains(step.arguments[3], direction);
}

// For the runtime's calls. A copy whose direction the text does not give may be one to the device.
bool changes_device(const HostStep& step) {
  if (!step.name.starts_with("cudaMemset") && !step.name.starts_with("cudaMemcpy")) return false;
  return std::ranges::none_of(step.arguments, [](const std::string& argument) {
    return contains(argument, "DeviceToHost") || contains(argument, "HostToHost");
  });
}

// An argument names what they launch.
bool launches_argument(const std::string& name) {
  static const std::set<std::string> known{"cudaLaunchKernel",
                                           "cudaLaunchKernelEx",
                                           "cudaLaunchKernelExC",
                                           "cudaLaunchCooperativeKernel",
                                           "cudaLaunchCooperativeKernelMultiDevice",
                                           "cudaGraphLaunch",
                                           "cuLaunchKernel",
                                           "cuLaunchKernelEx",
                                           "cuLaunchCooperativeKernel",
                                           "cuGraphLaunch"};
  return known.contains(name);
}

bool only_reads(const std::string& name) {
  static const std::set<std::string> known{"printf", "fprintf", "assert", "free"};
  return known.contains(name);
}

// The names that an argument's address may consist of. The arguments of a call in it belong to that call.
std::set<std::string> names_in_address(const std::string& argument) {
  static const std::set<std::string_view> whole{"data_ptr", "data", "get"};
  const auto tokens = cpp_tokens(argument);
  const CppBrackets brackets(tokens);
  const auto is = [&](size_t i, std::string_view text) { return i < tokens.size() && tokens[i].is(text); };
  std::set<std::string> names;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != CppToken::Kind::word) continue;
    const bool angles = is(i + 1, "<") && !tokens[i].text.ends_with("_cast");  // f<4>(…), k<<<grid, block>>>(…)
    const size_t open = angles ? brackets.behind_angles(i + 1) : i + 1;
    if (is(open, "(")) {
      i = brackets.closing(open);
      continue;
    }
    const bool is_member = i > 0 && (is(i - 1, ".") || (i > 1 && is(i - 2, "-") && is(i - 1, ">")));
    const bool has_member = is(i + 1, ".") ? i + 2 >= tokens.size() || !whole.contains(tokens[i + 2].text)
                                           : is(i + 1, "-") && is(i + 2, ">");
    if (!is_member && !has_member) names.emplace(tokens[i].text);
  }
  return names;
}

// True if it creates memory: `float* x = (float*)malloc(n)`, `auto x = torch::empty_like(y)`.
bool is_made(const std::string& value) {
  return is_null(value) || (contains(value, "(") && address_parts(value).pointer.empty());
}

}  // namespace

HostProgram::HostProgram(const ReadSource& source, const HostScope& scope, const HostFunction& function)
    : source_(source), scope_(scope), function_(function) {
  inlined_.insert(&function);
  flatten(function, "", 0);
}

const std::vector<HostProgram::Step>& HostProgram::steps_of(const HostFunction& function) const {
  const auto [found, fresh] = steps_.try_emplace(&function);
  if (!fresh) return found->second;
  for (HostStep& one : host_steps(source_.text, function)) {
    Step step{std::move(one), {}};
    for (const std::string& argument : step.arguments) step.pointers.push_back(whole_pointer(argument));
    found->second.push_back(std::move(step));
  }
  return found->second;
}

// The first launch at or after a byte.
std::vector<SourceLaunch>::const_iterator HostProgram::first_launch(size_t from) const {
  return std::ranges::lower_bound(source_.cuda.launches, from, {}, &SourceLaunch::at);
}

std::optional<bool> HostProgram::taken(const SourceBranch& branch) {
  const auto [found, fresh] = taken_.try_emplace({branch.at, branch.holds});
  if (fresh) found->second = scope_.taken(branch, branch.at);
  return found->second;
}

PointerUse HostProgram::use(const SourceKernel& kernel, const SourceParameter& parameter) const {
  const auto [found, fresh] = uses_.try_emplace(&kernel);
  if (fresh) found->second = uses_of(source_, kernel);
  return use_of(found->second, parameter);
}

void HostProgram::flatten(const HostFunction& function, const std::string& unclear, int depth) {
  const std::vector<Step>& steps = steps_of(function);
  for (const Step& step : steps) {
    if (parts_.size() >= kMostParts) {
      cut_ = true;
      return;
    }
    std::string why = unclear.empty() ? step.unclear : unclear;
    bool dropped = false;
    for (const SourceBranch& branch : step.branches) {
      const auto holds = taken(branch);
      dropped = dropped || holds == false;
      if (!holds && why.empty()) why = (branch.holds ? "if (" : "the else of if (") + branch.condition + ")";
    }
    if (dropped) continue;
    if (step.is_return()) {
      if (why.empty()) return;
      continue;
    }
    if (!step.is_launch()) {
      add_call(step, function, why, depth);
      continue;
    }
    const auto launch = first_launch(step.at);
    if (launch == source_.cuda.launches.end() || launch->at != step.at) continue;
    const auto kernel = source_.cuda.defined.find(launch->kernel);
    const bool known = kernel != source_.cuda.defined.end();
    parts_.push_back({ProgramPart::Kind::launch,
                      &*launch,
                      known ? &source_.cuda.kernels[kernel->second] : nullptr,
                      launch->kernel,
                      {},
                      step.at,
                      std::move(why)});
  }
  cut_ = cut_ || steps.size() >= kMostHostSteps;
}

void HostProgram::add_call(const HostStep& step, const HostFunction& function, const std::string& unclear, int depth) {
  ProgramPart part{ProgramPart::Kind::call, nullptr, nullptr, step.name, step.arguments, step.at, unclear};
  const HostFunction* const named = source_.host.function_named(step.name);
  const HostFunction* const called = named == &function || source_.cuda.defined.contains(step.name) ? nullptr : named;
  const Effects effect = called ? effects(*called) : Effects{};
  if (effect.launches) {
    const bool once = source_.host.calls_of(step.name) == 1 && called->parameters.size() == step.arguments.size();
    if (once && depth < kDeepestCalls && inlined_.insert(called).second) return flatten(*called, unclear, depth + 1);
    if (part.unclear.empty())
      part.unclear = "the function " + step.name + ", which is called in several places or with template arguments";
    part.kind = ProgramPart::Kind::launch;
  } else if (source_.cuda.launching_macros.contains(step.name)) {
    if (part.unclear.empty()) part.unclear = "the macro " + step.name;
    part.kind = ProgramPart::Kind::launch;
  } else if (launches_argument(step.name)) {
    if (part.unclear.empty()) part.unclear = "an argument of " + step.name;
    part.kind = ProgramPart::Kind::launch;
  } else if (is_memset(step.name) && step.arguments.size() >= 3) {
    part.kind = ProgramPart::Kind::memset;
  } else if (copies(step, "DeviceToDevice")) {
    part.kind = ProgramPart::Kind::copy;
  } else if (copies(step, "HostToDevice")) {
    part.kind = ProgramPart::Kind::upload;
  } else if (step.arguments.empty() || (named && !effect.changes) ||
             (step.name.starts_with("cuda") && !changes_device(step))) {
    return;  // it does not write device memory
  }
  parts_.push_back(std::move(part));
}

// Kernels are functions of the file too.
const HostFunction* HostProgram::called_by(const Step& step) const {
  const bool function = !step.is_launch() && !source_.cuda.defined.contains(step.name);
  return function ? source_.host.function_named(step.name) : nullptr;
}

HostProgram::Effects HostProgram::own_effects(const HostFunction& function) const {
  const std::vector<Step>& steps = steps_of(function);
  const auto inside = first_launch(function.begin);
  Effects found;
  found.launches = (inside != source_.cuda.launches.end() && inside->at < function.end) ||
                   steps.size() >= kMostHostSteps;  // it may, because not all of them are read
  for (const Step& step : steps) {
    found.launches =
        found.launches || source_.cuda.launching_macros.contains(step.name) || launches_argument(step.name);
    if (found.changes || step.is_launch() || source_.host.function_named(step.name)) continue;
    found.changes = changes_device(step);
    if (found.changes || step.name.starts_with("cuda") || only_reads(step.name)) continue;
    for (const std::string& argument : step.arguments)
      for (const std::string& name : names_in_address(argument))
        found.changes = found.changes || std::ranges::count(function.changeable, name) > 0;
  }
  return found;
}

HostProgram::Effects HostProgram::effects(const HostFunction& function) const {
  if (const auto known = effects_.find(&function); known != effects_.end()) return known->second;
  std::map<const HostFunction*, std::vector<const HostFunction*>> callers;
  std::vector<const HostFunction*> reached{&function};
  effects_[&function] = own_effects(function);
  for (size_t i = 0; i < reached.size(); ++i) {
    const HostFunction* const caller = reached[i];
    for (const Step& step : steps_of(*caller)) {
      const HostFunction* const called = called_by(step);
      if (!called) continue;
      callers[called].push_back(caller);
      const auto [one, fresh] = effects_.try_emplace(called);
      if (!fresh) continue;
      one->second = own_effects(*called);
      reached.push_back(called);
    }
  }
  std::vector<const HostFunction*> open;  // functions whose callers do not have their effects yet
  for (const auto& one : callers) open.push_back(one.first);
  while (!open.empty()) {
    const HostFunction* const called = open.back();
    open.pop_back();
    const auto found = callers.find(called);
    if (found == callers.end()) continue;
    const Effects of_called = effects_.at(called);
    for (const HostFunction* const caller : found->second) {
      Effects& one = effects_.at(caller);
      const bool more = (of_called.launches && !one.launches) || (of_called.changes && !one.changes);
      one.launches = one.launches || of_called.launches;
      one.changes = one.changes || of_called.changes;
      if (more) open.push_back(caller);
    }
  }
  return effects_.at(&function);
}

size_t HostProgram::launches() const {
  return static_cast<size_t>(std::ranges::count(parts_, ProgramPart::Kind::launch, &ProgramPart::kind));
}

bool HostProgram::hands_on(bool clear) const {
  std::set<std::string> stored_before;
  for (const ProgramPart& part : parts_) {
    if (!part.kernel || (clear && !part.unclear.empty())) continue;
    const size_t count = std::min(part.launch->arguments.size(), part.kernel->parameters.size());
    std::set<std::string> stored;
    for (size_t i = 0; i < count; ++i) {
      const SourceParameter& parameter = part.kernel->parameters[i];
      if (!parameter.pointer) continue;
      const std::string name = address(part.launch->arguments[i], part.at).name;
      if (name.empty()) continue;
      const PointerUse known = use(*part.kernel, parameter);
      const bool only_read = !known.stored && !known.passed_on;
      if (!only_read) stored.insert(name);
      if (only_read && known.read && stored_before.contains(name)) return true;
    }
    stored_before.merge(stored);
  }
  return false;
}

HostPointer HostProgram::pointer(const std::string& text, size_t at) const {
  HostText here{text, at};
  for (int depth = 0; depth < kDeepestCalls; ++depth) {
    if (is_null(here.text)) return {{}, here.at, true};
    const std::string name = whole_pointer(here.text);
    const HostFunction* const function = source_.host.function_at(here.at);
    if (name.empty() || !function) return {};
    const auto* const value = source_.cuda.constants.find(name, here.at);
    if (value && value->end != SIZE_MAX) {
      if (source_.cuda.changes.any(name, value->at, here.at)) return {};  // p = …; p += n;
      const std::string other = is_null(value->value) ? "" : whole_pointer(value->value);
      if (other.empty() && !is_made(value->value)) return {};  // p = q + n
      if (!other.empty()) {
        here = {value->value, value->at};
        continue;
      }
    }
    if (source_.cuda.changes.any(name, value && value->end != SIZE_MAX ? value->at : function->begin, here.at))
      return {};
    if (function == &function_) return {name, here.at, false};
    const HostText passed = source_.host.argument(name, here.at);
    if (passed.text.empty()) return {function->name + "_" + name, here.at, false};  // a called function's own pointer
    here = passed;
  }
  return {};
}

HostPointer HostProgram::address(const std::string& text, size_t at) const {
  HostText here{text, at};
  std::vector<HostText> offsets;
  for (int depth = 0; depth < kDeepestCalls; ++depth) {
    if (HostPointer whole = pointer(here.text, here.at); whole.null || !whole.name.empty()) {
      if (whole.null && !offsets.empty()) return {};
      whole.offsets = std::move(offsets);
      return whole;
    }
    if (AddressParts parts = address_parts(here.text); !parts.pointer.empty()) {
      offsets.push_back({std::move(parts.offset), here.at});
      here.text = std::move(parts.pointer);
      continue;
    }
    const std::string name = whole_pointer(here.text);
    const HostFunction* const function = source_.host.function_at(here.at);
    if (name.empty() || name != here.text || !function) return {};
    const auto* const value = source_.cuda.constants.find(name, here.at);
    const bool local = value && value->end != SIZE_MAX;
    if (source_.cuda.changes.any(name, local ? value->at : function->begin, here.at)) return {};
    here = local ? HostText{value->value, value->at}
                 : (function == &function_ ? HostText{} : source_.host.argument(name, here.at));
    if (here.text.empty()) return {};
  }
  return {};
}

std::set<std::string> HostProgram::within(const std::string& text, size_t at, int depth) const {
  std::set<std::string> found;
  for (const std::string& name : names_in_address(text)) {
    if (HostPointer whole = pointer(name, at); !whole.name.empty()) {
      found.insert(std::move(whole.name));
      continue;
    }
    if (depth == kDeepestCalls) continue;
    const auto* const value = source_.cuda.constants.find(name, at);
    const bool local = value && value->end != SIZE_MAX;
    HostText next;
    if (local)
      next = {value->value, value->at};
    else if (source_.host.function_at(at) != &function_)
      next = source_.host.argument(name, at);
    if (next.text.empty()) continue;
    const auto [known, fresh] = within_.try_emplace({name, next.at});
    if (fresh) known->second = within(next.text, next.at, depth + 1);
    found.insert(known->second.begin(), known->second.end());
  }
  return found;
}

HostProgram::Contents HostProgram::contents(const HostPointer& pointer) const {
  Contents found;
  Seen seen;
  HostText here = allocated_as(pointer);
  found.handed =
      source_.host.function_at(pointer.at) == &function_ && std::ranges::count(function_.parameters, pointer.name) > 0;
  for (int depth = 0; depth < kDeepestCalls; ++depth) {
    const HostFunction* const function = source_.host.function_at(here.at);
    if (!function || here.text.empty()) break;
    found.allocated = found.allocated || !source_.host.allocation(here.text, here.at).text.empty();
    look(*function, here.text, depth > 0, 0, found, seen);
    const HostText passed = source_.host.argument(here.text, here.at);
    here = {whole_pointer(passed.text), passed.at};
  }
  return found;
}

HostText HostProgram::allocated_as(const HostPointer& pointer) const {
  const HostFunction* const own = source_.host.function_at(pointer.at);
  const bool of_called = own && own != &function_ && pointer.name.starts_with(own->name + "_");
  return {of_called ? pointer.name.substr(own->name.size() + 1) : pointer.name, pointer.at};
}

void HostProgram::look(const HostFunction& function, const std::string& name, bool caller, int depth, Contents& found,
                       Seen& seen) const {
  if (!seen.insert({&function, name}).second) return;
  for (const Step& step : steps_of(function)) {
    const auto place = std::ranges::find(step.pointers, name);
    if (place == step.pointers.end()) continue;
    const auto index = static_cast<size_t>(place - step.pointers.begin());
    if (copies(step, "HostToDevice") && index == 0) found.uploaded = true;
    if (copies(step, "DeviceToHost") && index == 1) found.downloaded = true;
    if (is_memset(step.name) && caller && step.arguments.size() >= 2 && step.arguments[1] == "0") found.cleared = true;
    const HostFunction* const called = source_.host.function_named(step.name);
    if (called && called != &function && depth < 2 && !inlined_.contains(called) && index < called->parameters.size())
      look(*called, called->parameters[index], false, depth + 1, found, seen);
  }
}

}  // namespace attnscope::catalog
