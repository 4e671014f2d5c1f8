#include "cuda_api/shared_library.h"

#include <dlfcn.h>

namespace attnscope::cuda_api {

Result<SharedLibrary> SharedLibrary::open(const std::filesystem::path& path) {
  // RTLD_LOCAL, because two NVRTCs of different major versions may be open at the same time.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return SharedLibrary(handle, path.string());
  const char* reason = dlerror();
  return fail(Stage::device, path.string() + " could not be opened: " + (reason ? reason : "unknown reason") + ".",
              "Check that the file is whole and built for this machine.");
}

Result<void*> SharedLibrary::symbol(const char* name) const {
  dlerror();
  void* address = dlsym(handle_, name);
  if (address != nullptr) return address;
  return fail(Stage::device, name_ + " lacks " + name + ".", "It is too old, or not the library its name says.");
}

}  // namespace attnscope::cuda_api
