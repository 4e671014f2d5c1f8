#include "cli/read_import.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "catalog/catalog.h"
#include "catalog/definitions.h"
#include "catalog/launcher.h"
#include "catalog/manifest_text.h"
#include "catalog/project.h"
#include "catalog/template_guess.h"
#include "catalog/unset_names.h"
#include "cli/import_cache.h"
#include "cli/learn_extents.h"
#include "cli/probe.h"
#include "compile/builtin_headers.h"
#include "compile/compile_errors.h"
#include "core/code_file.h"
#include "core/escape.h"
#include "core/joined.h"
#include "platform/atomic_file.h"

namespace attnscope::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr size_t kMostDefinitions = 4;        // files that are added for functions that they define
constexpr std::chrono::seconds kLongest{60};  // of all tries; a probe has a limit of its own

bool is_worth_more(const std::optional<Failure>& failure) { return failure && failure->stage == Stage::compile; }

class Reading {
 public:
  Reading(const GivenFile& given, std::string source, int deadline_ms)
      : given_(given), file_(given.file), source_(std::move(source)), deadline_ms_(deadline_ms) {}

  Result<ImportedFile> best() {
    auto own = whole_of_file(file_, source_, {}, true);
    if (!own) return fail(own.error());
    own_ = std::move(*own);
    const ImportCache cache(given_, own_, project_);
    if (auto kept = cache.get()) return std::move(*kept);
    auto made_now = without_cache();
    if (made_now) {
      made_now->hurried = made_now->hurried || hurried_ || late();
      cache.put(*made_now);
    }
    return made_now;
  }

  Result<catalog::WholeSource> whole_of_file(const fs::path& file, const std::string& text,
                                             const std::set<fs::path>& above, bool with_project) {
    const std::vector<fs::path> folders(given_.include.begin(), given_.include.end());
    return catalog::whole_source(file, text, folders, compile::is_builtin_header, with_project ? &headers_ : nullptr,
                                 above);
  }

 private:
  Result<ImportedFile> without_cache() {
    auto first = import(own_, "");
    if (given_.function.empty()) look_elsewhere(first);
    if (!first) return of_template(first.error());
    ImportedFile file = made(own_, std::move(*first));
    note_launcher(file);
    std::optional<Failure> failure = run(file);
    if (is_worth_more(failure)) take_definitions(file, failure);
    if (is_worth_more(failure)) try_other_texts(file, failure);
    if (is_worth_more(failure)) define_names(file, failure);
    finish(file, failure);
    return file;
  }

  bool late() const { return Clock::now() - began_ > kLongest; }

  std::optional<Failure> run(ImportedFile& file) {
    auto failure = probe(file, deadline_ms_);
    hurried_ = hurried_ || file.hurried;
    return failure;
  }

  std::string name_of(const catalog::WholeSource& whole) const {
    const std::string name = catalog::source_file_name(file_.filename().string());
    // Its lines are numbered otherwise, so it does not have the original's name.
    return whole.changed ? catalog::source_file_name("whole_" + name) : name;
  }

  Result<catalog::Imported> import(const catalog::WholeSource& whole, const std::string& launcher, int guess = -1) {
    return catalog::import_kernel(name_of(whole), whole.text, given_.entry, catalog::id_of(file_.filename().string()),
                                  given_.function, launcher, guess);
  }

  ImportedFile made(const catalog::WholeSource& whole, catalog::Imported imported) const {
    ImportedFile file{name_of(whole), whole, std::move(imported)};
    if (whole.fenced)
      file.imported.read.emplace_back("the lines around the source that name its language are left out");
    if (whole.found.empty()) return file;
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(file.imported.manifest, nullptr, false);
    json["story"] = "Headers that import found elsewhere in the project: " + joined(whole.found) + ".";
    file.imported.manifest = catalog::manifest_text(json);
    return file;
  }

  // What another file says of the launch counts if this one says nothing, or less.
  void look_elsewhere(Result<catalog::Imported>& first) {
    if (project_.root().empty() || (first && first->launched && first->guessed.empty())) return;
    launchers_ = catalog::launchers_of(
        file_, own_, given_.entry, project_, [&](const fs::path& file, const std::set<fs::path>& above) {
          auto text = platform::read_file(file, catalog::kMaxSourceBytes);
          return text ? whole_of_file(file, *text, above, true) : Result<catalog::WholeSource>(fail(text.error()));
        });
    for (const catalog::Launcher& one : launchers_) {
      auto with = import(own_, one.text);
      if (!with) {
        if (!first && launcher_.text.empty()) launcher_ = one;
        continue;
      }
      const bool better = !first || (with->launched && !first->launched) ||
                          (with->launched && with->guessed.size() < first->guessed.size());
      if (!better) continue;
      first = std::move(with);
      launcher_ = one;
      break;
    }
  }

