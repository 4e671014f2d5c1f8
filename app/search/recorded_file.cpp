#include "search/recorded_file.h"

#include "core/json.h"
#include "search/kernel_tuner_cache.h"
#include "search/t4.h"

namespace attnscope::search {

Result<Recorded> recorded_from_text(std::string_view text, const std::string& where) {
  std::vector<std::string> keys;
  auto json = parse_json(text, where, kCache, keys);
  if (json && !is_cache(*json)) return recorded_from_t4(*json, where);
  if (json) return recorded_from_cache(*json, keys, where);
  auto cache = parse_json(closed_cache(text), where, kCache, keys);
  if (!cache || !is_cache(*cache)) return fail(json.error());
  return recorded_from_cache(*cache, keys, where);
}

}  // namespace attnscope::search
