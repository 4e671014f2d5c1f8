#include "catalog/template_guess.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "catalog/template_arguments.h"

namespace attnscope::catalog {
namespace {

// The first whose word the parameter's name contains, in capitals and without its underscores. The order matters.
constexpr std::pair<std::string_view, const char*> kByPart[] = {
    {"BSZ", "32"},       {"WARPSIZE", "32"},   {"BLOCKSIZEM", "64"}, {"BLOCKSIZEN", "64"}, {"BLOCKSIZEK", "16"},
    {"THREADSIZE", "4"}, {"STAGE", "2"},       {"NUMWARP", "4"},     {"WARPS", "4"},       {"THREAD", "128"},
    {"OFFSET", "0"},     {"HEADDIM", "64"},    {"BLOCKK", "16"},     {"TILEK", "16"},      {"VEC", "4"},
    {"PACK", "4"},       {"UNROLL", "4"},      {"ITER", "1"},        {"TILE", "16"},       {"BLOCKM", "64"},
    {"BLOCKN", "64"},    {"BLOCKSIZE", "128"}, {"BLOCKDIM", "128"},  {"BLOCK", "64"},      {"RADIUS", "1"},
    {"HEAD", "64"},      {"DIM", "64"},        {"WARP", "4"},        {"SIZE", "128"}};
constexpr std::pair<std::string_view, const char*> kByName[] = {
    {"BM", "64"}, {"BN", "64"}, {"BK", "16"}, {"BR", "32"}, {"BC", "32"}, {"BQ", "64"}, {"BKV", "64"}, {"WM", "32"},
    {"WN", "32"}, {"WK", "16"}, {"TM", "4"},  {"TN", "4"},  {"TK", "4"},  {"D", "64"},  {"HD", "64"},  {"SK", "1"}};
constexpr std::array<const char*, 10> kSame{"32", "16", "128", "64", "8", "4", "2", "1", "256", "512"};

std::string by_name(const std::string& name) {
  std::string plain;
  for (const char c : name)
    if (c != '_') plain += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const auto named = std::ranges::find(kByName, plain, &std::pair<std::string_view, const char*>::first);
  if (named != std::end(kByName)) return named->second;
  const auto part = std::ranges::find_if(kByPart, [&](const auto& one) { return plain.find(one.first) != plain.npos; });
  return part != std::end(kByPart) ? part->second : "4";
}

}  // namespace

std::string template_guess(const TemplateParameter& parameter, int number) {
  if (is_type_parameter(parameter)) return "float";
  if (parameter.kind.find("bool") != std::string::npos) return number == kTemplateGuesses - 1 ? "true" : "false";
  if (!is_number_parameter(parameter) && parameter.kind.find("auto") == std::string::npos) return {};
  const auto same = static_cast<size_t>(number) - 1;
  return number == 0 || same >= kSame.size() ? by_name(parameter.name) : kSame[same];
}

}  // namespace attnscope::catalog
