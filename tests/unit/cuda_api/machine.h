#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

namespace attnscope::cuda_api::testing_support {

namespace fs = std::filesystem;

// The test's own machine: an empty cache, no toolkit except $CUDA_HOME, and a libcuda that is named or missing.
class Machine : public testing::Test {
 protected:
  Machine() {
    std::string pattern = (fs::temp_directory_path() / "attnscope-test-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    for (const char* name : {"ATTNSCOPE_HOME", "CUDA_HOME", "CUDA_PATH", "ATTNSCOPE_NVRTC", "ATTNSCOPE_NVDISASM",
                             "ATTNSCOPE_LIBCUDA", "ATTNSCOPE_CUBLAS", "ATTNSCOPE_CUPTI", "ATTNSCOPE_CUTLASS",
                             "ATTNSCOPE_NVCC", "NVCC_CCBIN", "ATTNSCOPE_RESOURCES", "ATTNSCOPE_SITE_PACKAGES"})
      set(name, "");
    set("XDG_CACHE_HOME", root_.string());
    set("ATTNSCOPE_NO_TOOLKIT", "1");
  }
  ~Machine() override {
    for (const auto& [name, value] : before_)
      if (value)
        setenv(name.c_str(), value->c_str(), 1);
      else
        unsetenv(name.c_str());
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  void set(const std::string& name, const std::string& value) {
    const char* old = std::getenv(name.c_str());
    before_.try_emplace(name, old ? std::optional<std::string>(old) : std::nullopt);
    if (value.empty())
      unsetenv(name.c_str());
    else
      setenv(name.c_str(), value.c_str(), 1);
  }
  void driver(int version) { set("ATTNSCOPE_LIBCUDA", fake("libcuda_" + std::to_string(version)).string()); }
  static fs::path fake(const std::string& name) { return fs::path(ATTNSCOPE_FAKES) / ("fake_" + name + ".so"); }
  // An NVRTC as ./dev unpacks it.
  void package(const std::string& version, const std::string& name) { install(cache() / version, name); }
  void install(const fs::path& root, const std::string& name, bool headers = true) {
    fs::create_directories(root / "lib");
    fs::create_directories(root / "include");
    if (headers) std::ofstream(root / "include" / "cuda_fp16.h") << "//";
    const std::string major = name.substr(6, 2);  // "nvrtc_12_8"
    fs::copy_file(fake(name), root / "lib" / ("libnvrtc.so." + major));
  }
  // Any library, where its package or a toolkit has it.
  fs::path put(const fs::path& root, const std::string& folder, const std::string& file) {
    fs::create_directories(root / folder);
    fs::copy_file(fake("libcuda_12080"), root / folder / file);  // any kind of library: it only has to load
    return root / folder / file;
  }
  // A program of the shell.
  static fs::path script(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/sh\n" << text;
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  // An nvcc in a toolkit, which only says its version, and a host compiler for it.
  fs::path nvcc(const fs::path& root, const std::string& version) {
    set("NVCC_CCBIN", script(root_ / "host" / "g++", "echo 'g++ (Test) 12.2'\n").string());
    const std::string said = "Cuda compilation tools, release " + version.substr(0, 4) + ", V" + version;
    return script(root / "bin" / "nvcc", "echo '" + said + "'\n");
  }
  fs::path cache() const { return root_ / "attnscope" / "cuda"; }

  fs::path root_;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace attnscope::cuda_api::testing_support
