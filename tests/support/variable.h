#pragma once
#include <stdlib.h>

#include <optional>
#include <string>

namespace attnscope::testing_support {

// Sets an environment variable, or removes it for a null value, and restores it on destruction. The tests of a suite
// may share a process.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = getenv(name)) before_ = old;
    if (value)
      setenv(name, value, 1);
    else
      unsetenv(name);
  }
  Variable(const char* name, const std::string& value) : Variable(name, value.c_str()) {}
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace attnscope::testing_support
