#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catalog/element_types.h"
#include "catalog/host_program.h"
#include "catalog/import.h"

namespace attnscope::catalog {

// The buffers of an imported program: one for each pointer of the host code. Its role follows from what the launches do
// with it in order, and from what the host copies.
class ProgramBuffers {
 public:
  ProgramBuffers(const HostProgram& program, const ReadSource& source, const HostScope& scope, Imported& imported)
      : program_(program), source_(source), scope_(scope), imported_(imported) {}

  // A kernel gets the pointer as its parameter. Returns false if what the parameter points to cannot be a buffer.
  bool add(const HostPointer& pointer, const SourceParameter& parameter);
  // The host copies between two pointers, one of which a kernel gets.
  void add_copied(const HostPointer& from, const HostPointer& to);
  bool has(const std::string& name) const { return buffers_.contains(name); }
  size_t count() const { return buffers_.size(); }
  // The number of the buffer's elements if the parameter points to that type; empty if it does not, or if the number is
  // unknown.
  std::optional<int64_t> elements_for(const std::string& name, const SourceParameter& parameter) const;

  // Report the steps' actions, in order. Names that are not buffers are ignored. `certain`: all of the buffer is
  // written, so its earlier content is not read.
  void written(const std::string& name, bool certain);
  void read(const std::string& name);
  void launched(const std::vector<std::pair<std::string, PointerUse>>& uses);

  // Decides names, lengths and roles. `taken` returns true for names that sizes and knobs have.
  void finish(const std::vector<std::string>& size_names, const std::function<bool(const std::string&)>& taken);
  std::string manifest_name(const std::string& name) const { return buffers_.at(name).manifest; }
  // The bytes that the host code allocates at the default sizes; empty if it does not say.
  std::optional<int64_t> bytes_now(const std::string& name) const;
  nlohmann::ordered_json json() const;

 private:
  enum class First { none, read, written };
  struct Buffer {
    HostPointer pointer;
    ElementOf element;
    std::string manifest, elements;  // elements: as allocated, or empty
    std::vector<std::string> shape;
    First first = First::none;
    bool maybe_read = false;    // the first use may be a read
    bool loaded_first = false;  // by the first launch's text
    bool scattered = false, is_written = false;
    bool read_later = false;  // what was written last is read later
    size_t last_written = 0;  // a higher number is later
    HostProgram::Contents contents;
    std::string role;
    nlohmann::ordered_json init;  // null: none
  };
  void decide(Buffer& buffer, bool any_downloaded);
  void give_role(Buffer& buffer, bool read, BufferRole role, const nlohmann::ordered_json& init,
                 const std::string& why);

  const HostProgram& program_;
  const ReadSource& source_;
  const HostScope& scope_;
  Imported& imported_;
  std::map<std::string, Buffer> buffers_;
  std::vector<std::string> order_;  // in the order in which the launches name them
  size_t writes_ = 0;
};

}  // namespace attnscope::catalog
