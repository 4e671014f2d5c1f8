#include "cli/import_cache.h"

#include <fmt/format.h>

#include <string_view>

#include "catalog/catalog.h"
#include "cli/places.h"
#include "compile/disk_cache.h"
#include "core/escape.h"
#include "core/fields.h"
#include "core/hash.h"
#include "core/observation_fields.h"
#include "cuda_api/locate.h"
#include "platform/file_stamp.h"
#include "platform/paths.h"

namespace attnscope {
namespace {

constexpr Limits kText{.bytes = 2 * catalog::kMaxSourceBytes};

}  // namespace

template <>
struct FieldsOf<catalog::WholeSource> {
  using Of = catalog::WholeSource;
  static constexpr auto list =
      std::tuple{Field{"text", &Of::text, kText}, Field{"pasted", &Of::pasted}, Field{"found", &Of::found},
                 Field{"missing", &Of::missing},  Field{"added", &Of::added},   Field{"fenced", &Of::fenced},
                 Field{"changed", &Of::changed}};
};

template <>
struct FieldsOf<catalog::Imported> {
  using Of = catalog::Imported;
  static constexpr auto list = std::tuple{Field{"id", &Of::id},
                                          Field{"entry", &Of::entry},
                                          Field{"manifest", &Of::manifest, kText},
                                          Field{"read", &Of::read},
                                          Field{"guessed", &Of::guessed},
                                          Field{"probed", &Of::probed},
                                          Field{"others", &Of::others},
                                          Field{"launched", &Of::launched},
                                          Field{"launched_elsewhere", &Of::launched_elsewhere},
                                          Field{"programs", &Of::programs}};
};

template <>
struct FieldsOf<cli::ImportedFile> {
  using Of = cli::ImportedFile;
  static constexpr auto list = std::tuple{Field{"name", &Of::name, Limits{.required = true}},
                                          Field{"whole", &Of::whole, Limits{.required = true}},
                                          Field{"imported", &Of::imported, Limits{.required = true}},
                                          Field{"failure", &Of::failure}, Field{"compiled", &Of::compiled}};
};

namespace cli {
namespace {

constexpr const char* kKind = "import";
constexpr uint64_t kMostBytes = uint64_t{64} << 20;

// Parts of a key, each with its length, so that no two lists give one text.
class Key {
 public:
  void add(std::string_view text) { text_ += fmt::format("{} ", text.size()).append(text) + '\n'; }
  void add(const std::vector<std::string>& texts) {
    add(std::to_string(texts.size()));
    for (const std::string& one : texts) add(one);
  }
  // False if the file may change again without another stamp.
  bool add_file(const std::filesystem::path& file) {
    add(file.string());
    const auto stamp = platform::stamp_of(file);
    if (!stamp) return true;
    add(fmt::format("{} {} {} {}", stamp->inode, stamp->bytes, stamp->modified_ns, stamp->changed_ns));
    return !platform::is_recent(*stamp);
  }
  std::string hash() const { return xxh3_128(text_); }

 private:
  std::string text_;
};

}  // namespace

ImportCache::ImportCache(const GivenFile& given, const catalog::WholeSource& own, catalog::Project& project) {
  const auto places = find_places();
  const auto program = platform::own_executable();
  std::error_code error;
  const std::filesystem::path file = std::filesystem::absolute(given.file, error);
  if (!places || !program || error) return;
  Key key;
  bool settled = key.add_file(*program);
  for (const std::filesystem::path& toolkit : cuda_api::toolkits()) key.add(toolkit.string());
  for (const std::filesystem::path& folder : cuda_api::package_folders()) key.add(folder.string());
  key.add(file.string());
  key.add({given.entry, given.function});
  key.add(given.include);
  key.add(own.text);
  key.add(own.missing);
  for (const std::filesystem::path& other : project.files())
    if (other != file) settled = key.add_file(other) && settled;
  if (!settled) return;
  folder_ = places->user.cache / "imports";
  key_ = key.hash();
}

std::optional<ImportedFile> ImportCache::get() const {
  if (key_.empty()) return std::nullopt;
  const auto found = compile::DiskCache(folder_, kKind, kMostBytes).get(key_);
  if (!found.payload) return std::nullopt;
  const auto json = parse_json(*found.payload, key_);
  if (!json) return std::nullopt;
  auto file = read_fields<ImportedFile>(*json, key_, Stage::store);
  return file ? std::optional(std::move(*file)) : std::nullopt;
}

void ImportCache::put(const ImportedFile& file) const {
  if (key_.empty() || file.hurried) return;
  const compile::DiskCache cache(folder_, kKind, kMostBytes);
  if (cache.put(key_, json_text(write_fields(file)))) cache.trim();
}

}  // namespace cli
}  // namespace attnscope
