// A kernel that is compared with another kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "catalog/catalog.h"
#include "support/temp_dir.h"
#include "unit/worker/counting_device.h"
#include "unit/worker/small_request.h"

namespace attnscope::worker {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Json manifest_of(const std::string& id, std::vector<std::string> more = {}) {
  Json json = Json::parse(R"J({"title": "t", "entry": "k", "problem": "custom", "sizes": {"n": 200},
    "buffers": [{"name": "x", "role": "in", "dtype": "f32", "shape": ["n"]},
                {"name": "y", "role": "out", "dtype": "f32", "shape": ["n"]}],
    "launch": {"grid": ["ceil_div(n, 64)", 1, 1], "block": [64, 1, 1]}, "args": ["x", "y", "n"]})J");
  json["id"] = id;
  json["source"] = id + ".cu";
  for (const std::string& name : more) {
    // A workspace comes first, so the numbers of the buffers, from which their contents come, differ.
    Json buffers = Json::array({{{"name", name}, {"role", "workspace"}, {"dtype", "f32"}, {"shape", {"n"}}}});
    for (const Json& one : json["buffers"]) buffers.push_back(one);
    json["buffers"] = buffers;
    Json args = Json::array({name});
    for (const Json& one : json["args"]) args.push_back(one);
    json["args"] = args;
  }
  return json;
}

std::string kernel_text(const std::string& line, const std::string& parameters = "") {
  return "extern \"C\" __global__ void k(" + parameters +
         "const float* x, float* y, int n) {\n  const int i = blockIdx.x * 64 + threadIdx.x;\n  __shared__ float "
         "s[64];\n"
         "  s[threadIdx.x] = 0;\n  if (i < n) " +
         line + "\n}\n";
}

class ReferenceRun : public testing::Test {
 protected:
  // Runs a kernel with the line `mine` against the kernel `naive` with `theirs`.
  Verdict verdict_of(const std::string& mine, const std::string& theirs, Json reference = Json::object(),
                     bool scratch = false) {
    Json naive = manifest_of("naive", scratch ? std::vector<std::string>{"scratch"} : std::vector<std::string>{});
    Json manifest = manifest_of("mine");
    reference["kernel"] = "naive";
    reference["content"] = {{"manifest", naive.dump()},
                            {"source_name", "naive.cu"},
                            {"source", kernel_text(theirs, scratch ? "float* scratch, " : "")}};
    manifest["reference"] = reference;
    return judged_by(manifest, kernel_text(mine));
  }
  Verdict judged_by(const Json& manifest, const std::string& source) {
    const auto kernel = catalog::parse_kernel({"mine.json", manifest.dump(), "mine.cu", source});
    EXPECT_TRUE(kernel) << kernel.error().message;
    if (!kernel) return {};
    Request request;
    request.kernel = *kernel;
    request.experiment = testing_support::experiment_of(request.kernel);
    request.experiment.problem = kernel->default_problem();
    request.experiment.problem.seed = seed_;
    request.cancel = &cancel_;
    ObservingSink sink;
    const auto done = run_experiment(*services_, request, sink);
    EXPECT_TRUE(done) << done.error().message;
    EXPECT_EQ(sink.observation.counters->total_ctas, 4) << "its own, and not the reference's";
    return sink.observation.verdict.value_or(Verdict{});
  }

  testing_support::TempDir folder_;
  std::unique_ptr<Services> services_ = services_in(folder_.path());
  std::atomic<bool> cancel_{false};
  uint64_t seed_ = Problem{}.seed;
};

