#include "catalog/program_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "catalog/element_types.h"
#include "catalog/import_launch.h"
#include "catalog/import_values.h"
#include "catalog/number_literal.h"
#include "core/escape.h"

namespace attnscope::catalog {

using OrderedJson = nlohmann::ordered_json;

// How a note of it begins.
std::string ProgramSteps::said_at(const ProgramPart& part) const {
  return fmt::format("{} ({}): ", part.name, places_.place(part.at));
}

std::string ProgramSteps::name_of(const ProgramPart& part, size_t argument) const {
  return argument < part.arguments.size() ? program_.pointer(part.arguments[argument], part.at).name : "";
}

Result<void> ProgramSteps::add(const ProgramPart& part, bool after) {
  scope_.templates.clear();
  scope_.used_at = part.at;
  switch (part.kind) {
    case ProgramPart::Kind::launch:
      return add_launch(*std::ranges::find(launches_, &part, &ProgramLaunch::part));
    case ProgramPart::Kind::memset: {
      if (!knows(part, 0) || after) return {};
      const auto byte = scope_.number_of(part.arguments[1]);
      if (!byte)
        return places_.refuse(part.at, "the value of a memset, " + one_line(part.arguments[1]) + ", is not known");
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
Result<void> ProgramSteps::whole_buffer(const ProgramPart& part, size_t argument) {
  const auto length = buffers_.bytes_now(name_of(part, argument));
  const std::string said = scope_.in_terms(HostText{part.arguments[2], part.at});
  const auto bytes = scope_.now_of(said);
  if (length && bytes && *bytes != *length)
    return places_.refuse(
        part.at, fmt::format("{} is of {} of the {} bytes of {}", part.name, *bytes, *length, name_of(part, argument)));
  if (!length || !bytes)
    imported_.guessed.push_back(
        fmt::format("{} ({}) is of all of {}", part.name, places_.place(part.at), name_of(part, argument)));
  return {};
}

Result<void> ProgramSteps::add_launch(const ProgramLaunch& one) {
  one.enter(scope_);
  const SourceKernel& kernel = *one.part->kernel;
  OrderedJson arguments = OrderedJson::array();
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    auto argument = argument_of(one, i);
    if (!argument) return fail(argument.error());
    arguments.push_back(std::move(*argument));
  }
  Imported said;
  const ImportedShape shape = import_shape(source_, kernel, one.part->launch, sizes_.names(), nullptr, scope_, said);
  const std::string prefix = said_at(*one.part);
  for (const std::string& text : said.read) imported_.read.push_back(prefix + text);
  for (const std::string& text : said.guessed) imported_.guessed.push_back(prefix + text);
  OrderedJson step{{"entry", one.entry}, {"grid", shape.grid}, {"block", shape.block}};
  if (!shape.shared.empty()) step["dynamic_shared"] = shape.shared;
  if (shape.cooperative) step["cooperative"] = true;
  step["args"] = std::move(arguments);
  steps_.push_back(std::move(step));
  return {};
}

Result<OrderedJson> ProgramSteps::argument_of(const ProgramLaunch& one, size_t index) {
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
    return places_.refuse(one.part->at, fmt::format("{} gets a {} by value, which import passes only to one kernel",
                                                    one.part->name, one_line(parameter.type)));
  scope_.take_guessed();
  if (const auto literal = literal_value(text, element->type)) {
    imported_.read.push_back(said_at(*one.part) + fmt::format("{} is {}", parameter.name, without_suffix(text)));
    return OrderedJson{{"value", *literal}, {"type", word_of(element->type)}};
  }
  std::string formula = is_floating(element->type) ? "" : scope_.in_terms(HostText{text, one.part->at});
  if (sizes_.values().contains(formula)) return OrderedJson(formula);
  if (formula.empty()) {
    const auto passed = passed_number(HostText{text, one.part->at}, element->type, scope_);
    OrderedJson argument = value_argument(passed ? passed->number : 1, element->type);
    const std::string value = argument["value"].dump();
    if (passed && !passed->guessed)
      imported_.read.push_back(said_at(*one.part) + fmt::format("{} is {}", parameter.name, value));
    else
      imported_.guessed.push_back(said_at(*one.part) +
                                  fmt::format("{} is passed as {}: {}", parameter.name, value, one_line(text)));
    return argument;
  }
  if (scope_.take_guessed())
    imported_.guessed.push_back(said_at(*one.part) + fmt::format("{} is {}", parameter.name, formula));
  return OrderedJson{{"value", formula}, {"type", word_of(element->type)}};
}

// {"buffer", "offset"}. The offset, in elements, must be known to be within the buffer.
Result<OrderedJson> ProgramSteps::address_of(const ProgramLaunch& one, const HostPointer& pointer,
                                             const SourceParameter& parameter, const std::string& text) {
  const std::string which =
      fmt::format("{} gets {}, an address within {}", one.part->name, one_line(text), pointer.name);
  const auto elements = buffers_.elements_for(pointer.name, parameter);
  if (!elements)
    return places_.refuse(one.part->at, which + ", whose elements are not known or are of another type there");
  scope_.take_guessed();
  std::string formula;
  for (const HostText& offset : pointer.offsets) {
    const std::string term = scope_.in_terms(offset);
    if (term.empty())
      return places_.refuse(one.part->at, fmt::format("{}: {} is not known", which, one_line(offset.text)));
    formula += (formula.empty() ? "" : " + ") + (pointer.offsets.size() > 1 ? "(" + term + ")" : term);
  }
  const auto now = scope_.now_of(formula);
  if (!now || *now > *elements) return places_.refuse(one.part->at, which + ", past its end");
  const std::string said = said_at(*one.part) + fmt::format("{} is element {} of {}", parameter.name, formula,
                                                            buffers_.manifest_name(pointer.name));
  (scope_.take_guessed() ? imported_.guessed : imported_.read).push_back(said);
  return OrderedJson{{"buffer", buffers_.manifest_name(pointer.name)}, {"offset", formula}};
}

}  // namespace attnscope::catalog
