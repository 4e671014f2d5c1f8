#include "catalog/device_launches.h"

#include <algorithm>
#include <utility>

#include "catalog/source_text.h"

namespace attnscope::catalog {
namespace {

constexpr size_t kMostOfHead = 1000;  // tokens of a function's head

// The bytes of the body of the function whose head has `__global__` or `__device__` at `i`; empty if it has no body.
std::pair<size_t, size_t> body_at(const std::vector<CppToken>& tokens, const CppBrackets& brackets, size_t i) {
  bool host = i > 0 && is(tokens, i - 1, "__host__");
  for (size_t at = i; at < tokens.size() && at - i < kMostOfHead; ++at) {
    host = host || is(tokens, at, "__host__");
    if (is(tokens, at, ";") || is(tokens, at, "=")) break;
    if (is(tokens, at, "(")) at = brackets.closing(at);
    if (!is(tokens, at, "{")) continue;
    const size_t close = brackets.closing(at);
    return host || close >= tokens.size() ? std::pair<size_t, size_t>{} : std::pair{tokens[at].at, tokens[close].at};
  }
  return {};
}

}  // namespace

void remove_device_launches(const std::vector<CppToken>& tokens, const CppBrackets& brackets,
                            std::vector<SourceLaunch>& launches) {
  if (launches.empty()) return;
  std::vector<std::pair<size_t, size_t>> bodies;  // ascending, not nested
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!is(tokens, i, "__global__") && !is(tokens, i, "__device__")) continue;
    if (!bodies.empty() && tokens[i].at < bodies.back().second) continue;
    if (const auto body = body_at(tokens, brackets, i); body.second > 0) bodies.push_back(body);
  }
  std::erase_if(launches, [&](const SourceLaunch& launch) {
    const auto behind = std::ranges::upper_bound(bodies, launch.at, {}, &std::pair<size_t, size_t>::first);
    return behind != bodies.begin() && launch.at < std::prev(behind)->second;
  });
}

}  // namespace attnscope::catalog
