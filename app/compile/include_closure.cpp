#include "compile/include_closure.h"

#include <algorithm>
#include <set>

#include "compile/builtin_headers.h"
#include "compile/compile_errors.h"
#include "core/hash.h"
#include "platform/atomic_file.h"

namespace attnscope::compile {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxHeaderBytes = 64u << 20;
constexpr size_t kMaxKnown = 256;

// `path` relative to one of `folders`; empty if it is below none.
std::string below(const fs::path& path, const std::vector<fs::path>& folders) {
  for (size_t i = 0; i < folders.size(); ++i) {
    const auto [folder, rest] = std::mismatch(folders[i].begin(), folders[i].end(), path.begin(), path.end());
    if (folder != folders[i].end() || rest == path.end()) continue;
    std::string name = std::to_string(i);
    for (auto part = rest; part != path.end(); ++part) name += "/" + part->string();
    return name;
  }
  return {};
}

// `body` of a macro, with its parameter replaced by `argument`.
std::string with_argument(const HeaderMacro& macro, const std::string& argument) {
  std::string text = macro.body.name;
  if (macro.parameter.empty()) return text;
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t at = text.find(macro.parameter); at != std::string::npos; at = text.find(macro.parameter, at)) {
    const size_t end = at + macro.parameter.size();
    const bool whole = (at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]));
    if (whole) text.replace(at, macro.parameter.size(), argument);
    at += whole ? argument.size() : 1;
  }
  return text;
}

}  // namespace

// One search through the files.
class IncludeReader::Walk {
 public:
  Walk(std::map<std::string, File>& files, std::vector<fs::path> folders)
      : files_(files), folders_(std::move(folders)) {}

  Known from(const std::string& source) {
    follow(std::make_shared<ScannedIncludes>(scan_includes(source)), {});
    name({kImpliedHeader, false, 0}, {});  // a source may get it before its first line
    while (!waiting_.empty() || follow_computed()) {
      if (waiting_.empty()) continue;
      const fs::path file = std::move(waiting_.back());
      waiting_.pop_back();
      read(file);
    }
    if (std::ranges::any_of(computed_, [](const Computed& one) { return !one.found; }))
      for (const fs::path& folder : folders_) take_whole(folder);
    return finished();
  }

 private:
  struct Computed {
    ComputedName name;
    fs::path folder;  // of the including file
    bool found = false;
  };

  void follow(std::shared_ptr<const ScannedIncludes> includes, const fs::path& folder) {
    for (const IncludedName& one : includes->names) name(one, folder);
    for (const ComputedName& one : includes->computed) computed_.push_back({one, folder});
    for (const HeaderMacro& one : includes->macros) macros_[one.macro].push_back(one);
  }

  // Records all places where `included` may be, not only the first, because an #include_next uses a later one.
  bool name(const IncludedName& included, const fs::path& folder) {
    bool found = false;
    for (const cuda_api::NvrtcHeader& header : builtin_headers()) {
      if (included.name != header.name) continue;
      found = true;
      if (builtins_.insert(included.name).second)
        follow(std::make_shared<ScannedIncludes>(scan_includes(header.text)), {});
    }
    if (included.quoted && !folder.empty()) found |= look_at(folder / included.name);
    for (const fs::path& one : folders_) found |= look_at(one / included.name);
    return found;
  }

  bool look_at(const fs::path& place) {
    const fs::path file = place.lexically_normal();
    const auto known = looked_at_.find(file.string());
    if (known != looked_at_.end()) return known->second.has_value();
    if (below(file, folders_).empty()) return false;  // the kernel may name it, but the compiler may not read it
    const auto stamp = platform::stamp_of(file);
    looked_at_.emplace(file.string(), stamp);
    if (stamp)
      waiting_.push_back(file);
    else
      miss(file);
    return stamp.has_value();
  }

  // Records what would show that a file appears at `place`: the nearest existing folder above it, or the place itself.
  void miss(const fs::path& place) {
    for (fs::path name = place; name.has_relative_path(); name = name.parent_path()) {
      const fs::path folder = name.parent_path();
      auto known = folders_looked_at_.find(folder.string());
      if (known == folders_looked_at_.end()) {  // stamped before it is searched, so that later changes show
        const auto stamp = platform::folder_stamp_of(folder);
        if (stamp && platform::is_recent(*stamp)) settled_ = false;
        known = folders_looked_at_.emplace(folder.string(), stamp).first;
      }
      if (platform::name_exists(name)) break;  // a dangling link, or a folder: its target may change
      if (known->second) return;
    }
    missing_.push_back(place);
  }

