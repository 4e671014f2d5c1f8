// The watch cases as data: tests/data/watch/*.cu. Each kernel names the findings that the watch must report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "compile/sass.h"
#include "emulator/emulator.h"
#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

namespace fs = std::filesystem;

struct Expected {
  std::string rule;
  uint32_t line = 0, other = 0;
};

struct WatchCase {
  std::string file, kernel;  // "barriers", "barrier_between"
  uint32_t block = 0, grid = 1, dynamic = 0, filled = 1;
  std::vector<Expected> findings;
  std::string failure_stage, failure_words;
};
void PrintTo(const WatchCase& one, std::ostream* out) { *out << one.file << "." << one.kernel; }

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The line with a mark: in the kernel if it is there, otherwise anywhere in the file.
uint32_t marked_line(const std::vector<std::string>& lines, size_t kernel, const std::string& mark) {
  const auto holds = [&](const std::string& line) {
    const size_t at = line.find("//@" + mark);
    return at != std::string::npos && at + 3 + mark.size() == line.size();
  };
  for (size_t i = kernel; i < lines.size() && !lines[i].starts_with("//@ "); ++i)
    if (holds(lines[i])) return static_cast<uint32_t>(i + 1);
  for (size_t i = 0; i < lines.size(); ++i)
    if (holds(lines[i])) return static_cast<uint32_t>(i + 1);
  ADD_FAILURE() << "no line is marked " << mark;
  return 0;
}

// "//@ block=64 [grid=2] [dynamic=128] [filled=0] : clean | failure STAGE WORDS | RULE MARK MARK; RULE MARK …" above a
// kernel.
std::vector<WatchCase> read_cases() {
  std::vector<WatchCase> cases;
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(ATTNSCOPE_SOURCE_DIR "/tests/data/watch"))
    if (entry.path().extension() == ".cu") files.insert(entry.path());
  for (const fs::path& path : files) {
    std::vector<std::string> lines;
    std::istringstream text(read_file(path));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    for (size_t i = 0; i + 1 < lines.size(); ++i) {
      if (!lines[i].starts_with("//@ ")) continue;
      WatchCase one;
      one.file = path.stem();
      const std::string& head = lines[i + 1];
      const size_t name = head.find("void ") + 5;
      one.kernel = head.substr(name, head.find('(') - name);
      const size_t colon = lines[i].find(" : ");
      std::istringstream launch(lines[i].substr(4, colon - 4));
      for (std::string word; launch >> word;) {
        const auto value = static_cast<uint32_t>(std::stoul(word.substr(word.find('=') + 1)));
        (word.starts_with("block")    ? one.block
         : word.starts_with("grid")   ? one.grid
         : word.starts_with("filled") ? one.filled
                                      : one.dynamic) = value;
      }
      std::istringstream findings(lines[i].substr(colon + 3));
      for (std::string finding; std::getline(findings, finding, ';');) {
        std::istringstream words(finding);
        std::string rule, first, second;
        words >> rule >> first >> second;
        if (rule == "clean") continue;
        if (rule == "failure") {
          std::replace(second.begin(), second.end(), '_', ' ');
          one.failure_stage = first, one.failure_words = second;
          continue;
        }
        const uint32_t line = marked_line(lines, i + 1, first);
        one.findings.push_back({rule, line, second.empty() ? line : marked_line(lines, i + 1, second)});
      }
      cases.push_back(std::move(one));
    }
  }
  return cases;
}

const fs::path kPacked = fs::path(ATTNSCOPE_OPCODES_DIR) / "watch";

Result<std::shared_ptr<const Program>> program_of_case(const WatchCase& one, int arch) {
  const std::string stem = one.file + "_sm" + std::to_string(arch);
  const std::string cubin = read_file(kPacked / (stem + ".cubin"));
  auto kernel = compile::read_cubin(std::as_bytes(std::span(cubin.data(), cubin.size())), one.kernel);
  if (!kernel) return fail(kernel.error());
  auto sass = compile::parse_nvdisasm(read_file(kPacked / (stem + ".txt")), std::move(*kernel));
  if (!sass) return fail(sass.error());
  return prepare(std::make_shared<const compile::SassProgram>(std::move(*sass)));
}

