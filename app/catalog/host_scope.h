#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catalog/cuda_source.h"
#include "catalog/host_expression.h"
#include "catalog/host_source.h"

namespace attnscope::catalog {

// What a parameter of the kernel's template is in the chosen instance.
struct TemplateValue {
  std::string value;
  bool guessed = false;
  // The host code means the same by the parameter's name, as in k<N><<<n / N, N>>>.
  bool in_host_code = true;
};

// The meaning of names in host code where the kernel is launched.
class HostScope {
 public:
  HostScope(const CudaSource& source, const HostSource& host) : source_(source), host_(host) {}

  size_t used_at = SIZE_MAX;                       // byte offset of the launch; without one, the end
  std::map<std::string, TemplateValue> templates;  // by parameter
  std::map<std::string, int64_t> kept;             // the manifest's knobs and sizes, with their defaults
  std::map<std::string, int64_t> assumed;          // guesses for names whose value the source does not give

  // The kernel's size `size` has the name `name` at the launch, and the names that the launch's callers pass for it.
  void set_size(const std::string& size, int64_t now, const std::string& name);
  void forget_size(const std::string& size);
  // The products that the launch passes for sizes, such as B * T for rows, stand for the sizes from now on: in the host
  // code where they mean the same. Of N / 2, where it is whole, N is twice the size. By size: what the launch passes.
  void set_products(const std::map<std::string, std::string>& passed);
  // Where each name of the host code gets the value that an answer relied on since the last call: in the source, by
  // name.
  using Names = std::set<std::pair<std::string, size_t>>;
  Names take_names() const { return std::exchange(names_, {}); }
  // What a name that is a size has as its default. The answer relies on it (take_sized).
  std::optional<int64_t> size_now(const std::string& name, size_t at) const;
  bool take_sized() const { return std::exchange(sized_, false); }
  // The value of a whole-number expression; empty if a name in it is unknown.
  std::optional<int64_t> number_of(const std::string& expression) const;
  // Converts a host expression to a manifest's, which may use kept names; empty if that is not possible. `unknown`, if
  // given, gets the first name that prevents it.
  std::string in_terms(const HostText& expression, std::string* unknown = nullptr) const;
  std::string in_terms(const std::string& expression) const { return in_terms(HostText{expression, used_at}); }
  // The value of a manifest's expression over kept names.
  std::optional<int64_t> now_of(const std::string& text) const;
  // True if an answer since the last call relied on a guess: a name of another block, an assumed one, or a template's
  // guessed number.
  bool take_guessed() const { return std::exchange(guessed_, false); }
  // True if a branch is taken; empty if its condition cannot be decided.
  std::optional<bool> taken(const SourceBranch& branch, size_t at) const;
  bool contradicts(const SourceBranch& branch, size_t at) const { return taken(branch, at) == false; }

  // Where a name got the value that it has at `at`; SIZE_MAX: it is a parameter, or has no value.
  size_t definition(const std::string& name, size_t at) const;
  // The name in `function`, which is the caller, of a name in a called function; empty if it is more than a name there.
  HostText in_function(HostText name, const HostFunction& function) const;

  // The text that gives a name its value where it is used at `at`; empty if nothing does.
  HostText meaning(const std::string& name, size_t at) const;

  // A kernel does not see a host constant. It does see a macro, but the macro's value says more.
  std::string constant_or_itself(const std::string& word) const;
  // The type that a template's parameter, an alias or a macro stands for.
  std::string resolved_type(std::string type) const;
  // True for the name of an enumeration whose type is known.
  bool is_enum(const std::string& type) const;
  // The guessed shape of a buffer: these sizes, which are kept; only the first two if all of them give more than 2^24
  // elements.
  std::vector<std::string> guessed_shape(const std::vector<std::string>& sizes) const;
  // True if the source or CUDA declares a type with this name; `scalar_t` of PyTorch's macros is not one.
  bool is_type(const std::string& name) const;
  // True if `value` means the same outside the function or macro that contains it.
  bool stands_alone(const std::string& value) const;

 private:
  HostNames names(bool keep) const;
  bool has_alias(const std::string& size) const;
  const TemplateValue* template_value(const std::string& name, size_t at) const;
  std::optional<KeptProduct> product(std::span<const CppToken> tokens, size_t at, bool first) const;
  HostText said_by(const SourceValues<std::string>::One& constant) const;
  void note_changes(const std::string& name, size_t from, size_t at) const;
  HostText member(const std::string& name, size_t axis, size_t at) const;

  const CudaSource& source_;
  const HostSource& host_;
  struct Alias {
    const HostFunction* function;  // where it has this meaning
    std::string name, size;
    size_t defined;  // where the name got its value; SIZE_MAX: elsewhere
  };
  std::vector<Alias> aliases_;
  struct Product {
    std::vector<std::string> tokens;
    size_t at = 0;  // where it is passed, or defined
    std::string size;
    int64_t times = 1;
  };
  std::vector<Product> products_;  // the longest first
  mutable bool guessed_ = false, sized_ = false;
  mutable Names names_;
};

}  // namespace attnscope::catalog