  void note_launcher(ImportedFile& file) const {
    if (!launcher_.text.empty() && file.imported.launched)
      file.imported.read.insert(file.imported.read.begin(),
                                "host code that leads to its launch is in " + launcher_.name);
  }

  // Completes the file that is kept.
  void finish(ImportedFile& file, const std::optional<Failure>& failure) const {
    // A kernel that takes too long at its sizes may end in time at those that it is counted with. One that takes too
    // long to compile does so at any size.
    const bool slow = failure && file.compiled && failure->kind != FailureKind::deadlock &&
                      (failure->stage == Stage::cancelled || failure->stage == Stage::deadline);
    if (!failure || slow) learn_extents(file, deadline_ms_);
    file.failure = failure;
    if (failure && !file.imported.open_lengths.empty())
      file.imported.guessed.push_back("the guessed lengths could not be tried: " + failure->message);
  }

  // Its headers that are not here, and what to do about them.
  std::string missing_text() const {
    if (own_.missing.empty()) return {};
    return fmt::format(" Not found: {}. --include DIR adds a folder of headers.", joined(own_.missing));
  }

  // A template whose numbers nothing says.
  Result<ImportedFile> of_template(const Failure& refusal) {
    std::optional<ImportedFile> fallback;
    std::optional<Failure> its_failure, first_failure;
    for (int guess = 0; guess < catalog::kTemplateGuesses && !late(); ++guess) {
      auto imported = import(own_, launcher_.text, guess);
      if (!imported) {
        const Failure& its = guess == 0 ? imported.error() : refusal;
        return fail(its.stage, its.message, its.hint + missing_text());
      }
      ImportedFile file = made(own_, std::move(*imported));
      note_launcher(file);
      const std::optional<Failure> failure = run(file);
      if (!failure) {
        finish(file, failure);
        return file;
      }
      if (!first_failure) first_failure = failure;
      if (is_worth_more(failure) || fallback) continue;
      fallback = std::move(file);
      its_failure = failure;
    }
    if (!fallback && first_failure)
      return fail(refusal.stage,
                  refusal.message + "; nor does it compile with numbers that were tried: " + first_failure->message,
                  refusal.hint + missing_text());
    if (!fallback) return fail(refusal);
    finish(*fallback, its_failure);
    return std::move(*fallback);
  }

  // The same kernel in its text as it is now, and what becomes of it. False: it is not in it.
  bool run_again(ImportedFile& other, std::optional<Failure>& its) {
    auto imported = catalog::import_kernel(name_of(other.whole), other.whole.text,
                                           given_.entry.empty() ? other.imported.entry : given_.entry,
                                           catalog::id_of(file_.filename().string()), "", launcher_.text);
    if (!imported) return false;
    other = made(other.whole, std::move(*imported));
    its = run(other);
    return true;
  }

  // Functions that other files of the project define, where nvcc would link them. One may need another.
  void take_definitions(ImportedFile& file, std::optional<Failure>& failure) {
    if (project_.root().empty() || !given_.function.empty()) return;
    ImportedFile other = file;
    std::optional<Failure> its = failure;
    std::vector<std::string> taken;
    while (is_worth_more(its) && taken.size() < kMostDefinitions && !late()) {
      const std::string name = compile::unresolved_function(its->message);
      const auto defining = name.empty() ? std::nullopt : catalog::file_that_defines(name, project_, other.whole.files);
      if (!defining) return;
      auto text = platform::read_file(*defining, catalog::kMaxSourceBytes);
      auto whole = text ? whole_of_file(*defining, *text, other.whole.files, true)
                        : Result<catalog::WholeSource>(fail(text.error()));
      if (!whole || other.whole.text.size() + whole->text.size() > catalog::kMaxSourceBytes) return;
      other.whole.text += "\n" + whole->text;
      other.whole.files.insert(whole->files.begin(), whole->files.end());
      other.whole.changed = true;
      taken.push_back(fmt::format("{} of {}", name, defining->filename().string()));
      if (!run_again(other, its)) return;
    }
    if (is_worth_more(its)) return;
    note_launcher(other);
    other.imported.read.insert(other.imported.read.begin(),
                               "functions that it calls are of other files: " + joined(taken));
    file = std::move(other);
    failure = its;
  }

