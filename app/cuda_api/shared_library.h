#pragma once
#include <filesystem>
#include <string>

#include "core/result.h"

namespace attnscope::cuda_api {

// A library opened at run time. It stays loaded until the process ends, because CUDA's libraries do not survive
// dlclose().
class SharedLibrary {
 public:
  // `path` is absolute, or a bare name that the system's loader resolves. Failure: Stage::device, with the loader's
  // message.
  static Result<SharedLibrary> open(const std::filesystem::path& path);

  // Sets `function` to the symbol with that name. Failure: Stage::device, naming both.
  template <class Function>
  Result<void> load(const char* name, Function*& function) const {
    auto address = symbol(name);
    if (!address) return fail(address.error());
    function = reinterpret_cast<Function*>(*address);
    return {};
  }

 private:
  SharedLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  Result<void*> symbol(const char* name) const;

  void* handle_;
  std::string name_;
};

// Loads a library's functions one after the other. The first missing one is the Failure of `done`.
struct FunctionLoader {
  const SharedLibrary& library;
  Result<void> done{};

  template <class Function>
  void operator()(const char* name, Function*& function) {
    if (done) done = library.load(name, function);
  }
};

}  // namespace attnscope::cuda_api
