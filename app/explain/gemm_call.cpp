#include "explain/gemm_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/json.h"
#include "core/words.h"
#include "core/workload.h"
#include "explain/rules.h"

namespace attnscope::explain {
namespace {

enum class Transpose { N, T, C };
enum class Routine { cublasSgemm, cublasHgemm, cublasGemmEx, cublasGemmStridedBatchedEx };

// The number of each leading dimension's parameter as in cuBLAS' messages, which do not count the handle.
struct Positions {
  Routine routine;
  int lda, ldb, ldc;
};
constexpr Positions kPositions[] = {{Routine::cublasSgemm, 8, 10, 13},
                                    {Routine::cublasHgemm, 8, 10, 13},
                                    {Routine::cublasGemmEx, 9, 12, 16},
                                    {Routine::cublasGemmStridedBatchedEx, 9, 13, 18}};

struct Call {
  Routine routine = Routine::cublasGemmEx;
  Transpose transa = Transpose::N, transb = Transpose::N;
  int64_t m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldc = 0;
  ElementType atype = ElementType::f16, btype = ElementType::f16;
};

Finding illegal(std::string sentence, int position, std::vector<Evidence> evidence) {
  Finding finding = note(RuleId::call_argument, Severity::error, std::move(sentence), std::move(evidence));
  if (position > 0) finding.where["argument"] = std::to_string(position);
  return finding;
}

}  // namespace
}  // namespace attnscope::explain

namespace attnscope {
template <>
struct Words<explain::Transpose> : NamesAsWords<explain::Transpose> {};
template <>
struct Words<explain::Routine> : NamesAsWords<explain::Routine> {};
}  // namespace attnscope

namespace attnscope::explain {

Result<std::vector<Finding>> findings_of_gemm(const Json& json, const std::string& where) {
  constexpr int64_t kMost = int64_t{1} << 31;
  Call call;
  JsonReader read(json, where);
  for (const char* key : {"routine", "transa", "transb", "m", "n", "k", "lda", "ldb", "ldc"}) read.required(key);
  read.word("routine", call.routine);
  read.word("transa", call.transa);
  read.word("transb", call.transb);
  for (const auto& [key, to] : {std::pair{"m", &call.m},
                                {"n", &call.n},
                                {"k", &call.k},
                                {"lda", &call.lda},
                                {"ldb", &call.ldb},
                                {"ldc", &call.ldc}})
    read.integer(key, *to, 0, kMost);
  read.word("atype", call.atype);
  read.word("btype", call.btype);
  if (auto done = read.finish(); !done) return fail(done.error());

  std::vector<Finding> findings;
  const auto& at = *std::ranges::find(kPositions, call.routine, &Positions::routine);
  const auto check = [&](const char* name, int position, int64_t given, int64_t rows, const char* of) {
    const int64_t least = std::max<int64_t>(1, rows);
    if (given >= least) return;
    findings.push_back(illegal(
        fmt::format("Parameter {} of {} is {}: it is {}, and a column of {} has {} rows, so at least {} is required.",
                    position, to_string(call.routine), name, given, of, rows, least),
        position, {counted(name, double(given)), counted("at least", double(least))}));
  };
  check("lda", at.lda, call.lda, call.transa == Transpose::N ? call.m : call.k, "A as it is stored");
  check("ldb", at.ldb, call.ldb, call.transb == Transpose::N ? call.k : call.n, "B as it is stored");
  check("ldc", at.ldc, call.ldc, call.m, "C");
  if (call.atype != call.btype)
    findings.push_back(illegal(fmt::format("A is {} and B is {}: {} multiplies two matrices of one type.",
                                           to_string(call.atype), to_string(call.btype), to_string(call.routine)),
                               0, {}));
  return findings;
}

}  // namespace attnscope::explain
