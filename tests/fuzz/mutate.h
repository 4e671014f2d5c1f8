#pragma once
#include <random>
#include <string>
#include <vector>

namespace attnscope::fuzz {

using Random = std::mt19937_64;

// One to eight changes of `seed`: bits, bytes and integers of 1, 2, 4 or 8 bytes set to extreme values, parts cut,
// doubled, moved or taken from `other`, digits of a text made long, words of `words` inserted. Never longer than twice
// the seed plus 4 KB.
std::string mutated(const std::string& seed, const std::string& other, const std::vector<std::string>& words,
                    Random& random);

// The same of a text that is JSON; half of them are JSON still, with values taken out, put elsewhere or set to edges.
std::string mutated_json(const std::string& seed, const std::string& other, const std::vector<std::string>& words,
                         Random& random);

}  // namespace attnscope::fuzz
