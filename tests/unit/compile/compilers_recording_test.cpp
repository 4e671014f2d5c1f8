// docs/writing-a-kernel.md says about nvcc and NVRTC what bench/results/compilers.json holds.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/with_commas.h"

namespace attnscope::compile {
namespace {

using testing::HasSubstr;

std::string text_of(const std::string& file) {
  std::ifstream in(std::string(ATTNSCOPE_SOURCE_DIR) + "/" + file);
  EXPECT_TRUE(in) << file;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Row {
  std::string name, of;
  int64_t nvrtc = 0, nvcc = 0;
  // How much more NVRTC's code executes, in percent of nvcc's.
  double more() const { return 100.0 * double(nvrtc - nvcc) / double(nvcc); }
  std::string text() const {
    return fmt::format("| {} | {} | {} | {} | {:+.1f} % |\n", name, of, with_commas(nvrtc), with_commas(nvcc), more());
  }
};

// The kernel with what its config sets: "flash_attention_phase3_kernel, NUM_WARPS=8".
std::string name_of(const Json& kernel) {
  std::string name = "`" + kernel.at("kernel").get<std::string>() + "`";
  const Json knobs = kernel.value("knobs", Json::object());
  for (const auto& [knob, value] : knobs.items()) name += fmt::format(", {}={}", knob, value.get<int>());
  return name;
}

std::vector<Row> rows_of(const Json& recording) {
  std::vector<Row> rows;
  for (const Json& kernel : recording.at("kernels")) {
    if (!kernel.contains("nvcc")) continue;
    const std::string of =
        kernel.contains("repository")
            ? fmt::format("{} {}", kernel.at("repository").get<std::string>(), kernel.at("commit").get<std::string>())
            : "attnscope";
    rows.push_back(
        {name_of(kernel), of, kernel.at("nvrtc").at("warp_instructions"), kernel.at("nvcc").at("warp_instructions")});
  }
  return rows;
}

TEST(CompilersRecording, TheDocsTableIsTheRecordings) {
  const Json recording = Json::parse(text_of("bench/results/compilers.json"));
  const std::vector<Row> rows = rows_of(recording);
  ASSERT_GE(rows.size(), 12u);
  const std::string docs = text_of("docs/writing-a-kernel.md");
  size_t listed = 0;
  for (size_t at = docs.find(" % |\n"); at != std::string::npos; at = docs.find(" % |\n", at + 1)) ++listed;
  EXPECT_EQ(listed, rows.size()) << "a row of the docs is not the recording's";
  for (const Row& row : rows) EXPECT_THAT(docs, HasSubstr(row.text()));
}

TEST(CompilersRecording, TheDocsSumIsTheRecordings) {
  const Json recording = Json::parse(text_of("bench/results/compilers.json"));
  std::vector<Row> rows = rows_of(recording);
  const auto count = [&](auto is) { return std::ranges::count_if(rows, is); };
  const auto fewer = count([](const Row& row) { return row.nvcc < row.nvrtc; });
  const auto same = count([](const Row& row) { return row.nvcc == row.nvrtc; });
  const auto more = count([](const Row& row) { return row.nvcc > row.nvrtc; });
  std::vector<double> shares;
  for (const Row& row : rows) shares.push_back(row.more());
  std::ranges::sort(shares);
  const size_t half = shares.size() / 2;
  const double median = shares.size() % 2 == 1 ? shares[half] : (shares[half - 1] + shares[half]) / 2;
  const auto versions = recording.at("compilers").get<std::vector<std::string>>();
  const std::string docs = text_of("docs/writing-a-kernel.md");
  EXPECT_THAT(docs,
              HasSubstr(fmt::format("Of {} kernels, {}'s code executes more warp instructions than {}'s in {}, as "
                                    "many in {} and fewer in {}",
                                    rows.size(), versions[0], versions[1], fewer, same, more)));
  EXPECT_THAT(docs, HasSubstr(fmt::format("between {:.1f} % fewer and {:.1f} % more, in the median {:.1f} % more",
                                          -shares.front(), shares.back(), std::abs(median))));
}

}  // namespace
}  // namespace attnscope::compile
