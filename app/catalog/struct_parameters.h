#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "catalog/host_scope.h"
#include "catalog/import.h"
#include "catalog/read_source.h"
#include "catalog/struct_layout.h"

namespace attnscope::catalog {

// The parameters of one kernel that are plain structs by value. While the kernel is read, each member is a parameter of
// its own: `p.rows` becomes p_rows in the kernel's text and where the launching function reads it. Both are equally
// long, so that all places in the source stay what they are.
class StructParameters {
 public:
  // Puts the members in place of the structs: in the kernel's parameters, in the launch's arguments and in the text.
  // What the host code gives a member is what p_rows is worth at the launch. `kernel` and `launch` are indices in
  // source.cuda; SIZE_MAX: no launch. False: nothing is changed, because there is no such parameter.
  bool put_members_in(ReadSource& source, size_t kernel, size_t launch, const HostScope& scope);

  // The arguments of all members, with the structs put together again as C++ lays them out. Places of open values, and
  // what is said, follow.
  nlohmann::ordered_json put_together(const nlohmann::ordered_json& of_members, Imported& imported) const;

 private:
  struct Struct {
    std::string name;  // of the parameter
    std::vector<SourceParameter> members;
    std::vector<StructLeaf> leaves;
    size_t bytes = 0;
  };
  std::vector<std::optional<Struct>> structs_;  // by parameter of the kernel
};

}  // namespace attnscope::catalog
