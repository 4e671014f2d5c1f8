#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/cuda_source.h"
#include "catalog/host_expression.h"

namespace attnscope::catalog {

// A function with a body, in the host code or the device code.
struct HostFunction {
  std::string name;
  std::vector<std::string> parameters;  // names, in order; empty for an unnamed one
  std::vector<std::string> templates;   // names of its template's parameters, in order
  std::vector<std::string> defaults;    // of these; empty for one without, or one that a call's arguments may say
  std::vector<std::string> changeable;  // those of them that may give it memory that it may write
  std::vector<std::string> dims;        // those of them that are dim3
  size_t begin = 0, end = 0;            // of the body: bytes from the source's start
  HostText returned;                    // a whole number, by its only return; empty if another function has its name
};

// The calls between the host code's functions, and its allocations.
class HostSource {
 public:
  explicit HostSource(const std::string& source);

  // The function whose body contains byte `at`; null if none does.
  const HostFunction* function_at(size_t at) const;
  // The first with this name; null if there is none.
  const HostFunction* function_named(std::string_view name) const;
  const std::vector<HostFunction>& functions() const { return functions_; }
  struct Call {
    std::vector<std::string> arguments;
    size_t at = 0;
    std::vector<std::string> templates = {};  // its template's arguments, as far as it says them
  };
  // Up to 16 of a function, in the source's order.
  const std::vector<Call>& calls_to(std::string_view name) const;
  // How often the source calls it, counted up to 16.
  size_t calls_of(std::string_view name) const;
  // What the function of this name returns; empty if it has parameters, or there is more than one of them or of its
  // returns.
  HostText returned_by(std::string_view name) const;
  // True if one of the calls of `name` has this first argument.
  bool calls_with(std::string_view name, const std::string& first_argument) const;
  // The function with its first call, other than itself; null if there is none.
  const HostFunction* first_caller(const HostFunction& function) const;
  // What the caller passes for a parameter of the function around `at`, in the first call that is not in the function
  // itself. Empty: there is no such parameter or call.
  HostText argument(const std::string& parameter, size_t at) const;
  // The same of a parameter of the function's template, where the call says it, f<16>(x), or leaves it to its default.
  HostText template_argument(const std::string& parameter, size_t at) const;
  // The bytes that cudaMalloc gives the pointer `name`, known at `at`; empty if the source does not say.
  HostText allocation(const std::string& name, size_t at) const;
  // The same after following a function's parameter to what its callers pass.
  HostText followed_allocation(const std::string& name, size_t at) const;

 private:
  void read_function(const std::vector<CppToken>& tokens, const CppBrackets& brackets, size_t open);
  // `name`: the index of the function's name, before its template arguments.
  void read_call(const std::vector<CppToken>& tokens, const CppBrackets& brackets, size_t open, size_t name);

  std::vector<HostFunction> functions_;                          // ascending, not nested
  std::map<std::string, size_t, std::less<>> by_name_;           // index into functions_: the first with each name
  std::map<std::string, std::vector<Call>, std::less<>> calls_;  // by function
  std::map<std::string, std::vector<HostText>> allocations_;     // by pointer, ascending
};

// The texts between the commas of the brackets at `open`.
std::vector<std::string> parts_in(const std::vector<CppToken>& tokens, const CppBrackets& brackets, size_t open);

// "d_in + RADIUS", "&d_in[RADIUS]" and "x.data_ptr<float>() + RADIUS": an address within what a pointer leads to.
struct PassedPointer {
  std::string name;    // as pointer_name() says it
  std::string offset;  // elements; empty: none
};
PassedPointer passed_pointer(const std::string& expression);

// `x` of "(float*)x", "&x", "reinterpret_cast<float*>(x)" and "x.data_ptr<float>()"; empty if there is more than a
// name.
std::string pointer_name(std::string_view expression);

}  // namespace attnscope::catalog
