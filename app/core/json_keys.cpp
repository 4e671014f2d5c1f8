#include "core/json_keys.h"

#include "core/json.h"

namespace attnscope {

std::vector<std::string> keys_of_member(std::string_view text, const std::string& member) {
  std::vector<std::string> keys;
  bool inside = false;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event != Json::parse_event_t::key) return true;
    if (depth == 1) inside = parsed == member;
    if (depth == 2 && inside) keys.push_back(parsed.get<std::string>());
    return true;
  };
  if (Json::parse(text, watch, false).is_discarded()) return {};
  return keys;
}

}  // namespace attnscope
