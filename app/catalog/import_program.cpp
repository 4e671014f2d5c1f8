#include "catalog/import_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "catalog/address_parts.h"
#include "catalog/device_variables.h"
#include "catalog/import_constants.h"
#include "catalog/import_knobs.h"
#include "catalog/manifest_text.h"
#include "catalog/program_buffers.h"
#include "catalog/program_places.h"
#include "catalog/program_sizes.h"
#include "catalog/program_steps.h"
#include "catalog/stand_in_size.h"
#include "catalog/template_arguments.h"
#include "core/escape.h"
#include "core/joined.h"

namespace attnscope::catalog {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMostSteps = 64;    // a manifest accepts no more
constexpr size_t kMostBuffers = 64;  // nor more of these
constexpr int kMostCallers = 3;      // functions around the one that launches

class ProgramImporter {
 public:
  ProgramImporter(const std::string& source_name, const ReadSource& source, const HostFunction& function)
      : source_name_(source_name),
        source_(source),
        scope_(source.cuda, source.host),
        program_(source, scope_, function),
        buffers_(program_, source, scope_, result_) {}

  Result<Imported> import(const std::string& id) {
    result_.id = id;
    result_.entry = program_.function().name;
    if (auto clear = check(); !clear) return fail(clear.error());
    if (auto done = instantiate(); !done) return fail(done.error());
    std::vector<const SourceKernel*> kernels;
    for (const ProgramLaunch& one : launches_) kernels.push_back(one.part->kernel);
    knobs_ = import_knobs(source_.cuda, kernels, scope_, result_);
    sizes_.find();
    if (auto done = find_buffers(); !done) return fail(done.error());
    const ProgramPart* const last = &program_.parts()[span().second];
    for (const ProgramPart& part : program_.parts())
      if (auto done = steps_.add(part, &part > last); !done) return fail(done.error());
    if (steps_.count() > kMostSteps) return too_many(steps_.count());
    write();
    return std::move(result_);
  }

 private:
  tl::unexpected<Failure> refuse(const ProgramPart& part, const std::string& what) const {
    return places_.refuse(part.at, what);
  }

  tl::unexpected<Failure> too_many(size_t steps) const {
    return fail(Stage::input,
                fmt::format("{}: {} takes {} steps; a manifest has at most {}", source_name_, program_.function().name,
                            steps, kMostSteps),
                kProgramWayOn);
  }

  // The first and the last launch.
  std::pair<size_t, size_t> span() const {
    std::pair<size_t, size_t> found{SIZE_MAX, 0};
    for (size_t i = 0; i < program_.parts().size(); ++i)
      if (program_.parts()[i].kind == ProgramPart::Kind::launch) found = {std::min(found.first, i), i};
    return found;
  }

  Result<void> check() {
    if (program_.launches() > kMostSteps) return too_many(program_.launches());
    if (program_.cut()) return places_.refuse(program_.function().begin, "it has too many calls to follow");
    if (program_.launches() == 0)
      return fail(Stage::input, fmt::format("{}: {} launches no kernel", source_name_, program_.function().name),
                  "Name a function that does, or a kernel with --entry.");
    for (const ProgramPart& part : program_.parts()) {
      if (part.kind != ProgramPart::Kind::launch) continue;
      const std::string what = part.launch ? "the launch of " + part.name : "what it calls";
      if (!part.unclear.empty()) return refuse(part, fmt::format("{} is in {}", what, part.unclear));
      if (!part.kernel) return refuse(part, fmt::format("{} is not defined in the file", part.name));
      if (part.launch->arguments.size() != part.kernel->parameters.size())
        return refuse(
            part, fmt::format("{} gets {} and has {}", part.name, how_many(part.launch->arguments.size(), "argument"),
                              how_many(part.kernel->parameters.size(), "parameter")));
      launches_.push_back({&part, part.kernel->name, {}});
    }
    std::vector<std::string_view> bodies;
    for (const ProgramLaunch& one : launches_)
      bodies.push_back(std::string_view(source_.text)
                           .substr(one.part->kernel->body, one.part->kernel->end - one.part->kernel->body));
    if (const auto shared = shared_variable(source_.text, bodies))
      return refuse(
          *launches_[shared->second].part,
          fmt::format("{} and {} share the __device__ variable {}, which each launch has of its own",
                      launches_[shared->first].part->name, launches_[shared->second].part->name, shared->name));
    return {};
  }

