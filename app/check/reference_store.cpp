#include "check/reference_store.h"

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "core/hash.h"
#include "platform/aged_files.h"
#include "platform/atomic_file.h"

namespace attnscope::check {
namespace {

namespace fs = std::filesystem;

// A file holds the magic, the XXH3-128 (32 hexadecimal digits) of everything after it, naive_rel_frobenius, whether
// classes follow, the values and the classes. The rows follow from the problem, which the file's name identifies. Raise
// the version when the values or the choice of rows change.
constexpr std::string_view kMagic = "attnref1";
constexpr int kVersion = 1;
constexpr size_t kChecksumBytes = 32;
constexpr size_t kHeadBytes = sizeof(double) + sizeof(uint64_t);
static_assert(std::endian::native == std::endian::little, "the files are little-endian");

template <class T>
void append(std::string& out, const T* values, size_t count) {
  out.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

std::string payload_of(const Reference& reference) {
  std::string payload;
  const uint64_t has_classes = !reference.classes.empty();
  append(payload, &reference.naive_rel_frobenius, 1);
  append(payload, &has_classes, 1);
  append(payload, reference.values.data(), reference.values.size());
  append(payload, reference.classes.data(), reference.classes.size());
  return payload;
}

// Parses the payload after its checksum was verified. Null if its size does not match the problem.
std::shared_ptr<const Reference> parse(std::string_view payload, const Problem& problem, Accumulate accumulate) {
  if (payload.size() < kHeadBytes) return nullptr;
  auto reference = blank_reference(problem, accumulate, reference_rows(problem));
  const size_t elements = reference->values.size();
  uint64_t has_classes = 0;
  std::memcpy(&reference->naive_rel_frobenius, payload.data(), sizeof(double));
  std::memcpy(&has_classes, payload.data() + sizeof(double), sizeof(uint64_t));
  if (has_classes > 1 || payload.size() != kHeadBytes + elements * (sizeof(double) + has_classes)) return nullptr;
  std::memcpy(reference->values.data(), payload.data() + kHeadBytes, elements * sizeof(double));
  if (has_classes) {
    reference->classes.resize(elements);
    std::memcpy(reference->classes.data(), payload.data() + kHeadBytes + elements * sizeof(double), elements);
    for (ElementClass c : reference->classes)
      if (c > ElementClass::minus_inf) return nullptr;
  }
  return reference;
}

}  // namespace

ReferenceStore::ReferenceStore(fs::path folder, uint64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {}

fs::path ReferenceStore::path_of(const Problem& problem, Accumulate accumulate) const {
  const Json key{{"problem", to_json(problem)}, {"accumulate", word_of(accumulate)}, {"version", kVersion}};
  return folder_ / (xxh3_128(std::string_view(key.dump())) + ".ref");
}

std::shared_ptr<const Reference> ReferenceStore::find(const Problem& problem, Accumulate accumulate) const {
  const fs::path path = path_of(problem, accumulate);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return nullptr;
  const auto text = platform::read_file(path, kMaxFileBytes);
  if (!text || !text->starts_with(kMagic) || text->size() < kMagic.size() + kChecksumBytes) return nullptr;
  const std::string_view all(*text);
  const std::string_view checksum = all.substr(kMagic.size(), kChecksumBytes);
  const std::string_view payload = all.substr(kMagic.size() + kChecksumBytes);
  if (xxh3_128(payload) != checksum) return nullptr;
  auto reference = parse(payload, problem, accumulate);
  // Marks it as used, because trim() deletes the oldest.
  if (reference) fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return reference;
}

Result<void> ReferenceStore::keep(const Reference& reference) const {
  const size_t bytes = reference.values.size() * sizeof(double) + reference.classes.size();
  if (bytes + kHeadBytes + kMagic.size() + kChecksumBytes > kMaxFileBytes) return {};
  const std::string payload = payload_of(reference);
  const std::string text = std::string(kMagic) + xxh3_128(std::string_view(payload)) + payload;
  const fs::path path = path_of(reference.problem, reference.accumulate);
  auto written = platform::write_file(path, std::string_view(text), platform::Durability::cached);
  if (written) trim();
  return written;
}

void ReferenceStore::trim() const {
  auto files = platform::files_by_age(folder_);
  std::erase_if(files, [](const platform::AgedFile& file) { return file.path.extension() != ".ref"; });
  platform::remove_oldest(files, max_bytes_);
}

Result<std::shared_ptr<const Reference>> reference_for(const Problem& problem, const AttentionInputs& inputs,
                                                       Accumulate accumulate, const ReferenceOptions& options,
                                                       const ReferenceStore* store) {
  if (store)
    if (auto found = store->find(problem, accumulate)) return found;
  auto made = make_reference(problem, inputs, accumulate, options);
  if (made && store) (void)store->keep(**made);
  return made;
}

}  // namespace attnscope::check