// Every kernel takes (int* out, const int* in, int n), n integers each.
Result<RunResult> run_case(const WatchCase& one, int arch) {
  constexpr uint32_t kCount = 1024;
  auto program = program_of_case(one, arch);
  if (!program) return fail(program.error());
  std::vector<int32_t> out(kCount), in(kCount);
  for (uint32_t i = 0; i < kCount; ++i) in[i] = static_cast<int32_t>(i * 7 % 13);
  GlobalMemory memory;
  Launch launch;
  launch.program = *program;
  launch.grid = {one.grid, 1, 1};
  launch.block = {one.block, 1, 1};
  launch.dynamic_shared_bytes = one.dynamic;
  Parameters parameters;
  const uint64_t out_at = memory.add("out", bytes_of(out), true, one.filled != 0);
  launch.parameters = parameters.pointer(out_at).pointer(memory.add("in", bytes_of(in), false)).word(kCount).bytes();
  launch.memory = &memory;
  RunOptions options;
  options.watch = true;
  options.threads = 1;
  options.step_budget = 300'000;
  return run(launch, options);
}

// Whether "atomics.hpp:107, inlined at atomics.cu:27" names that line of the case's file.
bool is_at(const std::string& place, const std::string& file, uint32_t line) {
  const std::string wanted = file + ".cu:" + std::to_string(line);
  const size_t at = place.find(wanted);
  return at != std::string::npos && (at + wanted.size() == place.size() || place[at + wanted.size()] == ',');
}

class WatchCases : public ::testing::TestWithParam<WatchCase> {};

TEST_P(WatchCases, AreDiagnosed) {
  const WatchCase& one = GetParam();
  for (const int arch : {80, 89, 90}) {
    SCOPED_TRACE(arch);
    const auto result = run_case(one, arch);
    if (!one.failure_stage.empty()) {
      ASSERT_FALSE(result);
      EXPECT_EQ(to_string(result.error().stage), one.failure_stage) << result.error().message;
      EXPECT_THAT(result.error().message, ::testing::HasSubstr(one.failure_words));
      continue;
    }
    ASSERT_TRUE(result) << result.error().message;
    std::string all;
    for (const WatchFinding& finding : result->findings) all += finding.message + "\n";
    EXPECT_EQ(result->findings.size(), one.findings.size()) << all;
    for (const Expected& expected : one.findings) {
      const bool found = std::any_of(result->findings.begin(), result->findings.end(), [&](const WatchFinding& f) {
        const auto between = [&](uint32_t a, uint32_t b) {
          return is_at(f.line, one.file, a) && is_at(f.other_line, one.file, b);
        };
        return Rule(rule_of(f.kind)).name() == expected.rule && f.count > 0 &&
               (between(expected.line, expected.other) || between(expected.other, expected.line));
      });
      EXPECT_TRUE(found) << expected.rule << " of lines " << expected.line << " and " << expected.other
                         << "; said: " << all;
    }
  }
}
// A sanitized emulator is slow, so it runs some of the cases; the release build runs all.
std::vector<WatchCase> cases_here() {
  std::vector<WatchCase> some;
  const std::vector<WatchCase> all = read_cases();
  for (size_t i = 0; i < all.size(); i += ATTNSCOPE_CASE_STRIDE) some.push_back(all[i]);
  return some;
}
INSTANTIATE_TEST_SUITE_P(Data, WatchCases, ::testing::ValuesIn(cases_here()),
                         [](const auto& param) { return param.param.file + "_" + param.param.kernel; });

// compute-sanitizer's reports for the same cubins, recorded on a GPU (tests/gpu/watch_cases/record.py). Where it and
// the watch differ, sanitizer_differences.json says how and why.
class Sanitizer {
 public:
  using Json = nlohmann::json;
  Sanitizer()
      : said_(Json::parse(read_file(data("sanitizer.json")))["said"]),
        known_(Json::parse(read_file(data("sanitizer_differences.json")))) {}

  bool ran(const std::string& name) const { return said_.contains(name); }
  bool is_blind_to(const std::string& rule) const { return known_["blind"].contains(rule); }
  // The tool that checks this rule, or empty.
  std::string judge_of(const std::string& rule) const {
    for (const auto& [tool, rules] : known_["rules"].items())
      if (std::find(rules.begin(), rules.end(), rule) != rules.end()) return tool;
    return "";
  }
  std::string difference(const std::string& name, const std::string& tool) const {
    const Json& cases = known_["cases"];
    return cases.contains(name) ? cases[name].value(tool, "") : "";
  }
  // Lines of the tool's reports; a remark (info) does not count.
  std::vector<std::vector<uint32_t>> reports(const std::string& name, const std::string& tool) const {
    std::vector<std::vector<uint32_t>> all;
    for (const Json& one : said_[name])
      if (one["tool"] == tool && one["level"] != "info") all.push_back(one["lines"]);
    return all;
  }
  std::set<std::string> differing() const {
    std::set<std::string> names;
    for (const auto& [name, tools] : known_["cases"].items()) names.insert(name);
    return names;
  }
  static constexpr const char* kTools[] = {"memcheck", "racecheck", "initcheck", "synccheck"};

