#pragma once
#include <filesystem>
#include <string>

#include "support/temp_dir.h"
#include "support/variable.h"

namespace attnscope::testing_support {

// An nvcc 12.0.76 of the shell and a host compiler for it, where the program looks for them: every machine can test
// what surrounds an nvcc.
class FakeNvcc {
 public:
  // What it does when it is asked to compile.
  explicit FakeNvcc(const std::string& work = "") { does(work); }
  void does(const std::string& work) const {
    script("g++", "echo 'g++ (Test) 12.2'\n");
    script("nvcc", "[ \"$1\" = --version ] && { echo 'release 12.0, V12.0.76'; exit; }\n" + work);
  }

 private:
  void script(const std::string& name, const std::string& text) const {
    std::filesystem::permissions(dir_.write("bin/" + name, "#!/bin/sh\n" + text), std::filesystem::perms::owner_all);
  }
  const TempDir dir_;
  const Variable nvcc_{"ATTNSCOPE_NVCC", (dir_ / "bin/nvcc").string()},
      host_{"NVCC_CCBIN", (dir_ / "bin/g++").string()};
};

}  // namespace attnscope::testing_support
