#include "catalog/whole_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "catalog/catalog.h"
#include "core/cpp_tokens.h"
#include "core/escape.h"
#include "platform/atomic_file.h"

namespace attnscope::catalog {
namespace {

namespace fs = std::filesystem;

constexpr int kFoldersAbove = 3;       // folders above in which a project's root is searched, to say where a header is
constexpr size_t kMostFolders = 100;   // in a folder above
constexpr int kDeepestHeader = 200;    // nested headers, by the compilers' count
constexpr size_t kMostMissing = 1000;  // each is searched in every folder

struct Include {
  std::string name;
  bool quoted = false;
};

// `#include "x"` or `#include <x>`, but not a macro.
std::optional<Include> include_of(std::string_view line) {
  const size_t word = line.find_first_not_of(" \t", 1);
  if (word == std::string_view::npos || !line.substr(word).starts_with("include")) return std::nullopt;
  const size_t open = line.find_first_not_of(" \t", word + std::string_view("include").size());
  if (open == std::string_view::npos || (line[open] != '"' && line[open] != '<')) return std::nullopt;
  const size_t close = line.find(line[open] == '"' ? '"' : '>', open + 1);
  if (close == std::string_view::npos) return std::nullopt;
  return Include{std::string(line.substr(open + 1, close - open - 1)), line[open] == '"'};
}

bool leads_elsewhere(const fs::path& name) {
  return name.is_absolute() || std::find(name.begin(), name.end(), "..") != name.end();
}

bool is_once(std::string_view line) {
  const std::vector<CppToken> inner = cpp_tokens(line.substr(1));
  return inner.size() == 2 && inner[0].is("pragma") && inner[1].is("once");
}

// #else, #elif and #endif.
bool ends_branch(std::string_view line) {
  const std::vector<CppToken> words = cpp_tokens(line.substr(1));
  return !words.empty() && (words[0].is("endif") || words[0].text.starts_with("el"));
}

// CUDA headers whose words a text uses and which it does not include, because the project's missing headers include
// them.
std::vector<std::string> cuda_headers_of(const std::string& text) {
  static const std::map<std::string_view, const char*> homes{{"half", "cuda_fp16.h"},
                                                             {"__half", "cuda_fp16.h"},
                                                             {"half2", "cuda_fp16.h"},
                                                             {"__half2", "cuda_fp16.h"},
                                                             {"__nv_bfloat16", "cuda_bf16.h"},
                                                             {"nv_bfloat16", "cuda_bf16.h"},
                                                             {"__nv_bfloat162", "cuda_bf16.h"},
                                                             {"nv_bfloat162", "cuda_bf16.h"},
                                                             {"nvcuda", "mma.h"},
                                                             {"cooperative_groups", "cooperative_groups.h"},
                                                             {"cuComplex", "cuComplex.h"},
                                                             {"cuDoubleComplex", "cuComplex.h"}};
  std::set<std::string> needed, included;
  for (const CppToken& token : cpp_tokens(text)) {
    if (const auto include = token.kind == CppToken::Kind::line ? include_of(token.text) : std::nullopt)
      included.insert(include->name);
    if (const auto home = homes.find(token.text); home != homes.end()) needed.insert(home->second);
  }
  std::vector<std::string> added;
  std::ranges::set_difference(needed, included, std::back_inserter(added));
  return added;
}

// A file that was copied out of a chat or a page, between "```cuda" and "```", or below the language's name only: its
// text without these lines, which stay empty. Empty for any other file.
std::optional<std::string> without_fences(const std::string& source) {
  constexpr std::string_view kFence = "```", kBlank = " \t\r\n";
  static constexpr std::array<std::string_view, 7> languages{"c++", "cpp", "cuda", "cu", "C++", "CUDA", "c"};
  const size_t first = source.find_first_not_of(kBlank);
  if (first == std::string::npos) return std::nullopt;
  const size_t end = std::min(source.find('\n', first), source.size());
  std::string_view line = std::string_view(source).substr(first, end - first);
  line = line.substr(0, line.find_last_not_of(kBlank) + 1);
  if (!line.starts_with(kFence) && std::ranges::find(languages, line) == languages.end()) return std::nullopt;
  std::string text = source;
  text.replace(first, end - first, end - first, ' ');
  const size_t last = text.find_last_not_of(kBlank);
  if (last != std::string::npos && last + 1 >= kFence.size() &&
      text.compare(last + 1 - kFence.size(), kFence.size(), kFence) == 0)
    text.replace(last + 1 - kFence.size(), kFence.size(), kFence.size(), ' ');
  return text;
}

class Paster {
 public:
  Paster(const std::vector<fs::path>& folders, const std::function<bool(const std::string&)>& known,
         ProjectHeaders* project)
      : folders_(folders), known_(known), project_(project) {}