  void read(const fs::path& path) {
    const platform::FileStamp stamp = *looked_at_.at(path.string());
    File& file = files_[path.string()];
    if (!file.includes || file.stamp != stamp || !file.settled) {
      const bool settled = !platform::is_recent(stamp);
      const auto text = platform::read_file(path, kMaxHeaderBytes);
      file = {stamp, settled && text, text ? xxh3_128(*text) : "unreadable",
              std::make_shared<ScannedIncludes>(text ? scan_includes(*text) : ScannedIncludes())};
    }
    settled_ &= file.settled;
    hashes_[path.string()] = file.hash;
    follow(file.includes, path.parent_path());
  }

  // Returns true if a computed name led to a new file.
  bool follow_computed() {
    for (size_t i = 0; i < computed_.size(); ++i) {
      const Computed one = computed_[i];  // a copy, because new entries may be added to both lists
      for (const HeaderMacro& macro : std::vector<HeaderMacro>(macros_[one.name.macro]))
        computed_[i].found |= name({with_argument(macro, one.name.argument), macro.body.quoted, 0}, one.folder);
    }
    return !waiting_.empty();
  }

  void take_whole(const fs::path& folder) {
    whole_.push_back(folder);
    std::error_code error;
    constexpr auto options = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator at(folder, options, error), end; !error && at != end; at.increment(error)) {
      const std::string path = at->path().string();
      if (looked_at_.contains(path)) continue;
      const auto stamp = platform::stamp_of(at->path());
      if (!stamp) continue;
      looked_at_.emplace(path, stamp);
      // Too many to read, so the stamp is used: it changes with the contents, and sometimes without.
      hashes_[path] = std::to_string(stamp->bytes) + " " + std::to_string(stamp->modified_ns);
    }
  }

  Known finished() {
    IncludeClosure closure;
    closure.files = whole_;
    std::set<std::string> lines;
    for (const auto& [path, hash] : hashes_) {
      lines.insert(below(path, folders_) + " " + hash + "\n");
      closure.files.emplace_back(path);
    }
    std::string all;
    for (const std::string& line : lines) all += line;
    closure.digest = xxh3_128(all);
    Known known;
    known.settled = settled_ && whole_.empty();  // a new file in a whole folder would not be noticed
    for (const auto& [path, stamp] : looked_at_)
      if (stamp) known.files.emplace_back(path, *stamp);
    for (const auto& [path, stamp] : folders_looked_at_)
      if (stamp) known.folders.emplace_back(path, *stamp);
    known.missing = std::move(missing_);
    known.closure = std::make_shared<const IncludeClosure>(std::move(closure));
    return known;
  }

  std::map<std::string, File>& files_;
  const std::vector<fs::path> folders_;
  std::map<std::string, std::optional<platform::FileStamp>> looked_at_, folders_looked_at_;
  std::vector<fs::path> missing_;
  bool settled_ = true;
  std::map<std::string, std::string> hashes_;  // of the files of the closure
  std::set<std::string> builtins_;
  std::vector<fs::path> waiting_, whole_;
  std::vector<Computed> computed_;
  std::map<std::string, std::vector<HeaderMacro>> macros_;
};

bool names_header(const std::string& source, const std::string& header) {
  return source.find("<" + header + ">") != std::string::npos || source.find('"' + header + '"') != std::string::npos;
}

Result<void> check_own_includes(const std::string& source, const std::string& name) {
  const ScannedIncludes scanned = scan_includes(source);
  const auto refused = [&](size_t line, const std::string& what) {
    return fail(Stage::compile, name + ":" + std::to_string(line) + ": " + what, kMayInclude);
  };
  for (const IncludedName& one : scanned.names)
    if (leads_outside(one.name)) return refused(one.line, outside_text(one.name));
  for (const ComputedName& one : scanned.computed)
    return refused(one.line, "the header's name is a macro's, " + one.macro + ", and could be any file's");
  return {};
}

bool IncludeReader::Known::holds() const {
  return settled &&
         std::ranges::all_of(files, [](const auto& one) { return platform::stamp_of(one.first) == one.second; }) &&
         std::ranges::all_of(folders,
                             [](const auto& one) { return platform::folder_stamp_of(one.first) == one.second; }) &&
         std::ranges::none_of(missing, [](const fs::path& one) { return platform::stamp_of(one).has_value(); });
}

std::shared_ptr<const IncludeClosure> IncludeReader::closure(const std::string& source,
                                                             const std::vector<fs::path>& folders) {
  std::string key = xxh3_128(source);
  std::vector<fs::path> places;
  for (const fs::path& folder : folders) {
    places.push_back((folder / ".").lexically_normal().parent_path());  // without a trailing slash
    key += "\n" + places.back().string();
  }
  const std::lock_guard lock(mutex_);
  if (const auto found = closures_.find(key); found != closures_.end() && found->second.holds())
    return found->second.closure;
  if (closures_.size() >= kMaxKnown) closures_.clear();
  Known& known = closures_[key];
  known = Walk(files_, std::move(places)).from(source);
  return known.closure;
}

}  // namespace attnscope::compile
