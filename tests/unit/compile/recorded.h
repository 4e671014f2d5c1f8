#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "compile/elf_reader.h"

namespace attnscope::compile {

struct Recorded {
  int arch;
  std::string nvrtc;
};

inline const std::vector<Recorded>& recordings() {
  static const std::vector<Recorded> all = {{80, "12.8"}, {89, "12.8"}, {90, "12.8"},
                                            {80, "13.0"}, {89, "13.0"}, {90, "13.0"}};
  return all;
}

inline std::filesystem::path recorded_file(const Recorded& recorded, const std::string& extension) {
  return std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "tests/data/compile" /
         ("features_sm" + std::to_string(recorded.arch) + "_nvrtc" + recorded.nvrtc + extension);
}

inline std::string recorded_name(const testing::TestParamInfo<Recorded>& parameter) {
  return "sm" + std::to_string(parameter.param.arch) + "_nvrtc" + parameter.param.nvrtc.substr(0, 2);
}

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("missing test data: " + file.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

// Where the entry of a symbol begins in the cubin's table of symbols: its value is 8 bytes behind, its size 16.
inline size_t symbol_at(const std::string& cubin, std::string_view name) {
  const auto elf = read_elf(bytes_of(cubin), kElfMachineCuda);
  for (const ElfSection& section : elf->sections)
    if (section.type == kElfSectionSymbols)
      for (size_t i = 0; i < elf->symbols.size(); ++i)
        if (elf->symbols[i].name == name)
          return static_cast<size_t>(section.bytes.data() - bytes_of(cubin).data()) + 24 * i;
  throw std::runtime_error("the cubin has no symbol " + std::string(name));
}

inline void put_64(std::string& bytes, size_t at, uint64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// The test's own folder, removed at its end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "attnscope-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

}  // namespace attnscope::compile