 private:
  static fs::path data(const char* name) { return fs::path(ATTNSCOPE_SOURCE_DIR "/tests/data/watch") / name; }
  Json said_, known_;
};

// A finding of the watch for a case: its rule and place.
struct Diagnosis {
  std::string rule, place, other_place;
};
std::vector<Diagnosis> diagnoses_of(const WatchCase& one) {
  const auto result = run_case(one, 90);
  if (!result) return {{"failure " + std::string(to_string(result.error().stage)), result.error().message, ""}};
  std::vector<Diagnosis> all;
  for (const WatchFinding& finding : result->findings)
    all.push_back({Rule(rule_of(finding.kind)).name(), finding.line, finding.other_line});
  return all;
}

TEST(WatchCasesAndSanitizer, SayTheSame) {
  const Sanitizer sanitizer;
  std::set<std::string> differing = sanitizer.differing();
  for (const WatchCase& one : read_cases()) {
    const std::string name = one.file + "." + one.kernel;
    SCOPED_TRACE(name);
    const auto ours = diagnoses_of(one);
    for (const Diagnosis& mine : ours)
      EXPECT_NE(sanitizer.judge_of(mine.rule).empty(), !sanitizer.is_blind_to(mine.rule)) << mine.rule;
    if (!sanitizer.ran(name)) continue;
    for (const std::string tool : Sanitizer::kTools) {
      SCOPED_TRACE(tool);
      auto theirs = sanitizer.reports(name, tool);
      const auto agree = [&](const std::vector<uint32_t>& lines, const Diagnosis& mine) {
        const auto names_line = [&](const std::string& place, uint32_t line) {
          return is_at(place, one.file, line) ||
                 place.find(one.file + ".cu:" + std::to_string(line) + " ") != std::string::npos;
        };
        const uint32_t first = lines.front(), last = lines.back();
        if (lines.size() == 1) return names_line(mine.place, first) || names_line(mine.other_place, first);
        return (names_line(mine.place, first) && names_line(mine.other_place, last)) ||
               (names_line(mine.place, last) && names_line(mine.other_place, first));
      };
      std::vector<Diagnosis> mine_alone;
      std::set<size_t> shared;
      for (const Diagnosis& mine : ours) {
        if (sanitizer.judge_of(mine.rule) != tool) continue;
        bool told = false;
        for (size_t i = 0; i < theirs.size(); ++i)
          if (agree(theirs[i], mine)) told = true, shared.insert(i);
        if (!told) mine_alone.push_back(mine);
      }
      const std::string difference = sanitizer.difference(name, tool);
      if (!difference.empty()) differing.erase(name);
      EXPECT_EQ(!mine_alone.empty(), difference.starts_with("misses: "))
          << (mine_alone.empty()
                  ? ""
                  : mine_alone[0].rule + " at " + mine_alone[0].place + ", " + mine_alone[0].other_place);
      // A run that ends at its first fault reports no further faults.
      const bool more = theirs.size() > shared.size() && !(tool == "memcheck" && !shared.empty());
      EXPECT_EQ(more, difference.starts_with("adds: "));
    }
  }
  EXPECT_THAT(differing, ::testing::IsEmpty()) << "listed as different, but the two agree";
}

TEST(WatchCasesData, AreManyAndPackedAsTheyAre) {
  const auto cases = read_cases();
  EXPECT_GE(cases.size(), 60u);
  const auto clean = std::count_if(cases.begin(), cases.end(), [](const WatchCase& one) {
    return one.findings.empty() && one.failure_stage.empty();
  });
  EXPECT_GE(clean, 30);
  for (const WatchCase& one : cases)
    EXPECT_EQ(read_file(kPacked / (one.file + ".cu")),
              read_file(fs::path(ATTNSCOPE_SOURCE_DIR "/tests/data/watch") / (one.file + ".cu")))
        << "tests/gpu/watch_cases/pack.py packs " << one.file << " again";
}

}  // namespace
}  // namespace attnscope::emulator::testing
