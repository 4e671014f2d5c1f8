// Decoded programs, cached by their code.
#include <mutex>
#include <unordered_map>

#include "emulator/emulator.h"
#include "emulator/isa/program.h"

namespace attnscope::emulator {

const compile::SassProgram& sass_of(const Program& program) { return *program.sass; }

Result<std::shared_ptr<const Program>> prepare(std::shared_ptr<const compile::SassProgram> sass) {
  static std::mutex mutex;
  static std::unordered_map<std::string, std::shared_ptr<const Program>> cache;
  constexpr size_t kMostCached = 256;
  if (sass == nullptr) return fail(Stage::internal, "No machine code to decode.", "Disassemble the variant first.");
  const std::string key = sass->code_hash;
  std::shared_ptr<const Program> known;
  {
    std::lock_guard lock(mutex);
    const auto found = cache.find(key);
    if (!key.empty() && found != cache.end()) known = found->second;
  }
  if (known != nullptr) {
    if (known->sass == sass) return known;
    Program same = *known;  // equal code may have other source lines
    same.sass = std::move(sass);
    return std::make_shared<const Program>(std::move(same));
  }
  auto program = decode(std::move(sass));
  if (!program) return program;
  std::lock_guard lock(mutex);
  if (cache.size() >= kMostCached) cache.clear();
  if (!key.empty()) cache.emplace(key, *program);
  return program;
}

}  // namespace attnscope::emulator
