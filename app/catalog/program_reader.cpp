// Reads a program of several launches: "launches" of a manifest.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "catalog/cuda_source.h"
#include "catalog/device_variables.h"
#include "catalog/manifest_reader.h"
#include "catalog/pointer_use.h"
#include "core/code_file.h"
#include "core/joined.h"

namespace attnscope::catalog {
namespace {

constexpr size_t kMaxSteps = 64;

std::string at(size_t index) { return fmt::format("{}/{}", kProgramKey, index); }

// "ns::softmax<64, float>" gives softmax.
std::string plain_name(const std::string& entry) {
  const std::string name = entry.substr(0, entry.find('<'));
  const size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

std::string plain_name(const SourceKernel& kernel) { return plain_name(kernel.name); }

// The buffer that a step of the host names. `written`: it must be writable.
size_t buffer_at(JsonReader& read, const char* key, const Json& json, const Kernel& kernel, bool written) {
  const auto found = json.is_string()
                         ? std::ranges::find(kernel.buffers, json.get<std::string>(), &BufferDeclaration::name)
                         : kernel.buffers.end();
  if (found == kernel.buffers.end()) {
    read.fault(key, json.dump() + " is not a buffer",
               "Buffers: " + joined(kernel.buffers, &BufferDeclaration::name) + ".");
    return 0;
  }
  if (!found->symbol.empty())
    read.fault(key, "\"" + found->name + "\" is the variable " + found->symbol + "'s contents and no buffer",
               "Name another buffer.");
  if (written && found->role == BufferRole::in)
    read.fault(key, "\"" + found->name + "\" has the role in, and would be written",
               "Make it an inout or a workspace.");
  return static_cast<size_t>(found - kernel.buffers.begin());
}

void read_copy(JsonReader& read, const Kernel& kernel, ProgramStep& step) {
  step.kind = ProgramStep::Kind::copy;
  const Json& json = *read.value("copy");
  if (!json.is_array() || json.size() != 2) return read.fault("copy", "must be [from, to], the names of two buffers");
  step.from = buffer_at(read, "copy/0", json[0], kernel, false);
  step.to = buffer_at(read, "copy/1", json[1], kernel, true);
  if (!read.failed() && step.from == step.to) read.fault("copy", "is from a buffer to itself");
}

void read_memset(JsonReader& read, const Kernel& kernel, ProgramStep& step) {
  step.kind = ProgramStep::Kind::memset;
  step.to = buffer_at(read, "memset", *read.value("memset"), kernel, true);
  read.integer("byte", step.byte, 0, 255);
}

// `names`: a kernel with the program's buffers, sizes and knobs, into which the launch's parts are read.
void read_launch_step(JsonReader& read, Kernel names, ProgramStep& step) {
  read.required("entry");
  read.text("entry", names.entry, 1000);
  if (!read.failed() && !is_entry(names.entry)) read.fault("entry", "must be a C++ name or template expression");
  read_launch_shape(read, names);
  read_shared_map(read, names);
  if (!read.failed()) read_workload_arguments(read, names);
  step.entry = std::move(names.entry);
  step.launch = std::move(names.launch);
  step.shared_map = std::move(names.shared_map);
  step.arguments = std::move(names.arguments);
}

ProgramStep step_at(JsonReader& outer, const Json& json, size_t index, const Kernel& names) {
  ProgramStep step;
  JsonReader read(json, outer.path(at(index)), Stage::catalog);
  if (!json.is_object())
    outer.fault(at(index), "must be a launch, {\"memset\": buffer, \"byte\": 0} or {\"copy\": [from, to]}");
  else if (read.has("memset"))
    read_memset(read, names, step);
  else if (read.has("copy"))
    read_copy(read, names, step);
  else
    read_launch_step(read, names, step);
  if (auto done = read.finish(); !done) outer.adopt(done.error());
  return step;
}

// Finds reads before anything was written, as far as the source's text shows.
class Order {
 public:
  Order(JsonReader& read, const Kernel& kernel) : read_(read), kernel_(kernel) {
    if (!is_machine_code(kernel.source)) source_ = read_cuda_source(kernel.source);
    for (const BufferDeclaration& one : kernel.buffers)
      written_.push_back(one.role != BufferRole::out && one.init.kind != BufferInit::Kind::unset);
  }

  void check() {
    for (size_t i = 0; i < kernel_.steps.size() && !read_.failed(); ++i) {
      const ProgramStep& step = kernel_.steps[i];
      if (step.kind == ProgramStep::Kind::launch) launch(step, i);
      if (step.kind == ProgramStep::Kind::copy && !written_[step.from])
        refuse(at(i) + "/copy", kernel_.buffers[step.from].name);
      if (step.kind != ProgramStep::Kind::launch) written_[step.to] = true;
    }
    check_variables();
    for (size_t i = 0; i < written_.size() && !read_.failed(); ++i)
      if (!written_[i] && kernel_.buffers[i].role == BufferRole::out)
        read_.fault(kProgramKey, "nothing writes \"" + kernel_.buffers[i].name + "\", which has the role out");
  }

 private:
  void check_variables() {
    if (is_machine_code(kernel_.source) || read_.failed()) return;
    std::vector<std::string_view> bodies;
    std::vector<size_t> steps;  // of these
    for (size_t i = 0; i < kernel_.steps.size(); ++i) {
      if (kernel_.steps[i].kind != ProgramStep::Kind::launch) continue;
      const std::string name = plain_name(kernel_.steps[i].entry);
      const auto found =
          std::ranges::find(source_.kernels, name, [](const SourceKernel& one) { return plain_name(one); });
      if (found == source_.kernels.end() || !found->defined) continue;
      bodies.push_back(std::string_view(kernel_.source).substr(found->body, found->end - found->body));
      steps.push_back(i);
    }
    if (const auto shared = shared_variable(kernel_.source, bodies))
      read_.fault(at(steps[shared->second]),
                  fmt::format("uses the variable \"{}\", as launch {} does, and each launch has one of its own",
                              shared->name, steps[shared->first]),
                  "Pass a buffer instead of the __device__ variable.");
  }

  void refuse(const std::string& key, const std::string& buffer) {
    read_.fault(key, "\"" + buffer + "\" is read, but nothing before wrote it",
                "Write it first: by another launch, a memset or a copy; or give it contents by \"init\".");
  }

  void launch(const ProgramStep& step, size_t index) {
    const std::string name = plain_name(step.entry);
    const auto found =
        std::ranges::find(source_.kernels, name, [](const SourceKernel& one) { return plain_name(one); });
    const bool known =
        found != source_.kernels.end() && found->defined && found->parameters.size() == step.arguments.size();
    if (found == source_.kernels.end() && !is_machine_code(kernel_.source) && !mentions(name))
      return read_.fault(at(index) + "/entry", "the source has no kernel \"" + step.entry + "\"",
                         "Its kernels: " + joined(source_.kernels, &SourceKernel::name) + ".");
    std::map<std::string, PointerUse, std::less<>> uses;
    if (known)
      uses = pointer_uses(std::string_view(kernel_.source).substr(found->body, found->end - found->body),
                          names_of(*found));
    std::vector<bool> after = written_;
    for (size_t i = 0; i < step.arguments.size(); ++i) {
      const auto use = known ? uses.find(found->parameters[i].name) : uses.end();
      const bool only_read = step.arguments[i].fields.empty() && use != uses.end() && use->second.read &&
                             !use->second.stored && !use->second.passed_on;
      for_each_buffer(step.arguments[i], [&](size_t buffer) {
        if (only_read && !written_[buffer])
          refuse(fmt::format("{}/args/{}", at(index), i), kernel_.buffers[buffer].name);
        if (!only_read) after[buffer] = true;
      });
    }
    written_ = std::move(after);
  }

  // As a whole word, because a name may come from a macro or an included file.
  bool mentions(const std::string& name) const {
    if (kernel_.source.find("#include \"") != std::string::npos) return true;
    const auto is_inner = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (size_t from = kernel_.source.find(name); from != std::string::npos;
         from = kernel_.source.find(name, from + 1)) {
      const size_t end = from + name.size();
      if ((from == 0 || !is_inner(kernel_.source[from - 1])) &&
          (end == kernel_.source.size() || !is_inner(kernel_.source[end])))
        return true;
    }
    return false;
  }

  static std::vector<std::string> names_of(const SourceKernel& kernel) {
    std::vector<std::string> names;
    for (const SourceParameter& one : kernel.parameters) names.push_back(one.name);
    return names;
  }

  template <class Visit>
  void for_each_buffer(const ArgumentDeclaration& argument, Visit visit) const {
    for (const ArgumentDeclaration& field : argument.fields) for_each_buffer(field, visit);
    const auto found = std::ranges::find(kernel_.buffers, argument.name, &BufferDeclaration::name);
    if (!argument.name.empty() && found != kernel_.buffers.end())
      visit(static_cast<size_t>(found - kernel_.buffers.begin()));
  }

  JsonReader& read_;
  const Kernel& kernel_;
  CudaSource source_;
  std::vector<bool> written_;  // by buffer: it has contents
};

}  // namespace

void read_program(JsonReader& read, Kernel& kernel) {
  for (const char* key : {"entry", "launch", "args", "shared_map"})
    if (read.has(key)) read.fault(key, "belongs in each entry of \"launches\"", "Move it there.");
  const Json* list = array_at(read, kProgramKey, kMaxSteps);
  if (!list || read.failed()) return;
  // The launch's parts are read into one kernel with the same names; its texts are not copied for each.
  Kernel names;
  names.knobs = kernel.knobs;
  names.sizes = kernel.sizes;
  names.buffers = kernel.buffers;
  for (size_t i = 0; i < list->size() && !read.failed(); ++i)
    kernel.steps.push_back(step_at(read, (*list)[i], i, names));
  const auto first = std::ranges::find(kernel.steps, ProgramStep::Kind::launch, &ProgramStep::kind);
  if (read.failed()) return;
  if (first == kernel.steps.end())
    return read.fault(kProgramKey, "launches no kernel",
                      "Add {\"entry\": …, \"grid\": […], \"block\": […], \"args\": […]}.");
  kernel.entry = first->entry;
  kernel.launch = first->launch;
  kernel.shared_map = first->shared_map;
  kernel.arguments = first->arguments;
  Order(read, kernel).check();
}

}  // namespace attnscope::catalog
