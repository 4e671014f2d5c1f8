#pragma once
#include <functional>
#include <string>
#include <vector>

#include "mutate.h"

namespace attnscope::fuzz {

// A reader of input from outside.
struct Door {
  std::string name;
  unsigned share = 1;  // of the cases: a listing takes a hundred times as long as a cubin
  std::vector<std::string> seeds;
  std::vector<std::string> words;  // words that its inputs are made of
  // Reads `input` and everything that depends on it. Returns "" if it was accepted, else the Failure's message.
  // `origin` is the seed that the input comes from.
  std::function<std::string(const std::string& input, size_t origin)> feed;
  std::function<std::string(const std::string&, const std::string&, const std::vector<std::string>&, Random&)> mutate;
  bool by_coverage = true;  // libfuzzer_<name> feeds it too, and tests/data/fuzz_corpora.tar.xz has what that kept
};

// cubin, variant (an entry of the cache of compiled kernels), listing (nvdisasm's text, then decoded), decoder (a few
// instructions, machine_code.h), manifest, import (a source: blanked, imported, the manifest read), preset, settings,
// grid (rbk_config.yaml), explained (files that `explain` reads), space, recorded and row (what a sweep reads and
// stores), expression, request and reply (a worker's and a
// session's end of the protocol).
std::vector<Door> doors();

}  // namespace attnscope::fuzz