  Result<void> instantiate() {
    for (ProgramLaunch& one : launches_) {
      const SourceKernel& kernel = *one.part->kernel;
      if (kernel.template_parameters.empty()) continue;
      use(one);
      const auto offer = split_arguments(one.part->launch->template_arguments);
      const auto found = template_arguments(kernel, offer, false, true, scope_);
      if (!found)
        return refuse(*one.part, fmt::format("the template arguments of {} depend on the code around it", kernel.name));
      one.templates = found->by_name;
      one.entry += "<" + joined(found->values) + ">";
      if (found->guessed) guess(one, "the template's arguments: <" + joined(found->values) + ">");
    }
    return {};
  }

  void use(const ProgramLaunch& launch) { launch.enter(scope_); }

  void guess(const ProgramLaunch& launch, const std::string& text) {
    result_.guessed.push_back(fmt::format("{} ({}): {}", launch.part->name, places_.place(launch.part->at), text));
  }

  Result<void> find_buffers() {
    for (const ProgramLaunch& one : launches_) {
      use(one);
      const SourceKernel& kernel = *one.part->kernel;
      for (size_t i = 0; i < kernel.parameters.size(); ++i) {
        if (!kernel.parameters[i].pointer) continue;
        const std::string& text = one.part->launch->arguments[i];
        const HostPointer pointer = program_.address(text, one.part->at);
        if (pointer.null) continue;
        if (pointer.name.empty())
          return refuse(*one.part,
                        fmt::format("{} gets {}, {}", kernel.name, one_line(text),
                                    is_address_before(text) ? kAddressBefore : "which is not a whole buffer"));
        if (!buffers_.add(pointer, kernel.parameters[i]))
          return refuse(*one.part, fmt::format("{}'s parameter {} points to {}", kernel.name, kernel.parameters[i].name,
                                               one_line(kernel.parameters[i].type)));
      }
    }
    for (const ProgramPart& part : program_.parts())
      if (part.kind == ProgramPart::Kind::copy)
        buffers_.add_copied(program_.pointer(part.arguments[1], part.at), program_.pointer(part.arguments[0], part.at));
    if (buffers_.count() > kMostBuffers)
      return places_.refuse(program_.function().begin, fmt::format("they get more than {} buffers", kMostBuffers));
    scope_.templates.clear();
    if (auto done = check_between(); !done) return fail(done.error());
    const size_t last = span().second;
    for (size_t i = 0; i < program_.parts().size(); ++i) follow_uses(program_.parts()[i], i > last);
    buffers_.finish(sizes_.names(), [&](const std::string& name) { return scope_.kept.contains(name); });
    return {};
  }

  // Goes through the parts in the order in which they run, which shows what is written first.
  void follow_uses(const ProgramPart& part, bool after) {
    if (part.kind == ProgramPart::Kind::memset && after) return;  // not a step
    if (part.kind == ProgramPart::Kind::copy && knows(part, 0) && knows(part, 1)) buffers_.read(name_of(part, 1));
    if (part.kind == ProgramPart::Kind::copy || part.kind == ProgramPart::Kind::memset)
      buffers_.written(name_of(part, 0), part.kind == ProgramPart::Kind::copy);
    if (!part.kernel) return;
    std::vector<std::pair<std::string, PointerUse>> used;
    for (size_t i = 0; i < part.kernel->parameters.size(); ++i)
      if (part.kernel->parameters[i].pointer) used.push_back(use_in(part, i));
    buffers_.launched(used);
  }

  // What a launch does with the buffer of its argument. A store to part of a buffer does not count as writing all of
  // it.
  std::pair<std::string, PointerUse> use_in(const ProgramPart& part, size_t argument) const {
    const HostPointer pointer = program_.address(part.launch->arguments[argument], part.at);
    PointerUse use = program_.use(*part.kernel, part.kernel->parameters[argument]);
    use.passed_on = use.passed_on || (use.stored && !pointer.offsets.empty());
    return {pointer.name, use};
  }