TEST_F(ReferenceRun, AgreementIsSaidToBeNoMore) {
  const Verdict same = verdict_of("y[i] = 3 * x[i];", "y[i] = x[i] + x[i] + x[i];");
  EXPECT_EQ(same.state, VerdictState::correct) << same.reason;
  EXPECT_EQ(same.against, "naive");
  EXPECT_THAT(same.reason, HasSubstr("agreement with the kernel naive, which is not known to be right"));
  EXPECT_EQ(same.rows_checked, 1);
  EXPECT_EQ(same.atol, 2e-4) << "both sides are rounded";
  const Verdict other = verdict_of("y[i] = 3 * x[i];", "y[i] = 3.1f * x[i];");
  EXPECT_EQ(other.state, VerdictState::wrong);
  EXPECT_TRUE(other.first_bad);
  EXPECT_EQ(verdict_of("y[i] = 3 * x[i];", "y[i] = 3.1f * x[i];", {{"atol", 1}, {"rtol", 1}}).state,
            VerdictState::correct);
}

// As in a sweep: the same problem, with another kernel or config each time.
TEST_F(ReferenceRun, RunsOnceForAllThatAreHeldToIt) {
  const auto counting = count_runs(*services_, "emulated:l4");
  const auto runs_of = [&](const std::string& mine, const std::string& theirs) {
    const int before = counting->begun;
    const Verdict verdict = verdict_of(mine, theirs);
    EXPECT_EQ(verdict.state, VerdictState::correct) << verdict.reason;
    return counting->begun - before;
  };
  const std::string naive = "y[i] = 3 * x[i];";
  const int first = runs_of("y[i] = 3 * x[i];", naive);
  EXPECT_GE(first, 2) << "its own and the reference's";
  EXPECT_EQ(runs_of("y[i] = x[i] * 3;", naive), 1);
  EXPECT_EQ(runs_of("y[i] = x[i] + 2 * x[i];", naive), 1);
  EXPECT_EQ(runs_of("y[i] = x[i] * 3;", "y[i] = 2 * x[i] + x[i];"), first) << "another reference";
  seed_ = 7;
  EXPECT_EQ(runs_of("y[i] = x[i] * 3;", "y[i] = 2 * x[i] + x[i];"), first) << "other inputs";
  EXPECT_EQ(verdict_of("y[i] = 4 * x[i];", "y[i] = 2 * x[i] + x[i];").state, VerdictState::wrong);
  EXPECT_EQ(runs_of("y[i] = x[i] * 3;", "y[i] = 2 * x[i] + x[i];"), 1);
  judged_by(manifest_of("mine"), kernel_text("y[i] = x[i];"));
  EXPECT_EQ(runs_of("y[i] = x[i] * 3;", "y[i] = 2 * x[i] + x[i];"), first) << "it was dropped: a run had none";
}

// A fault of the reference is remembered, too.
TEST_F(ReferenceRun, WhatIsNoMeasureIsNoneTheNextTime) {
  for (int time = 0; time < 2; ++time) {
    const Verdict verdict = verdict_of("y[i] = 3 * x[i];", "y[i + n] = x[i];");
    EXPECT_EQ(verdict.state, VerdictState::unchecked);
    EXPECT_THAT(verdict.reason, HasSubstr("naive.cu:5")) << time;
  }
}

// Contents come from a buffer's number, which differs here.
TEST_F(ReferenceRun, BothSeeTheSameInputs) {
  const Verdict same =
      verdict_of("y[i] = 3 * x[i];", "{ scratch[i] = 3 * x[i]; y[i] = scratch[i]; }", Json::object(), true);
  EXPECT_EQ(same.state, VerdictState::correct) << same.reason;
}

// The __constant__ variable has the same contents in both, whatever the buffer's number is.
TEST_F(ReferenceRun, BothSeeTheSameConstants) {
  const auto with_weights = [](Json json) {
    json["buffers"].push_back(
        {{"name", "w"}, {"role", "in"}, {"dtype", "f32"}, {"shape", {64}}, {"symbol", "weights"}});
    return json;
  };
  const std::string variable = "__constant__ float weights[64];\n";
  Json naive = with_weights(manifest_of("naive", {"scratch"})), mine = with_weights(manifest_of("mine"));
  mine["reference"] = {{"kernel", "naive"}};
  mine["reference"]["content"] = {
      {"manifest", naive.dump()},
      {"source_name", "naive.cu"},
      {"source", variable + kernel_text("y[i] = x[i] * weights[threadIdx.x];", "float* scratch, ")}};
  const Verdict same = judged_by(mine, variable + kernel_text("y[i] = weights[threadIdx.x] * x[i];"));
  EXPECT_EQ(same.state, VerdictState::correct) << same.reason;
}

