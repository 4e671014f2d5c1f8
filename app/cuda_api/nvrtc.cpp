#include "cuda_api/nvrtc.h"

namespace attnscope::cuda_api {
namespace {

constexpr int kCompilationFailed = 6;  // NVRTC_ERROR_COMPILATION: the log says why

}  // namespace

class Nvrtc::OwnedProgram {
 public:
  explicit OwnedProgram(int (*destroy)(Handle*)) : destroy_(destroy) {}
  OwnedProgram(const OwnedProgram&) = delete;
  ~OwnedProgram() {
    if (handle_ != nullptr) destroy_(&handle_);
  }
  Handle* address() { return &handle_; }
  Handle get() const { return handle_; }

 private:
  int (*destroy_)(Handle*);
  Handle handle_ = nullptr;
};

Result<std::shared_ptr<const Nvrtc>> Nvrtc::open(const LibraryPlace& place) {
  auto library = SharedLibrary::open(place.library);
  if (!library) return fail(library.error());
  std::shared_ptr<Nvrtc> nvrtc(new Nvrtc(std::move(*library), place));
  if (auto done = nvrtc->load(); !done) return fail(done.error());
  // At its first compile NVRTC opens its builtins by bare name through its own RUNPATH. An address sanitizer's dlopen()
  // loses that path, and a confined thread may not read the library. Once it is loaded, it is found by that name. If it
  // is missing, NVRTC reports that itself, with a better message.
  std::error_code error;
  const std::filesystem::path builtins = "libnvrtc-builtins.so." + nvrtc->version_text();
  const auto beside = place.library.parent_path() / builtins;
  (void)SharedLibrary::open(std::filesystem::exists(beside, error) ? beside : builtins);
  return nvrtc;
}

Result<void> Nvrtc::load() {
  FunctionLoader take{library_};
  take("nvrtcVersion", version_);
  take("nvrtcCreateProgram", create_);
  take("nvrtcDestroyProgram", destroy_);
  take("nvrtcCompileProgram", compile_);
  take("nvrtcGetProgramLogSize", log_size_);
  take("nvrtcGetProgramLog", log_);
  take("nvrtcGetPTXSize", ptx_size_);
  take("nvrtcGetPTX", ptx_);
  take("nvrtcGetCUBINSize", cubin_size_);
  take("nvrtcGetCUBIN", cubin_);
  take("nvrtcAddNameExpression", add_name_);
  take("nvrtcGetLoweredName", lowered_name_);
  take("nvrtcGetErrorString", error_text_);
  return take.done ? check("nvrtcVersion", version_(&major_, &minor_)) : take.done;
}

std::string Nvrtc::version_text() const { return std::to_string(major_) + "." + std::to_string(minor_); }

Result<void> Nvrtc::check(const char* call, int code) const {
  if (code == 0) return {};
  return fail(
      Stage::compile, std::string(call) + " of " + place_.library.string() + " failed: " + error_text_(code) + ".",
      "Check the compile options and that the machine has memory left; set $ATTNSCOPE_NVRTC to use another NVRTC.");
}

Result<void> Nvrtc::read_text(Handle program, const SizeCall& size, const TextCall& get, std::string& text) const {
  size_t bytes = 0;
  if (auto done = check(size.name, size.call(program, &bytes)); !done) return done;
  text.resize(bytes);
  if (auto done = check(get.name, get.call(program, text.data())); !done) return done;
  while (!text.empty() && text.back() == '\0') text.pop_back();  // the size includes the terminator
  return {};
}

Result<void> Nvrtc::read_results(Handle program, const std::string& entry, NvrtcOutput& output) const {
  const char* lowered = nullptr;
  if (auto done = check("nvrtcGetLoweredName", lowered_name_(program, entry.c_str(), &lowered)); !done) return done;
  output.entry_symbol = lowered;
  if (auto done = read_text(program, {"nvrtcGetPTXSize", ptx_size_}, {"nvrtcGetPTX", ptx_}, output.ptx); !done)
    return done;
  size_t bytes = 0;
  if (auto done = check("nvrtcGetCUBINSize", cubin_size_(program, &bytes)); !done) return done;
  output.cubin.resize(bytes);
  return check("nvrtcGetCUBIN", cubin_(program, reinterpret_cast<char*>(output.cubin.data())));
}

Result<NvrtcOutput> Nvrtc::compile(const std::string& source, const std::string& name, const std::string& entry,
                                   const std::vector<std::string>& options,
                                   std::span<const NvrtcHeader> headers) const {
  OwnedProgram program(destroy_);
  std::vector<const char*> texts, names;
  for (const NvrtcHeader& header : headers) {
    texts.push_back(header.text);
    names.push_back(header.name);
  }
  if (auto done = check("nvrtcCreateProgram", create_(program.address(), source.c_str(), name.c_str(),
                                                      static_cast<int>(headers.size()), texts.data(), names.data()));
      !done)
    return fail(done.error());
  if (auto done = check("nvrtcAddNameExpression", add_name_(program.get(), entry.c_str())); !done)
    return fail(done.error());
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());

  const SizeCall log_size{"nvrtcGetProgramLogSize", log_size_};
  const TextCall get_log{"nvrtcGetProgramLog", log_};
  NvrtcOutput output;
  const int code = compile_(program.get(), static_cast<int>(words.size()), words.data());
  if (code != 0 && code != kCompilationFailed) {
    // Only the log explains a refused option.
    auto done = check("nvrtcCompileProgram", code);
    std::string log;
    if (read_text(program.get(), log_size, get_log, log) && !log.empty()) done.error().hint = log;
    return fail(done.error());
  }
  if (auto done = read_text(program.get(), log_size, get_log, output.log); !done) return fail(done.error());
  if (code == kCompilationFailed) return output;
  if (auto done = read_results(program.get(), entry, output); !done) return fail(done.error());
  output.compiled = true;
  return output;
}

}  // namespace attnscope::cuda_api
