#include "catalog/program_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "catalog/allocated.h"
#include "catalog/manifest_text.h"
#include "core/joined.h"

namespace attnscope::catalog {

bool ProgramBuffers::add(const HostPointer& pointer, const SourceParameter& parameter) {
  const std::string type = scope_.resolved_type(parameter.type);
  const auto element = type == "void" ? std::optional(ElementOf{}) : element_of(type);
  if (!element) return false;
  const auto [found, fresh] = buffers_.try_emplace(pointer.name);
  if (!fresh) return true;
  found->second.pointer = pointer;
  found->second.element = *element;
  order_.push_back(pointer.name);
  if (type == "void") imported_.guessed.push_back(pointer.name + " points to floats: its type does not say");
  return true;
}

void ProgramBuffers::add_copied(const HostPointer& from, const HostPointer& to) {
  if (from.name.empty() || to.name.empty() || has(from.name) == has(to.name)) return;
  const HostPointer& other = has(from.name) ? to : from;
  const ElementOf element = buffers_.at(has(from.name) ? from.name : to.name).element;
  Buffer& buffer = buffers_[other.name];
  buffer.pointer = other;
  buffer.element = element;
  order_.push_back(other.name);
}

void ProgramBuffers::written(const std::string& name, bool certain) {
  const auto found = buffers_.find(name);
  if (found == buffers_.end()) return;
  if (found->second.first == First::none) found->second.first = First::written;
  found->second.is_written = true;
  found->second.read_later = found->second.read_later && !certain;
  found->second.last_written = ++writes_;
}

void ProgramBuffers::read(const std::string& name) {
  const auto found = buffers_.find(name);
  if (found == buffers_.end()) return;
  if (found->second.first == First::none) found->second.first = First::read;
  found->second.read_later = found->second.is_written;
}

void ProgramBuffers::launched(const std::vector<std::pair<std::string, PointerUse>>& uses) {
  for (const auto& [name, use] : uses) {
    const auto found = buffers_.find(name);
    if (found == buffers_.end() || !(use.read || use.passed_on)) continue;
    Buffer& buffer = found->second;
    if (buffer.first == First::none) buffer.maybe_read = !use.read, buffer.loaded_first = use.loaded_first;
    read(name);
  }
  for (const auto& [name, use] : uses) {
    const auto found = buffers_.find(name);
    if (found == buffers_.end() || !(use.stored || use.passed_on)) continue;
    if (found->second.first == First::none) found->second.scattered = use.scattered;
    written(name, use.stored && !use.passed_on && !use.scattered);
  }
}

std::optional<int64_t> ProgramBuffers::bytes_now(const std::string& name) const {
  const Buffer& buffer = buffers_.at(name);
  if (buffer.elements.empty()) return std::nullopt;
  const auto count = scope_.now_of(buffer.elements);
  if (!count) return std::nullopt;
  return *count * buffer.element.lanes * static_cast<int64_t>(bytes_of(buffer.element.type));
}

std::optional<int64_t> ProgramBuffers::elements_for(const std::string& name, const SourceParameter& parameter) const {
  const Buffer& buffer = buffers_.at(name);
  const auto element = element_of(scope_.resolved_type(parameter.type));
  if (!element || element->type != buffer.element.type || element->lanes != 1 || buffer.element.lanes != 1)
    return std::nullopt;
  return buffer.elements.empty() ? std::nullopt : scope_.now_of(buffer.elements);
}

void ProgramBuffers::finish(const std::vector<std::string>& size_names,
                            const std::function<bool(const std::string&)>& taken) {
  bool any_downloaded = false;
  std::set<std::string> given;  // names
  for (const std::string& name : order_) {
    Buffer& buffer = buffers_.at(name);
    buffer.manifest = name;
    while (taken(buffer.manifest) || !given.insert(buffer.manifest).second) buffer.manifest += "_";
    buffer.contents = program_.contents(buffer.pointer);
    any_downloaded = any_downloaded || buffer.contents.downloaded;
    const int64_t each = static_cast<int64_t>(bytes_of(buffer.element.type)) * buffer.element.lanes;
    buffer.elements = allocated_elements(source_.host, scope_, program_.allocated_as(buffer.pointer), each);
    if (!buffer.elements.empty()) {
      buffer.shape = factors_of(buffer.elements);
      imported_.read.push_back(
          fmt::format("{} has {}, as it is allocated", buffer.manifest, how_many(buffer.elements, "element")));
    } else {
      buffer.shape = scope_.guessed_shape(size_names);
    }
    if (buffer.element.lanes > 1) buffer.shape.push_back(std::to_string(buffer.element.lanes));
    if (buffer.elements.empty()) {
      imported_.guessed.push_back(
          fmt::format("{} has {}", buffer.manifest, elements_of(nlohmann::ordered_json(buffer.shape))));
      imported_.open_lengths[buffer.manifest] = 1;
    }
  }
  for (const std::string& name : order_) decide(buffers_.at(name), any_downloaded);
  if (std::ranges::any_of(buffers_, [](const auto& one) {
        return one.second.role == word_of(BufferRole::out) || one.second.role == word_of(BufferRole::inout);
      }))
    return;
  const auto by_write = [](const auto& a, const auto& b) { return a.second.last_written < b.second.last_written; };
  const auto last = std::ranges::max_element(buffers_, by_write);
  if (last == buffers_.end() || !last->second.is_written) return;
  const std::string before = last->second.manifest + " is a workspace";
  for (auto* const said : {&imported_.read, &imported_.guessed})
    std::erase_if(*said, [&](const std::string& one) { return one.starts_with(before); });
  give_role(last->second, false, BufferRole::inout, "zeros", "taken as the output, since no other buffer is one");
}

void ProgramBuffers::give_role(Buffer& buffer, bool read, BufferRole role, const nlohmann::ordered_json& init,
                               const std::string& why) {
  buffer.role = word_of(role);
  buffer.init = init;
  (read ? imported_.read : imported_.guessed).push_back(buffer.manifest + " is " + why);
}

void ProgramBuffers::decide(Buffer& buffer, bool any_downloaded) {
  const HostProgram::Contents& host = buffer.contents;
  const bool floating = is_floating(buffer.element.type);
  if (!buffer.is_written) {
    if (host.cleared) return give_role(buffer, true, BufferRole::in, "zeros", "an input that the host sets to 0");
    return give_role(buffer, true, BufferRole::in, "random", "an input: no launch writes it");
  }
  const bool own = host.allocated && !host.uploaded && !host.downloaded && !host.cleared;
  const bool handed = host.handed && !host.allocated;
  const bool last = !buffer.read_later && !handed && (!host.allocated || !any_downloaded);
  if (buffer.first == First::read) {
    if (host.cleared)
      return give_role(buffer, true, BufferRole::inout, "zeros", "read and written, and the host sets it to 0 before");
    if (host.uploaded)
      return give_role(buffer, true, BufferRole::inout, "random", "read and written, and the host copies to it before");
    if (own && buffer.maybe_read && !last)
      return give_role(buffer, false, BufferRole::workspace, nullptr,
                       "a workspace that starts unset, unless its first launch reads it");
    nlohmann::ordered_json init = host_contents(source_.host, scope_, program_.allocated_as(buffer.pointer));
    if (init.is_null()) init = floating && buffer.loaded_first ? "random" : "zeros";
    return give_role(buffer, false, BufferRole::inout, init, "read and written, and starts " + start_of(init));
  }
  const bool output = host.downloaded || handed || last;
  if (!output && own) {
    // A buffer in which data chooses the elements is written in part, and read elsewhere.
    return give_role(buffer, true, BufferRole::workspace, buffer.scattered ? nlohmann::ordered_json("zeros") : nullptr,
                     "a workspace: allocated, and neither copied to nor from");
  }
  if (!output)
    return give_role(buffer, host.allocated, BufferRole::workspace, nullptr,
                     "a workspace: a launch writes it first, and the host does not read it");
  if (buffer.scattered)
    return give_role(buffer, false, BufferRole::inout, floating && host.uploaded ? "random" : "zeros",
                     "stored to where the data says so, from zeros");
  const char* why = host.downloaded ? "an output: the host copies it back"
                    : handed        ? "an output: the function's caller gets it"
                                    : "an output: no launch reads it, and no copy to the host is seen";
  give_role(buffer, host.downloaded || handed, BufferRole::out, nullptr, why);
}

nlohmann::ordered_json ProgramBuffers::json() const {
  auto list = nlohmann::ordered_json::array();
  for (const std::string& name : order_) {
    const Buffer& one = buffers_.at(name);
    nlohmann::ordered_json json{
        {"name", one.manifest}, {"role", one.role}, {"dtype", word_of(one.element.type)}, {"shape", one.shape}};
    if (!one.init.is_null()) json["init"] = one.init;
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace attnscope::catalog
