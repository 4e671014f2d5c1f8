#include "catalog/reported.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace attnscope::catalog {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<ReportedFigure> shipped_figures() {
  Result<std::vector<ReportedFigure>> figures = load_reported(source_dir() / "assets/reported/l4_reports.json");
  if (!figures) throw std::runtime_error(figures.error().message);
  return *figures;
}

const ReportedFigure& named(const std::vector<ReportedFigure>& figures, const std::string& id) {
  for (const ReportedFigure& figure : figures)
    if (figure.id == id) return figure;
  throw std::runtime_error("no figure " + id);
}

TEST(Reported, TheRowsOfTheReports) {
  const std::vector<ReportedFigure> figures = shipped_figures();
  EXPECT_EQ(named(figures, "minimal").value, 2870);
  EXPECT_EQ(named(figures, "m32_w4_v4").value, 1029.64);
  EXPECT_EQ(named(figures, "m32_w8_v4").value, 839.38);
  EXPECT_EQ(named(figures, "m32_w8_v8").value, 839.12);
  EXPECT_EQ(named(figures, "m32_w6_v4").value, 952.97);
  EXPECT_FALSE(named(figures, "m32_w6_v4").valid);
  const ReportedFigure& m64 = named(figures, "m64_w4_v4");
  EXPECT_EQ(m64.value, 1140);
  EXPECT_FALSE(m64.valid);
  EXPECT_THAT(m64.why, HasSubstr("57,376"));
  EXPECT_EQ(m64.problem.seq_k, 512);
  EXPECT_EQ(m64.device, "NVIDIA L4");
  EXPECT_EQ(named(figures, "sdpa").role, ReportedRole::target);
  EXPECT_EQ(named(figures, "target_qk").high, 600);
  EXPECT_EQ(named(figures, "v3_vs_sdpa").metric, "slowdown");
  EXPECT_EQ(named(figures, "v3_vs_baseline").metric, "speedup");
}

// A row that names a knob must use one of the kernel's values, or its line would never apply to a config.
TEST(Reported, ConfigsAreThoseOfTheKernels) {
  const std::map<std::string, Kernel> kernels{{"minimal", shipped("01_minimal")}, {"tiled", shipped("02_tiled")}};
  for (const ReportedFigure& figure : shipped_figures()) {
    if (figure.kernel.empty()) continue;
    ASSERT_TRUE(kernels.contains(figure.kernel)) << figure.kernel;
    auto config = complete_config(kernels.at(figure.kernel), figure.knobs, {});
    EXPECT_TRUE(config) << figure.id << ": " << config.error().message;
  }
}

TEST(Reported, EveryFieldIsRead) {
  ScratchDir dir;
  const std::filesystem::path file = dir.path() / "r.json";
  write(file, R"({"title": "T", "device": {"name": "D", "arch": 89, "driver": "550", "options": "-O3"},
      "problem": {"seq_q": 7},
      "figures": [{"id": "a", "label": "A b", "metric": "latency", "value": 1.5, "high": 2, "unit": "us", "role": "target",
                   "valid": false, "why": "W.", "source": "S.", "kernel": "k", "knobs": {"N": 3}}]})");
  const auto figures = load_reported(file);
  ASSERT_TRUE(figures) << figures.error().message;
  ASSERT_EQ(figures->size(), 1u);
  const ReportedFigure& one = figures->front();
  EXPECT_EQ(one.id, "a");
  EXPECT_EQ(one.label, "A b");
  EXPECT_EQ(one.metric, "latency");
  EXPECT_EQ(one.value, 1.5);
  EXPECT_EQ(one.high, 2);
  EXPECT_EQ(one.unit, "us");
  EXPECT_EQ(one.role, ReportedRole::target);
  EXPECT_FALSE(one.valid);
  EXPECT_EQ(one.why, "W.");
  EXPECT_EQ(one.source, "S.");
  EXPECT_EQ(one.kernel, "k");
  EXPECT_EQ(one.knobs, (std::map<std::string, int64_t>{{"N", 3}}));
  EXPECT_EQ(one.problem.seq_q, 7);
  EXPECT_EQ(one.device, "D");
  EXPECT_EQ(one.title, "T");
}

TEST(Reported, FaultsNameFileAndPointer) {
  ScratchDir dir;
  const std::filesystem::path file = dir.path() / "r.json";
  const Json good = Json::parse(R"({"title": "T", "device": {"name": "D"}, "problem": {},
      "figures": [{"id": "a", "label": "A", "metric": "latency", "value": 1, "unit": "us", "source": "S."}]})");
  auto fault = [&](auto change) {
    Json json = good;
    change(json);
    write(file, json.dump());
    auto figures = load_reported(file);
    return figures ? std::string() : figures.error().message;
  };
  EXPECT_EQ(fault([](Json&) {}), "");
  EXPECT_THAT(fault([](Json& j) { j["figures"][0].erase("source"); }),
              AllOf(HasSubstr("r.json/figures/0/source"), HasSubstr("missing")));
  EXPECT_THAT(fault([](Json& j) { j["figures"][0]["valid"] = false; }), HasSubstr("figures/0/why"));
  EXPECT_THAT(fault([](Json& j) { j["figures"][0]["role"] = "guess"; }), HasSubstr("figures/0/role"));
  EXPECT_THAT(fault([](Json& j) { j["figures"][0]["knobs"] = {{"A", 1}}; }), HasSubstr("figures/0/knobs"));
  EXPECT_THAT(fault([](Json& j) { j["figures"].push_back(j["figures"][0]); }),
              AllOf(HasSubstr("figures/1/id"), HasSubstr("twice")));
  EXPECT_THAT(fault([](Json& j) { j["problem"]["heads"] = 0; }), HasSubstr("problem/heads"));
  EXPECT_THAT(fault([](Json& j) { j["figures"] = 1; }), HasSubstr("figures"));
  EXPECT_FALSE(load_reported(dir.path() / "absent.json"));
}

}  // namespace
}  // namespace attnscope::catalog