// A kernel with a reference of its own is compared with it.
TEST_F(ReferenceRun, AReferenceWithAReferenceIsJudgedFirst) {
  const auto judged = [&](const std::string& theirs) {
    Json naive = manifest_of("naive"), mine = manifest_of("mine");
    naive["reference"] = {{"kind", "scale"}, {"inputs", {"x"}}, {"output", "y"}, {"value", 3}};
    mine["reference"] = {{"kernel", "naive"}};
    mine["reference"]["content"] = {
        {"manifest", naive.dump()}, {"source_name", "naive.cu"}, {"source", kernel_text(theirs)}};
    return judged_by(mine, kernel_text("y[i] = 3 * x[i];"));
  };
  const Verdict right = judged("y[i] = x[i] + x[i] + x[i];");
  EXPECT_EQ(right.state, VerdictState::correct) << right.reason;
  EXPECT_THAT(right.reason, HasSubstr("which is right by its own reference"));
  const Verdict wrong = judged("y[i] = 4 * x[i];");
  EXPECT_EQ(wrong.state, VerdictState::unchecked);
  EXPECT_THAT(wrong.reason, HasSubstr("its own reference finds it wrong"));
}

// Integers: elements that were never written, and a difference that a double does not hold.
TEST_F(ReferenceRun, WholeNumbersAreComparedByTheirBits) {
  const auto judged = [&](const char* type, const char* word, const std::string& mine, const std::string& theirs) {
    const auto text = [&](std::string line) {
      std::string source = kernel_text(line);
      for (size_t at = 0; (at = source.find("float*", at)) != std::string::npos;)
        source.replace(at, 6, word + std::string("*"));
      return source;
    };
    Json manifests[] = {manifest_of("naive"), manifest_of("mine")};
    for (Json& one : manifests)
      for (Json& buffer : one["buffers"]) buffer["dtype"] = type;
    manifests[1]["reference"] = {{"kernel", "naive"}};
    manifests[1]["reference"]["content"] = {
        {"manifest", manifests[0].dump()}, {"source_name", "naive.cu"}, {"source", text(theirs)}};
    return judged_by(manifests[1], text(mine));
  };
  const Verdict hole = judged("i32", "int", "y[i] = x[i];", "if (i != 9) y[i] = x[i];");
  EXPECT_EQ(hole.state, VerdictState::unchecked);
  EXPECT_THAT(hole.reason, HasSubstr("never wrote element 9 of y"));
  const std::string large = "y[i] = (x[i] << 55) + 5";
  EXPECT_EQ(judged("i64", "long long", large + ";", large + ";").state, VerdictState::correct);
  EXPECT_EQ(judged("i64", "long long", large + " + (i == 3);", large + ";").state, VerdictState::wrong);
}

TEST_F(ReferenceRun, AReferenceThatIsNoMeasureLeavesTheOutputUnchecked) {
  const auto reason = [&](const std::string& theirs) {
    const Verdict verdict = verdict_of("y[i] = 3 * x[i];", theirs);
    EXPECT_EQ(verdict.state, VerdictState::unchecked) << theirs;
    return verdict.reason;
  };
  EXPECT_THAT(reason("if (i != 7) y[i] = 3 * x[i];"), AllOf(HasSubstr("The kernel naive cannot serve as the reference"),
                                                            HasSubstr("never wrote element 7 of y")));
  EXPECT_THAT(reason("y[i + n] = x[i];"), HasSubstr("naive.cu:5"));  // out of bounds
  EXPECT_THAT(reason("y[i] = nowhere;"), HasSubstr("nowhere"));      // does not compile
  EXPECT_THAT(reason("{ s[threadIdx.x] = x[i]; y[i] = s[63 - threadIdx.x]; }"), HasSubstr("Race"));
}

}  // namespace
}  // namespace attnscope::worker
