#include "search/recorded_file.h"

#include "core/json.h"
#include "core/json_keys.h"
#include "search/kernel_tuner_cache.h"
#include "search/t4.h"

namespace attnscope::search {

Result<Recorded> recorded_from_text(std::string_view text, const std::string& where) {
  auto json = parse_json(text, where);
  if (json && !is_cache(*json)) return recorded_from_t4(*json, where);
  if (json) return recorded_from_cache(*json, keys_of_member(text, kCache), where);
  const std::string closed = closed_cache(text);
  auto cache = parse_json(closed, where);
  if (!cache || !is_cache(*cache)) return fail(json.error());
  return recorded_from_cache(*cache, keys_of_member(closed, kCache), where);
}

}  // namespace attnscope::search
