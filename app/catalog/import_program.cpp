#include "catalog/import_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "catalog/device_variables.h"
#include "catalog/element_types.h"
#include "catalog/import_constants.h"
#include "catalog/import_knobs.h"
#include "catalog/import_launch.h"
#include "catalog/import_values.h"
#include "catalog/manifest_text.h"
#include "catalog/number_literal.h"
#include "catalog/program_buffers.h"
#include "catalog/program_sizes.h"
#include "catalog/stand_in_size.h"
#include "catalog/template_arguments.h"
#include "core/escape.h"
#include "core/joined.h"
#include "core/source_lines.h"

namespace attnscope::catalog {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMostSteps = 64;    // a manifest accepts no more
constexpr size_t kMostBuffers = 64;  // nor more of these
constexpr int kMostCallers = 3;      // functions around the one that launches
constexpr const char* kWayOn =
    "Write its steps into \"launches\" of a manifest (docs/writing-a-kernel.md, Several launches), or import one "
    "kernel with --entry NAME.";

class ProgramImporter {
 public:
  ProgramImporter(const std::string& source_name, const ReadSource& source, const HostFunction& function)
      : source_name_(source_name),
        source_(source),
        lines_(source_name, source.text),
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
    for (const ProgramPart& part : program_.parts())
      if (auto done = add_step(part); !done) return fail(done.error());
    if (steps_.size() > kMostSteps) return too_many(steps_.size());
    write();
    return std::move(result_);
  }

 private:
  std::string place(size_t at) const {
    const auto before = std::string_view(source_.text).substr(0, at);
    const SourcePlace place = lines_.place_of(1 + std::ranges::count(before, '\n'));
    return fmt::format("{}:{}", place.file, place.line);
  }

  tl::unexpected<Failure> refuse(const ProgramPart& part, const std::string& what) const {
    return refuse(part.at, what);
  }
  tl::unexpected<Failure> refuse(size_t at, const std::string& what) const {
    return fail(Stage::input,
                fmt::format("{}: {} launches several kernels, but {} ({})", source_name_, program_.function().name,
                            what, place(at)),
                kWayOn);
  }

  tl::unexpected<Failure> too_many(size_t steps) const {
    return fail(Stage::input,
                fmt::format("{}: {} takes {} steps; a manifest has at most {}", source_name_, program_.function().name,
                            steps, kMostSteps),
                kWayOn);
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
    if (program_.cut()) return refuse(program_.function().begin, "it has too many calls to follow");
    if (program_.launches() == 0)
      return fail(Stage::input, fmt::format("{}: {} launches no kernel", source_name_, program_.function().name),
                  "Name a function that does, or a kernel with --entry.");
    for (const ProgramPart& part : program_.parts()) {
      if (part.kind != ProgramPart::Kind::launch) continue;
      const std::string what = part.launch ? "the launch of " + part.name : "what it calls";
      if (!part.unclear.empty()) return refuse(part, fmt::format("{} is in {}", what, part.unclear));
      if (!part.kernel) return refuse(part, fmt::format("{} is not defined in the file", part.name));
      if (part.launch->arguments.size() != part.kernel->parameters.size())
        return refuse(part, fmt::format("{} gets {} arguments and has {} parameters", part.name,
                                        part.launch->arguments.size(), part.kernel->parameters.size()));
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
    result_.guessed.push_back(fmt::format("{} ({}): {}", launch.part->name, place(launch.part->at), text));
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
          return refuse(*one.part, fmt::format("{} gets {}, which is not a whole buffer", kernel.name, one_line(text)));
        if (!buffers_.add(pointer, kernel.parameters[i]))
          return refuse(*one.part, fmt::format("{}'s parameter {} points to {}", kernel.name, kernel.parameters[i].name,
                                               one_line(kernel.parameters[i].type)));
      }
    }
    for (const ProgramPart& part : program_.parts())
      if (part.kind == ProgramPart::Kind::copy)
        buffers_.add_copied(program_.pointer(part.arguments[1], part.at), program_.pointer(part.arguments[0], part.at));
    if (buffers_.count() > kMostBuffers)
      return refuse(program_.function().begin, fmt::format("they get more than {} buffers", kMostBuffers));
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

  Result<void> add_step(const ProgramPart& part) {
    scope_.templates.clear();
    scope_.used_at = part.at;
    const bool after = &part > &program_.parts()[span().second];
    switch (part.kind) {
      case ProgramPart::Kind::launch:
        return add_launch(*std::ranges::find(launches_, &part, &ProgramLaunch::part));
      case ProgramPart::Kind::memset: {
        if (!knows(part, 0) || after) return {};
        const auto byte = scope_.number_of(part.arguments[1]);
        if (!byte) return refuse(part, "the value of a memset, " + one_line(part.arguments[1]) + ", is not known");
        if (auto whole = whole_buffer(part, 0); !whole) return whole;
        steps_.push_back(OrderedJson{{"memset", buffers_.manifest_name(name_of(part, 0))}, {"byte", *byte & 0xff}});
        return {};
      }
      case ProgramPart::Kind::copy: {
        if (!knows(part, 0) || !knows(part, 1)) return {};
        for (const size_t argument : {0, 1})
          if (auto whole = whole_buffer(part, argument); !whole) return whole;
        steps_.push_back(OrderedJson{{"copy", OrderedJson::array({buffers_.manifest_name(name_of(part, 1)),
                                                                  buffers_.manifest_name(name_of(part, 0))})}});
        return {};
      }
      case ProgramPart::Kind::upload:
      case ProgramPart::Kind::call:
        return {};
    }
    return {};
  }