  // `above`: files that stand in front of the text, so that a header among them is not pasted again.
  Result<WholeSource> paste(const fs::path& file, const std::string& source, const std::set<fs::path>& above = {}) {
    std::error_code error;
    seen_ = above;
    seen_.insert(fs::weakly_canonical(file, error));
    for (const fs::path& folder : folders_) roots_.push_back(fs::canonical(folder, error));
    roots_.push_back(fs::canonical(file.has_parent_path() ? file.parent_path() : ".", error));
    home_ = roots_.back();
    if (project_ && !project_->project.root().empty()) roots_.push_back(project_->project.root());
    const std::optional<std::string> unfenced = without_fences(source);
    whole_.fenced = whole_.changed = unfenced.has_value();
    const std::string& text = unfenced ? *unfenced : source;
    if (auto done = one(file, file.filename().string(), text, true); !done) return fail(done.error());
    if (!whole_.missing.empty()) whole_.added = cuda_headers_of(whole_.text);
    whole_.changed = whole_.changed || !whole_.pasted.empty() || !whole_.added.empty();
    if (whole_.changed) whole_.text = line_directive(1, file.filename().string()) + whole_.text;
    for (const std::string& name : whole_.added) whole_.text.insert(0, "#include <" + name + ">\n");
    whole_.files = std::move(seen_);
    return std::move(whole_);
  }

 private:
  // Finds the header in the including file's folder and the given ones. A name or a link that leads out of them is not
  // followed.
  std::optional<fs::path> find(const Include& include, const fs::path& from) const {
    std::vector<fs::path> places;
    if (include.quoted) places.push_back(from);
    places.insert(places.end(), folders_.begin(), folders_.end());
    std::error_code error;
    for (const fs::path& place : places)
      if (fs::is_regular_file(place / include.name, error) && is_ours(fs::canonical(place / include.name, error)))
        return place / include.name;
    return std::nullopt;
  }

  // Elsewhere in the file's repository; it is said which file was taken. CUDA's own headers are not looked for there.
  std::optional<fs::path> find_in_project(const Include& include) {
    if (!project_ || fs::path(include.name).is_absolute() || ++looked_for_ > kMostMissing) return std::nullopt;
    const auto header = project_->project.header(include.name);
    if (!header || project_->is_cudas(include.name)) return std::nullopt;
    std::string text = fmt::format("{}: {}", include.name, name_of(header->file));
    if (header->others > 0) text += fmt::format(", the nearest of {} files that it could be", header->others + 1);
    if (!seen_.contains(header->file)) whole_.found.push_back(std::move(text));
    return header->file;
  }

  bool is_ours(const fs::path& file) const {
    return std::ranges::any_of(roots_, [&](const fs::path& root) {
      return !root.empty() && std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first == root.end();
    });
  }

  // "common.h, which line 26 of adamw.cu includes", and which folder above has it. Only looks for the name: no file is
  // read from a folder that was not given.
  std::string missing(const Include& include, size_t line, const fs::path& file) const {
    std::string text = fmt::format("{}, which line {} of {} includes", include.name, line, file.filename().string());
    const fs::path name = include.name;
    std::error_code error;
    if (name.is_absolute()) return text + "; it is elsewhere";
    if (leads_elsewhere(name)) {
      const fs::path place = fs::absolute(file, error).parent_path() / name;
      if (!fs::is_regular_file(place, error)) return text + "; it is elsewhere";
      return text + "; --include " + place.lexically_normal().parent_path().string() + " has it";
    }
    fs::path above = fs::absolute(file, error).parent_path();
    for (int i = 0; i < kFoldersAbove; ++i) {
      above = above.parent_path();
      if (const fs::path place = folder_with(above, name); !place.empty())
        return text + "; --include " + place.string() + " has it";
    }
    return text;
  }

  // `folder`, or one in it, such as include or common; empty if none has the file.
  static fs::path folder_with(const fs::path& folder, const fs::path& name) {
    std::error_code error;
    if (fs::is_regular_file(folder / name, error)) return folder;
    std::vector<fs::path> inner;
    fs::directory_iterator entries(folder, error);
    for (; !error && entries != fs::directory_iterator() && inner.size() < kMostFolders; entries.increment(error))
      if (std::error_code unreadable; entries->is_directory(unreadable)) inner.push_back(entries->path());
    std::ranges::sort(inner);
    const auto found = std::ranges::find_if(inner, [&](const fs::path& one) {
      std::error_code unreadable;
      return fs::is_regular_file(one / name, unreadable);
    });
    return found == inner.end() ? fs::path() : *found;
  }