  // Lengths that the source leaves to its reader, or to a tuner that defines them from outside.
  void define_names(ImportedFile& file, std::optional<Failure>& failure) {
    if (!given_.function.empty()) return;
    ImportedFile other = file;
    std::optional<Failure> its = failure;
    std::vector<std::string> defined;
    while (is_worth_more(its) && defined.size() < kMostDefinitions && !late()) {
      const std::string name = compile::undefined_name(its->message);
      const auto number = catalog::number_of_unset(other.whole.text, name);
      if (!number) return;
      const std::string directive = defined.empty() && !other.whole.changed
                                        ? fmt::format("#line 1 \"{}\"\n", c_string(file_.filename().string()))
                                        : "";
      other.whole.text.insert(0, fmt::format("#define {} {}\n{}", name, *number, directive));
      other.whole.changed = true;
      defined.push_back(fmt::format("{} = {}", name, *number));
      if (!run_again(other, its)) return;
    }
    if (is_worth_more(its)) return;
    note_launcher(other);
    other.imported.guessed.push_back("nothing defines " + joined(defined) +
                                     ": the copy of the source does, in its first lines");
    file = std::move(other);
    failure = its;
  }

  // The text of a file that includes this one, or the file without the headers that were found for it.
  void try_other_texts(ImportedFile& file, std::optional<Failure>& failure) {
    if (project_.root().empty() || !given_.function.empty()) return;
    const auto takes = [&](const catalog::WholeSource& whole, const std::string& said) {
      if (late()) return false;
      const std::string entry = file.imported.entry;
      auto imported = catalog::import_kernel(name_of(whole), whole.text, given_.entry.empty() ? entry : given_.entry,
                                             catalog::id_of(file_.filename().string()));
      if (!imported) return false;
      ImportedFile other = made(whole, std::move(*imported));
      const auto ended = run(other);
      if (is_worth_more(ended)) return false;
      other.imported.read.insert(other.imported.read.begin(), said);
      file = std::move(other);
      failure = ended;
      return true;
    };
    for (const catalog::Launcher& one : launchers_) {
      if (one.together.empty()) continue;
      catalog::WholeSource whole = own_;
      whole.text = one.together;
      whole.changed = true;
      if (takes(whole, "it compiles where " + one.name + " includes it")) return;
    }
    if (own_.found.empty()) return;
    const auto without = whole_of_file(file_, source_, {}, false);
    if (without) takes(*without, "it compiles without the headers that the project has elsewhere");
  }

  const GivenFile& given_;
  const fs::path file_;
  const std::string source_;
  const int deadline_ms_;
  const Clock::time_point began_ = Clock::now();
  catalog::Project project_{file_};
  catalog::ProjectHeaders headers_{project_, compile::is_cuda_header};
  catalog::WholeSource own_;
  std::vector<catalog::Launcher> launchers_;
  catalog::Launcher launcher_;  // whose text counts
  bool hurried_ = false;        // one of the runs was (ImportedFile::hurried)
};

}  // namespace

Result<std::string> read_given(const GivenFile& given) {
  const bool is_source = fs::path(given.file).extension() == ".cu";
  return platform::read_file(given.file, is_source ? catalog::kMaxSourceBytes : kMaxMachineCodeBytes);
}

Result<catalog::WholeSource> whole_of(const GivenFile& given, const std::string& source) {
  return Reading(given, source, 0).whole_of_file(given.file, source, {}, true);
}

Result<ImportedFile> read_import(const GivenFile& given, int deadline_ms) {
  const fs::path file = given.file;
  auto source = read_given(given);
  if (!source) return fail(source.error());
  if (!given.function.empty() && (!given.entry.empty() || is_machine_code(*source)))
    return fail(Stage::input, given.file + ": --function is for the host code of a source, and not with --entry",
                "Leave one of them out.");
  if (is_machine_code(*source)) {
    auto imported = import_code(file, *source, given.entry, given.launch, "");
    if (!imported) return fail(imported.error());
    ImportedFile code;
    code.name = catalog::source_file_name(file.filename().string());
    code.whole.text = std::move(*source);
    code.imported = std::move(*imported);
    return code;
  }
  if (!given.launch.empty())
    return fail(Stage::input, given.file + ": --grid, --block, --shared and --args are for a file of machine code",
                "Import reads them from a source's host code; correct them in the manifest that it writes.");
  return Reading(given, std::move(*source), deadline_ms).best();
}

Result<void> rename_kernel(ImportedFile& file, const std::string& id) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(file.imported.manifest, nullptr, false);
  if (!json.is_object()) return fail(Stage::input, file.name + ": its manifest is not a JSON object", "Report this.");
  json["id"] = id;
  file.imported.id = id;
  file.imported.manifest = catalog::manifest_text(json);
  return {};
}

}  // namespace attnscope::cli