  // A manifest's memset or copy covers a whole buffer.
  Result<void> whole_buffer(const ProgramPart& part, size_t argument) {
    const auto length = buffers_.bytes_now(name_of(part, argument));
    const std::string said = scope_.in_terms(HostText{part.arguments[2], part.at});
    const auto bytes = scope_.now_of(said);
    if (length && bytes && *bytes != *length)
      return refuse(
          part, fmt::format("{} is of {} of the {} bytes of {}", part.name, *bytes, *length, name_of(part, argument)));
    if (!length || !bytes)
      result_.guessed.push_back(
          fmt::format("{} ({}) is of all of {}", part.name, place(part.at), name_of(part, argument)));
    return {};
  }

  Result<void> add_launch(const ProgramLaunch& one) {
    use(one);
    const SourceKernel& kernel = *one.part->kernel;
    OrderedJson arguments = OrderedJson::array();
    for (size_t i = 0; i < kernel.parameters.size(); ++i) {
      auto argument = argument_of(one, i);
      if (!argument) return fail(argument.error());
      arguments.push_back(std::move(*argument));
    }
    Imported said;
    const ImportedShape shape = import_shape(source_, kernel, one.part->launch, sizes_.names(), nullptr, scope_, said);
    const std::string prefix = fmt::format("{} ({}): ", one.part->name, place(one.part->at));
    for (const std::string& text : said.read) result_.read.push_back(prefix + text);
    for (const std::string& text : said.guessed) result_.guessed.push_back(prefix + text);
    OrderedJson step{{"entry", one.entry}, {"grid", shape.grid}, {"block", shape.block}};
    if (!shape.shared.empty()) step["dynamic_shared"] = shape.shared;
    step["args"] = std::move(arguments);
    steps_.push_back(std::move(step));
    return {};
  }

  Result<OrderedJson> argument_of(const ProgramLaunch& one, size_t index) {
    const SourceParameter& parameter = one.part->kernel->parameters[index];
    const std::string& text = one.part->launch->arguments[index];
    if (parameter.pointer) {
      const HostPointer pointer = program_.address(text, one.part->at);
      if (pointer.null) return OrderedJson{{"value", 0}, {"type", word_of(ElementType::i64)}};
      if (!pointer.offsets.empty()) return address_of(one, pointer, parameter, text);
      return OrderedJson(buffers_.manifest_name(pointer.name));
    }
    const auto element = element_of(scope_.resolved_type(parameter.type));
    if (!element || element->lanes != 1)
      return refuse(*one.part, fmt::format("{} gets a {} by value, which import passes only to one kernel",
                                           one.part->name, one_line(parameter.type)));
    scope_.take_guessed();
    if (const auto literal = literal_value(text, element->type)) {
      result_.read.push_back(
          fmt::format("{} ({}): {} is {}", one.part->name, place(one.part->at), parameter.name, without_suffix(text)));
      return OrderedJson{{"value", *literal}, {"type", word_of(element->type)}};
    }
    std::string formula = is_floating(element->type) ? "" : scope_.in_terms(HostText{text, one.part->at});
    if (sizes_.values().contains(formula)) return OrderedJson(formula);
    if (formula.empty()) {
      const auto number = scope_.number_of(text);
      formula = number ? std::to_string(*number) : "1";
      if (!number || scope_.take_guessed())
        guess(one, fmt::format("{} is passed as {}: {}", parameter.name, formula, one_line(text)));
    } else if (scope_.take_guessed()) {
      guess(one, fmt::format("{} is {}", parameter.name, formula));
    }
    return OrderedJson{{"value", formula}, {"type", word_of(element->type)}};
  }

  // {"buffer", "offset"}. The offset, in elements, must be known to be within the buffer.
  Result<OrderedJson> address_of(const ProgramLaunch& one, const HostPointer& pointer, const SourceParameter& parameter,
                                 const std::string& text) {
    const std::string which =
        fmt::format("{} gets {}, an address within {}", one.part->name, one_line(text), pointer.name);
    const auto elements = buffers_.elements_for(pointer.name, parameter);
    if (!elements) return refuse(*one.part, which + ", whose elements are not known or are of another type there");
    scope_.take_guessed();
    std::string formula;
    for (const HostText& offset : pointer.offsets) {
      const std::string term = scope_.in_terms(offset);
      if (term.empty()) return refuse(*one.part, fmt::format("{}: {} is not known", which, one_line(offset.text)));
      formula += (formula.empty() ? "" : " + ") + (pointer.offsets.size() > 1 ? "(" + term + ")" : term);
    }
    const auto now = scope_.now_of(formula);
    if (!now || *now > *elements) return refuse(*one.part, which + ", past its end");
    const std::string said = fmt::format("{} ({}): {} is element {} of {}", one.part->name, place(one.part->at),
                                         parameter.name, formula, buffers_.manifest_name(pointer.name));
    (scope_.take_guessed() ? result_.guessed : result_.read).push_back(said);
    return OrderedJson{{"buffer", buffers_.manifest_name(pointer.name)}, {"offset", formula}};
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
    json["launches"] = std::move(steps_);
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
  const SourceLines lines_;
  HostScope scope_;
  const HostProgram program_;
  Imported result_;
  ProgramBuffers buffers_;
  std::vector<ProgramLaunch> launches_;
  ProgramSizes sizes_{source_, program_, launches_, scope_, result_};
  OrderedJson knobs_, steps_ = OrderedJson::array();
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