  // Gives the next line its original number and file.
  static std::string line_directive(int64_t line, const std::string& name) {
    return fmt::format("#line {} \"{}\"\n", line, c_string(name));
  }
  // "common/x.h" or "../x.h": the path from the .cu file's folder.
  std::string name_of(const fs::path& header) const {
    std::error_code error;
    return fs::canonical(header, error).lexically_proximate(home_).generic_string();
  }

  Result<void> one(const fs::path& file, const std::string& name, const std::string& source, bool outermost,
                   int depth = 0) {
    if (depth == kDeepestHeader)
      return fail(Stage::input,
                  fmt::format("{} is the {}th header within headers", file.filename().string(), kDeepestHeader),
                  "Import a file whose headers include each other less deeply.");
    size_t copied = 0, counted = 0;
    int64_t line = 1;     // the line of the byte at `counted`
    bool pastes = false;  // so far
    const auto count_to = [&](size_t end) {
      line += std::count(source.begin() + static_cast<ptrdiff_t>(counted), source.begin() + static_cast<ptrdiff_t>(end),
                         '\n');
      counted = end;
    };
    for (const CppToken& token : cpp_tokens(source)) {
      if (token.kind != CppToken::Kind::line) continue;
      count_to(token.at);
      const auto replace = [&](const std::string& by) {
        whole_.text += source.substr(copied, token.at - copied) + by;
        copied = token.end();
      };
      // As many line ends as the directive has, so that the following lines keep their numbers.
      const std::string its_lines(static_cast<size_t>(std::ranges::count(token.text, '\n')), '\n');
      if (!outermost && is_once(token.text)) replace(its_lines);  // it would apply to the whole file
      if (pastes && ends_branch(token.text)) {                    // the compiler skips a branch's #line with the branch
        count_to(token.end());
        replace(std::string(token.text) + "\n" + line_directive(line + 1, name));
        whole_.text.pop_back();  // the source has the line's end
      }
      const auto include = include_of(token.text);
      if (!include || known_(include->name)) continue;
      auto found = find(*include, file.parent_path());
      if (!found) found = find_in_project(*include);
      if (!found) {
        if (++lookups_ > kMostMissing)
          return fail(Stage::input, fmt::format("over {} headers were not found", kMostMissing),
                      "Name their folder with --include DIR.");
        if (include->quoted) whole_.missing.push_back(missing(*include, static_cast<size_t>(line), file));
        // The compiler does without a missing header, but refuses "../common.h". An absolute path stays and is refused,
        // because a project has none.
        if (include->quoted && leads_elsewhere(include->name) && !fs::path(include->name).is_absolute()) {
          replace("// " + include->name + " is not here" + its_lines);
          whole_.changed = true;
        }
        continue;
      }
      std::error_code error;
      if (!seen_.insert(fs::weakly_canonical(*found, error)).second) {
        replace("// " + include->name + " is above" + its_lines);
        continue;
      }
      auto text = platform::read_file(*found, kMaxSourceBytes);
      if (!text) return fail(text.error());
      const std::string its = name_of(*found);
      pastes = true;
      replace("// " + include->name + ":\n" + line_directive(1, its));
      whole_.pasted.push_back(include->name);
      if (auto done = one(*found, its, *text, false, depth + 1); !done) return done;
      count_to(token.end());
      whole_.text += "\n// end of " + include->name + "\n" + line_directive(line, name);
    }
    whole_.text += source.substr(copied);
    if (whole_.text.size() > kMaxSourceBytes)
      return fail(Stage::input,
                  fmt::format("{} has more than {} MB with its headers pasted in", file.filename().string(),
                              kMaxSourceBytes >> 20),
                  "Import a file that includes less.");
    return {};
  }

  const std::vector<fs::path>& folders_;
  const std::function<bool(const std::string&)>& known_;
  ProjectHeaders* const project_;
  std::vector<fs::path> roots_;  // a pasted file is below one of them
  std::set<fs::path> seen_;
  fs::path home_;          // the .cu file's folder
  size_t lookups_ = 0;     // that found nothing
  size_t looked_for_ = 0;  // in the project
  WholeSource whole_;
};

}  // namespace

Result<WholeSource> whole_source(const fs::path& file, const std::string& source, const std::vector<fs::path>& folders,
                                 const std::function<bool(const std::string&)>& known, ProjectHeaders* project,
                                 const std::set<fs::path>& above) {
  return Paster(folders, known, project).paste(file, source, above);
}

}  // namespace attnscope::catalog