  std::string name_of(const ProgramPart& part, size_t argument) const {
    return argument < part.arguments.size() ? program_.pointer(part.arguments[argument], part.at).name : "";
  }
  bool knows(const ProgramPart& part, size_t argument) const { return buffers_.has(name_of(part, argument)); }

  // The buffer that an argument is, or may be, a part of.
  std::string buffer_within(const ProgramPart& part, size_t argument) const {
    const bool length = part.kind != ProgramPart::Kind::call && argument >= 2;
    if (length || !name_of(part, argument).empty()) return {};
    for (const std::string& name : program_.within(part.arguments[argument], part.at))
      if (buffers_.has(name)) return name;
    return {};
  }

  // Checks what the host does with the buffers between the launches, other than memsets and whole copies.
  Result<void> check_between() const {
    const auto [first, last] = span();
    for (size_t i = 0; i < program_.parts().size(); ++i) {
      const ProgramPart& part = program_.parts()[i];
      const bool step = part.kind == ProgramPart::Kind::memset || part.kind == ProgramPart::Kind::copy;
      if (part.kind == ProgramPart::Kind::launch || (i < first && !step) || i > last) continue;
      for (size_t k = 0; k < part.arguments.size(); ++k) {
        if (part.kind == ProgramPart::Kind::upload && k > 0) continue;
        if (const std::string whole = buffer_within(part, k); !whole.empty())
          return refuse(part, fmt::format("{} gets an address within {}", part.name, whole));
        if (!knows(part, k)) continue;
        if (part.kind == ProgramPart::Kind::call)
          return refuse(part, fmt::format("{} gets {} between them", part.name, name_of(part, k)));
        if (part.kind == ProgramPart::Kind::upload)
          return refuse(part, fmt::format("the host copies to {} between them", name_of(part, k)));
        if (!part.unclear.empty())
          return refuse(part, fmt::format("{} of {} is in {}", part.name, name_of(part, k), part.unclear));
      }
    }
    return {};
  }

  void write() {
    OrderedJson json{{"id", result_.id},       {"title", one_line(result_.entry + " of " + source_name_)},
                     {"source", source_name_}, {"story", ""},
                     {"problem", "custom"},    {"sizes", OrderedJson::object()},
                     {"knobs", knobs_}};
    for (const auto& [name, value] : sizes_.values()) json["sizes"][name] = value;
    if (includes_cutlass(source_.cuda)) {
      json["headers"] = OrderedJson::array({"cutlass"});
      result_.read.push_back("it includes CUTLASS' headers");
    }
    json["buffers"] = buffers_.json();
    import_constants(source_, scope_, json["buffers"], result_);
    json["launches"] = steps_.take();
    json["reference"] = "none";
    drop_stand_in(json, result_);
    std::vector<std::string> names;
    for (const ProgramLaunch& one : launches_) names.push_back(one.part->name);
    result_.read.insert(result_.read.begin(),
                        fmt::format("{} launches {} kernels in order: {}", result_.entry, names.size(), joined(names)));
    result_.manifest = manifest_text(json);
  }

  const std::string& source_name_;
  const ReadSource& source_;
  HostScope scope_;
  const HostProgram program_;
  const ProgramPlaces places_{source_name_, source_, program_.function().name};
  Imported result_;
  ProgramBuffers buffers_;
  std::vector<ProgramLaunch> launches_;
  ProgramSizes sizes_{source_, program_, launches_, scope_, result_};
  ProgramSteps steps_{source_, program_, launches_, sizes_, buffers_, places_, scope_, result_};
  OrderedJson knobs_;
};

}  // namespace

Result<Imported> import_program(const std::string& source_name, const ReadSource& source, const HostFunction& function,
                                const std::string& id) {
  return ProgramImporter(source_name, source, function).import(id);
}

const HostFunction* program_around(const ReadSource& source, const HostScope& scope, size_t at) {
  const HostFunction* function = source.host.function_at(at);
  for (int depth = 0; function && depth < kMostCallers; ++depth) {
    if (HostProgram(source, scope, *function).hands_on(depth > 0)) return function;
    function = source.host.first_caller(*function);
  }
  return nullptr;
}

}  // namespace attnscope::catalog
