#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "cuda_api/locate.h"
#include "cuda_api/shared_library.h"

namespace attnscope::cuda_api {

// A header by the name used in an #include, and its text. Both must outlive the program.
struct NvrtcHeader {
  const char* name;
  const char* text;
};

struct NvrtcOutput {
  bool compiled = false;
  std::string log;           // of the front end and ptxas, whether it compiled or not
  std::string entry_symbol;  // the entry's name in the machine code
  std::string ptx;
  std::vector<std::byte> cubin;
};

// NVRTC, opened at run time. Several threads may compile at once: each call makes its own program, and NVRTC allows
// concurrent calls on different programs ("Thread Safety" in its documentation).
class Nvrtc {
 public:
  static Result<std::shared_ptr<const Nvrtc>> open(const LibraryPlace& place);

  int major() const { return major_; }
  int minor() const { return minor_; }
  std::string version_text() const;  // "12.8"
  const LibraryPlace& place() const { return place_; }

  // Compiles `source` to machine code. `entry` is the C++ name or template expression of a kernel. A program that does
  // not compile gives an output with compiled = false; a Failure (Stage::compile) is an error of NVRTC itself: out of
  // memory, a bad option. `headers` take precedence over files with the same name.
  Result<NvrtcOutput> compile(const std::string& source, const std::string& name, const std::string& entry,
                              const std::vector<std::string>& options, std::span<const NvrtcHeader> headers = {}) const;

 private:
  struct Program;  // nvrtcProgram points to this; opaque
  using Handle = Program*;
  class OwnedProgram;

  Nvrtc(SharedLibrary library, LibraryPlace place) : library_(std::move(library)), place_(std::move(place)) {}
  Result<void> load();
  Result<void> check(const char* call, int code) const;
  struct SizeCall {
    const char* name;  // for messages
    int (*call)(Handle, size_t*);
  };
  struct TextCall {
    const char* name;
    int (*call)(Handle, char*);
  };
  // Reads one of NVRTC's texts, without its terminator.
  Result<void> read_text(Handle program, const SizeCall& size, const TextCall& get, std::string& text) const;
  Result<void> read_results(Handle program, const std::string& entry, NvrtcOutput& output) const;

  SharedLibrary library_;
  LibraryPlace place_;
  int major_ = 0, minor_ = 0;
  // Signatures as in NVRTC's reference; nvrtcResult is an int, 0 on success.
  int (*version_)(int*, int*) = nullptr;
  int (*create_)(Handle*, const char* source, const char* name, int headers, const char* const*,
                 const char* const*) = nullptr;
  int (*destroy_)(Handle*) = nullptr;
  int (*compile_)(Handle, int count, const char* const* options) = nullptr;
  int (*log_size_)(Handle, size_t*) = nullptr;
  int (*log_)(Handle, char*) = nullptr;
  int (*ptx_size_)(Handle, size_t*) = nullptr;
  int (*ptx_)(Handle, char*) = nullptr;
  int (*cubin_size_)(Handle, size_t*) = nullptr;
  int (*cubin_)(Handle, char*) = nullptr;
  int (*add_name_)(Handle, const char* expression) = nullptr;
  int (*lowered_name_)(Handle, const char* expression, const char** name) = nullptr;
  const char* (*error_text_)(int) = nullptr;
};

// The NVRTC for this machine: with the driver's major version, or 12 (otherwise 13) if there is no driver.
// $ATTNSCOPE_NVRTC is used if its code runs on the driver. The Failure (Stage::compile) says in one sentence that none
// fits.
Result<std::shared_ptr<const Nvrtc>> choose_nvrtc();

}  // namespace attnscope::cuda_api
