// The files that ship with the program agree: kernels, presets, mutants, documents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "catalog/arguments.h"
#include "platform/atomic_file.h"
#include "support.h"

namespace attnscope::catalog {
namespace {

using testing::HasSubstr;

std::string text_of(const std::filesystem::path& path) {
  Result<std::string> text = platform::read_file(path, 4 << 20);
  if (!text) throw std::runtime_error(text.error().message);
  return *text;
}

const Kernel* named(const Catalog& catalog, const std::string& id) {
  for (const Kernel& kernel : catalog.kernels)
    if (kernel.id == id) return &kernel;
  return nullptr;
}

// A source compiled by hand has the same config as the manifest's default.
TEST(Shipped, TheSourcesOwnDefaultsAreTheManifests) {
  const Catalog catalog = load_catalog({source_dir() / "kernels"});
  for (const Kernel& kernel : catalog.kernels)
    for (const Knob& knob : kernel.library.is_source() ? kernel.knobs : std::vector<Knob>()) {
      const std::string line = "#define " + knob.name + " " + std::to_string(knob.default_value) + "\n";
      EXPECT_THAT(kernel.source, HasSubstr(line)) << kernel.id;
      EXPECT_FALSE(knob.doc.empty()) << kernel.id << " " << knob.name;
    }
}

TEST(Shipped, PresetsNameKernelsAndValuesThatExist) {
  const Catalog catalog = load_catalog({source_dir() / "kernels"});
  size_t presets = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "presets")) {
    if (entry.path().extension() != ".json") continue;
    ++presets;
    SCOPED_TRACE(entry.path().filename());
    const Json preset = Json::parse(text_of(entry.path()));
    const Kernel* kernel = named(catalog, preset.at("kernel"));
    ASSERT_NE(kernel, nullptr);
    std::map<std::string, int64_t> knobs;
    for (const auto& [name, value] : preset.at("knobs").items()) {
      auto setting = parse_setting(*kernel, name + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
      ASSERT_TRUE(setting) << setting.error().message;
      knobs.insert(*setting);
    }
    auto problem = problem_from_json(preset.at("problem"), "problem");
    ASSERT_TRUE(problem) << problem.error().message;
    auto taken = check_restrictions(*kernel, *problem, config_of(*kernel, knobs), 89);
    EXPECT_TRUE(taken) << taken.error().message;
  }
  EXPECT_GE(presets, 9u);
}

TEST(Shipped, MutantsLoadAndTheBrokenManifestDoesNot) {
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "tests/mutants")) {
    if (!entry.is_directory()) continue;
    const Catalog catalog = load_catalog({entry.path()});
    const bool broken = entry.path().filename() == "wrong_expression";
    EXPECT_EQ(catalog.kernels.empty(), broken) << entry.path();
    ASSERT_EQ(catalog.failures.size(), broken ? 1u : 0u) << entry.path();
    if (broken) {
      EXPECT_THAT(catalog.failures[0].message, HasSubstr("wrong_expression.json/launch/grid/0"));
    }
  }
}

TEST(Shipped, TheManualNamesEveryArgumentWithItsType) {
  const std::string manual = text_of(source_dir() / "docs/writing-a-kernel.md");
  for (const Argument& argument : arguments())
    EXPECT_THAT(manual, HasSubstr("| `" + std::string(argument.name) + "` | `" + std::string(argument.c_type) + "` |"));
}

TEST(Shipped, TheManualNamesNoArgumentThatAManifestCannotPass) {
  const std::string manual = text_of(source_dir() / "docs/writing-a-kernel.md");
  const size_t table = manual.find("### Arguments");
  ASSERT_NE(table, std::string::npos);
  std::istringstream lines(manual.substr(table, manual.find("\n## ", table) - table));
  size_t rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string name = line.substr(3, line.find('`', 3) - 3);
    EXPECT_NE(find_argument(name), nullptr) << name;
    ++rows;
  }
  EXPECT_EQ(rows, arguments().size());
}

TEST(Shipped, EveryManifestKeyIsInTheManual) {
  const std::string manual = text_of(source_dir() / "docs/writing-a-kernel.md");
  std::set<std::string> keys;
  for (const char* name : {"01_minimal.json", "02_tiled.json"}) {
    const Json manifest = Json::parse(text_of(source_dir() / "kernels" / name));
    for (const auto& [key, value] : manifest.items()) keys.insert(key);
  }
  for (const char* key : {"accumulate", "static_shared", "dynamic_shared", "grouped_heads", "layout", "headers",
                          "constants", "cooperative"})
    keys.insert(key);
  for (const std::string& key : keys) EXPECT_THAT(manual, HasSubstr("`" + key + "`"));
}

}  // namespace
}  // namespace attnscope::catalog
