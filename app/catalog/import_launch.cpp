#include "catalog/import_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "catalog/grid_sync.h"
#include "catalog/import_guards.h"
#include "catalog/import_sizes.h"
#include "catalog/template_arguments.h"
#include "core/joined.h"

namespace attnscope::catalog {
namespace {

constexpr int64_t kUsualBlock = 256, kUsualSide = 16, kMostThreads = 1024;
constexpr int64_t kUsualShared = 16384;
constexpr int64_t kMostUsualShared = 96 << 10;  // what an sm_89 device gives a CTA, minus some for static memory
// Of the device on which a first run is counted (assets/devices/l4.json).
constexpr int64_t kSms = 58, kThreadsOfSm = 1536, kCtasOfSm = 24;
constexpr int64_t kBestBlock = 768;      // the largest that fills an SM with threads
constexpr int64_t kMostFromOutside = 4;  // of a size that only the grid has
constexpr int kMostAssumed = 8;          // names of one expression
constexpr size_t kMostCalled = 100;      // functions that are followed from a kernel's text

class ShapeImporter {
 public:
  ShapeImporter(const ReadSource& source, const SourceKernel& kernel, const SourceLaunch* launch,
                const std::vector<std::string>& size_names, std::map<std::string, int64_t>* sizes, HostScope& scope,
                Imported& imported)
      : source_(source),
        kernel_(kernel),
        launch_(launch),
        size_names_(size_names),
        sizes_(sizes),
        scope_(scope),
        imported_(imported) {
    shape_.cooperative = (launch && launch->cooperative) || syncs_grid(source, kernel);
  }

  ImportedShape import() {
    if (shape_.cooperative)
      imported_.read.push_back(launch_ && launch_->cooperative
                                   ? "the launch is cooperative in the host code"
                                   : "the launch is cooperative: the kernel waits for the grid");
    find_launch();
    return std::move(shape_);
  }

 private:
  // As assuming(), with a larger guess where the expression makes 0 of this one, such as a quarter of 1.
  std::string assuming_some(const HostText& expression, int64_t guess) {
    const auto before = scope_.assumed;
    const auto said = assumed_;
    if (asks_runtime_) add_device_numbers(expression, 1);
    add_open_sizes(expression);
    for (const int64_t one : {guess, kUsualBlock, kUsualBlock * kUsualSide}) {
      std::string text = assuming(expression, one);
      const auto now = scope_.now_of(text);
      if (!now || *now >= 1 || scope_.assumed == before) return text;
      if (one != kUsualBlock * kUsualSide) {
        scope_.assumed = before;
        assumed_ = said;
      }
    }
    return {};
  }

  // The runtime's answer counts, and not what the host code's variable held before (`int grid = 0;`).
  void add_device_numbers(const HostText& expression, int deeper) {
    for (const CppToken& token : cpp_tokens(expression.text)) {
      const std::string name(token.text);
      if (token.kind != CppToken::Kind::word || scope_.assumed.contains(name)) continue;
      if (const auto number = device_number(name))
        assume(name, *number, true);
      else if (deeper > 0)
        add_device_numbers(scope_.meaning(name, expression.at), deeper - 1);
    }
  }

  bool assume(const std::string& name, int64_t value, bool of_device) {
    if (!scope_.assumed.emplace(name, value).second) return false;
    assumed_.push_back(fmt::format("{} = {}{}", name, value, of_device ? kOfDevice : ""));
    return true;
  }

  // A parameter of the host function, or a tensor's dimension.
  bool is_from_outside(const std::string& name) const {
    const HostText meaning = scope_.meaning(name, scope_.used_at);
    const HostFunction* const around = source_.host.function_at(scope_.used_at);
    if (meaning.text.empty()) return around && std::ranges::count(around->parameters, name) > 0;
    const auto tokens = cpp_tokens(meaning.text);
    for (size_t i = 1; i + 1 < tokens.size(); ++i) {
      const bool of_tensor = tokens[i - 1].is(".") || tokens[i - 1].is(">");
      if (of_tensor && (tokens[i].is("size") || tokens[i].is("sizes") || tokens[i].is("shape"))) return true;
    }
    return false;
  }

  // A name of the grid that the host code takes from outside, such as a tensor's dimension, is a size of its own.
  void add_open_sizes(const HostText& expression) {
    std::string unknown;
    for (int i = 0; i < kMostAssumed && of_grid_ && sizes_ && scope_.in_terms(expression, &unknown).empty(); ++i) {
      const bool known = unknown.empty() || device_number(unknown) || scope_.kept.contains(unknown) ||
                         source_.cuda.macros.contains(unknown) ||
                         std::ranges::count(kernel_.parameters, unknown, &SourceParameter::name) > 0;
      if (known || !is_from_outside(unknown)) return;
      const int64_t value = std::min(usual_size(unknown, 0), kMostFromOutside);
      sizes_->emplace(unknown, value);
      scope_.set_size(unknown, value, unknown);
      imported_.open_sizes.insert(unknown);
      imported_.guessed.push_back(
          fmt::format("the size {} = {}, which the host code takes from outside", unknown, value));
    }
  }

  // A name that the host code computes in a way that is not followed gets a value, which is said.
  std::string assuming(const HostText& expression, int64_t guess) {
    std::string unknown, text = scope_.in_terms(expression, &unknown);
    for (int i = 0; i < kMostAssumed && text.empty() && !unknown.empty(); ++i) {
      const auto of_device = device_number(unknown);
      const int64_t value = of_device ? *of_device : number_of_branch(unknown).value_or(guess);
      if (!assume(unknown, value, of_device.has_value())) break;
      text = scope_.in_terms(expression, &unknown);
    }
    return text;
  }

  // The 64 of `if (dim == 64) k<<<…>>>(…);`, which holds at the launch unless the name has changed since.
  std::optional<int64_t> number_of_branch(const std::string& name) const {
    if (!launch_) return std::nullopt;
    for (const SourceBranch& branch : launch_->branches) {
      const auto tokens = cpp_tokens(branch.condition);
      if (!branch.holds || tokens.size() != 4 || !tokens[0].is(name) || !tokens[1].is("=") || !tokens[2].is("="))
        continue;
      if (const auto number = scope_.number_of(std::string(tokens[3].text)); number && *number > 0) return number;
    }
    return std::nullopt;
  }

  // What the host code asks the runtime of the device: SMs, or how many CTAs of the block fit an SM by their threads.
  std::optional<int64_t> device_number(const std::string& name) const {
    if (name == "multiProcessorCount") return kSms;
    if (name == "maxThreadsPerMultiProcessor") return kThreadsOfSm;
    const HostFunction* const around = source_.host.function_at(scope_.used_at);
    if (!around) return std::nullopt;
    if (!asked_.contains(around->begin)) asked_[around->begin] = asked_in(*around);
    const auto& asked = asked_.at(around->begin);
    const auto found = asked.find(name);
    if (found == asked.end()) return std::nullopt;
    switch (found->second) {
      case Asked::sms:
        return kSms;
      case Asked::ctas_of_sm:
        if (shape_.cooperative) return 1;  // so that registers and shared memory suffice for all CTAs at once
        return threads_ > 0 ? std::optional(std::clamp<int64_t>(kThreadsOfSm / threads_, 1, kCtasOfSm)) : std::nullopt;
      case Asked::best_grid:
        return kSms * (kThreadsOfSm / kBestBlock);
      case Asked::best_block:
        return kBestBlock;
    }
    return std::nullopt;
  }

  enum class Asked { sms, ctas_of_sm, best_grid, best_block };
  // By variable that gets an answer of the runtime in the function. Of several answers the first counts.
  std::map<std::string, Asked> asked_in(const HostFunction& function) const {
    std::map<std::string, Asked> asked;
    const auto tokens =
        cpp_tokens(std::string_view(source_.text).substr(function.begin, function.end - function.begin));
    for (size_t i = 0; i + 5 < tokens.size(); ++i) {
      if (!tokens[i + 1].is("(") || !tokens[i + 2].is("&") || !tokens[i + 4].is(",")) continue;
      const std::string first(tokens[i + 3].text);
      if (tokens[i].is("cudaDeviceGetAttribute") && tokens[i + 5].is("cudaDevAttrMultiProcessorCount"))
        asked.emplace(first, Asked::sms);
      if (tokens[i].is("cudaOccupancyMaxActiveBlocksPerMultiprocessor")) asked.emplace(first, Asked::ctas_of_sm);
      if (!tokens[i].is("cudaOccupancyMaxPotentialBlockSize")) continue;
      asked.emplace(first, Asked::best_grid);
      if (i + 6 < tokens.size() && tokens[i + 5].is("&"))
        asked.emplace(std::string(tokens[i + 6].text), Asked::best_block);
    }
    return asked;
  }

  struct Dimensions {
    std::vector<std::string> text;  // x, y and z; empty if the host code does not say
    bool guessed = false;
  };
  // Parses a grid or block of the host code. `guess` fills in what it does not give.
  Dimensions dimensions(const std::string& text, bool block) {
    std::vector<HostText> values;
    dims_guessed_ = false;
    bool changed = false;
    if (is_dim3(text)) {
      values = parts_of_dim3(text, scope_.used_at);
    } else if (const auto* assigned = assigned_dims(text)) {
      if (!is_dim3(assigned->value)) return {};
      values = parts_of_dim3(assigned->value, assigned->at);
      changed = source_.cuda.changes.any(text, assigned->at, scope_.used_at);
    } else if (const auto* dims = named_dims(text)) {
      changed = !dims_guessed_ && source_.cuda.changes.any(text, dims->at, scope_.used_at);
      // Another function's names are taken for those of the launch, such as the sizes that it hands on.
      for (const std::string& one : dims->value) values.push_back({one, dims_guessed_ ? scope_.used_at : dims->at});
    } else if (const HostFunction* const around = source_.host.function_at(scope_.used_at);
               around && std::ranges::count(around->dims, text) > 0) {
      return {};  // a parameter: the caller chooses how many axes it has
    } else {
      values = {{text, scope_.used_at}};
    }
    Dimensions found;
    scope_.take_guessed();
    int64_t threads = 1;  // of a block
    of_grid_ = !block;
    for (const HostText& value : values) {
      const int64_t guess = !block ? 1 : values.size() > 1 ? kUsualSide : kUsualBlock;
      found.text.push_back(assuming_some(value, guess));
      const auto now = scope_.now_of(found.text.back());
      if (found.text.back().empty() || (now && *now < 1)) return {};
      if (block) threads = std::min(threads * std::min(now.value_or(1), kMostThreads + 1), kMostThreads + 1);
    }
    found.guessed = scope_.take_guessed() || dims_guessed_ || changed;
    if (block && threads > kMostThreads) return {};
    if (block) threads_ = threads;
    while (found.text.size() < 3) found.text.emplace_back("1");
    return found;
  }

  static bool is_dim3(const std::string& text) { return text.starts_with("dim3(") && text.ends_with(")"); }
  static std::vector<HostText> parts_of_dim3(const std::string& text, size_t at) {
    std::vector<HostText> parts;
    for (const std::string& one : split_arguments(text.substr(5, text.size() - 6))) parts.push_back({one, at});
    return parts;
  }

  // `grid = dim3(n / 4);` behind the declaration of the dim3.
  const SourceValues<std::string>::One* assigned_dims(const std::string& name) const {
    const auto* const assigned = source_.cuda.constants.find(name, scope_.used_at);
    if (!assigned || assigned->declared || assigned->end == SIZE_MAX) return nullptr;
    const auto* const declared = source_.cuda.dims.find(name, scope_.used_at);
    if (!declared) return is_dim3(assigned->value) ? assigned : nullptr;
    return assigned->at > declared->at ? assigned : nullptr;
  }

  const SourceValues<std::vector<std::string>>::One* named_dims(const std::string& name) {
    const auto* here = source_.cuda.dims.find(name, scope_.used_at);
    if (here || source_.cuda.constants.find(name, scope_.used_at)) return here;
    // A template's parameter is not what another function calls by its name.
    const HostFunction* const around = source_.host.function_at(scope_.used_at);
    if (around && std::ranges::count(around->templates, name) > 0) return nullptr;
    const auto* elsewhere = source_.cuda.dims.any(name, scope_.used_at);
    dims_guessed_ = elsewhere != nullptr;
    return elsewhere;
  }

  void find_shared() {
    const bool said = launch_ && !launch_->shared.empty() && launch_->shared != "0";
    if (said) {
      scope_.take_guessed();
      std::string unknown;
      scope_.in_terms(HostText{launch_->shared, scope_.used_at}, &unknown);
      // A single name is taken as bytes; a name within an expression counts threads, or elements per thread.
      shape_.shared =
          assuming({launch_->shared, scope_.used_at}, unknown == launch_->shared ? kMostUsualShared : kUsualBlock);
      const bool guessed = scope_.take_guessed();
      // A value from before the host code computes it.
      if (guessed && scope_.now_of(shape_.shared).value_or(1) < 1) shape_.shared.clear();
      if (!shape_.shared.empty()) note(guessed, fmt::format("dynamic shared memory: {} bytes", shape_.shared));
    }
    if (!shape_.shared.empty() || !declares_dynamic_shared()) return;
    shape_.shared = std::to_string(kUsualShared);
    imported_.guessed.push_back(
        fmt::format("dynamic shared memory: {} bytes; the kernel declares some, and {}", shape_.shared,
                    said ? "the host code computes how much (" + launch_->shared + ")" : "no launch says how much"));
  }

  // True if the kernel's body has `extern __shared__ float s[];` or `extern float __shared__ s[];`.
  bool declares_dynamic_shared() const {
    const std::vector<CppToken> tokens =
        cpp_tokens(std::string_view(source_.text).substr(kernel_.body, kernel_.end - kernel_.body));
    for (size_t i = 0; i + 1 < tokens.size(); ++i)
      if (tokens[i].is("extern") &&
          (tokens[i + 1].is("__shared__") || (i + 2 < tokens.size() && tokens[i + 2].is("__shared__"))))
        return true;
    return false;
  }

  void note(bool guessed, std::string text) {
    if (guessed && !assumed_.empty()) text += fmt::format(" (with {}, which the host code computes)", joined(assumed_));
    (guessed ? imported_.guessed : imported_.read).push_back(std::move(text));
    assumed_.clear();
  }

  void find_launch() {
    Dimensions grid, block;
    if (launch_) {
      block = dimensions(launch_->block, true);
      if (!block.text.empty())
        note(block.guessed,
             fmt::format("{}{} x {} x {} threads", kBlockSaid, block.text[0], block.text[1], block.text[2]));
      scope_.take_names();
      grid = dimensions(launch_->grid, false);
      shape_.names = scope_.take_names();
    }
    shape_.block = block.text;
    shape_.grid = grid.text;
    if (shape_.block.empty()) {
      const std::string bounds =
          kernel_.launch_bounds.empty() ? "" : scope_.in_terms(HostText{kernel_.launch_bounds, kernel_.body});
      const std::string side = std::to_string(kUsualSide);
      std::set<std::string_view> seen;
      if (!bounds.empty())
        shape_.block = {bounds, "1", "1"};
      else if (uses_second_axis(kernel_.body, kernel_.end, seen))
        shape_.block = {side, side, "1"};
      else
        shape_.block = {std::to_string(kUsualBlock), "1", "1"};
      if (bounds.empty())
        imported_.guessed.push_back(shape_.block[1] == "1" ? fmt::format("{}{} threads", kBlockSaid, kUsualBlock)
                                                           : fmt::format("{}{} x {} threads, since it uses threadIdx.y",
                                                                         kBlockSaid, side, side));
      else
        imported_.guessed.push_back(kBlockSaid + bounds + " threads, as many as __launch_bounds__ allows");
    }
    if (shape_.grid.empty()) {
      const bool flat = shape_.block[1] == "1" || size_names_.size() < 2;
      if (flat)
        shape_.grid = {fmt::format("ceil_div({}, {})", product(), shape_.block[0]), "1", "1"};
      else
        shape_.grid = {fmt::format("ceil_div({}, {})", size_names_[1], shape_.block[0]),
                       fmt::format("ceil_div({}, {})", size_names_[0], shape_.block[1]), "1"};
      const bool own = take_own_grid();
      // All CTAs of a cooperative launch exist at once, and each usually goes through its share in a loop.
      if (shape_.cooperative) shape_.grid = {fmt::format("min({}, {})", shape_.grid[0], kSms), "1", "1"};
      imported_.guessed.push_back(kGridSaid + shape_.grid[0] + " x " + shape_.grid[1] + " x " + shape_.grid[2] +
                                  " CTAs" + (own ? ", as the kernel compares its indices" : ""));
    } else {
      note(grid.guessed, fmt::format("{}{} x {} x {} CTAs", kGridSaid, shape_.grid[0], shape_.grid[1], shape_.grid[2]));
    }
    find_shared();
  }

  // Puts what the kernel's own text says in place of the guessed grid. False: it says nothing.
  bool take_own_grid() {
    const OwnGrid own = own_grid(source_, kernel_, shape_.block, scope_);
    const auto said = [](const std::string& text) { return !text.empty(); };
    const bool tiles = !own.tile[1].empty() && own.used[0] && size_names_.size() > 1;
    if (std::ranges::none_of(own.ctas, said) && !tiles) return false;
    // Rows and columns of tiles that nothing is compared with.
    if (tiles) {
      const std::string& across = own.tile[0].empty() ? shape_.block[0] : own.tile[0];
      shape_.grid = {fmt::format("ceil_div({}, {})", size_names_[1], across),
                     fmt::format("ceil_div({}, {})", size_names_[0], own.tile[1]), "1"};
    } else if (!own.ctas[1].empty() || !own.ctas[2].empty()) {
      // The first axis covers what the others do not.
      shape_.grid[0] = own.used[0] ? fmt::format("ceil_div({}, {})", size_names_.back(), shape_.block[0]) : "1";
    }
    for (size_t axis = 0; axis < 3; ++axis)
      if (said(own.ctas[axis]))
        shape_.grid[axis] = own.ctas[axis];
      else if (!own.used[axis])
        shape_.grid[axis] = "1";
    return true;
  }

  // True if the code in these bytes, or a function of the file that it names, uses threadIdx.y or blockDim.y.
  bool uses_second_axis(size_t begin, size_t end, std::set<std::string_view>& seen) const {
    const std::vector<CppToken> tokens = cpp_tokens(std::string_view(source_.text).substr(begin, end - begin));
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].kind != CppToken::Kind::word) continue;
      const bool of_block = tokens[i].is("threadIdx") || tokens[i].is("blockDim");
      if (of_block && i + 2 < tokens.size() && tokens[i + 1].is(".") && tokens[i + 2].is("y")) return true;
      const HostFunction* const called =
          seen.size() < kMostCalled ? source_.host.function_named(tokens[i].text) : nullptr;
      if (called && seen.insert(called->name).second && uses_second_axis(called->begin, called->end, seen)) return true;
    }
    return false;
  }

  std::string product() const {
    std::string text;
    for (size_t i = 0; i < size_names_.size() && i < 2; ++i) text += (i ? " * " : "") + size_names_[i];
    return text;
  }

  const ReadSource& source_;
  const SourceKernel& kernel_;
  const SourceLaunch* launch_;
  const std::vector<std::string>& size_names_;
  std::map<std::string, int64_t>* const sizes_;
  HostScope& scope_;
  Imported& imported_;
  ImportedShape shape_;
  mutable std::map<size_t, std::map<std::string, Asked>> asked_;  // by a function's begin
  int64_t threads_ = 0;                                           // of the block
  bool of_grid_ = false;                                          // the dimensions are a grid's
  const bool asks_runtime_ = source_.text.find("cudaOccupancy") != std::string::npos ||
                             source_.text.find("cudaDeviceGetAttribute") != std::string::npos;
  std::vector<std::string> assumed_;  // since the last note
  bool dims_guessed_ = false;         // the last named grid or block belongs to another function
};

}  // namespace

ImportedShape import_shape(const ReadSource& source, const SourceKernel& kernel, const SourceLaunch* launch,
                           const std::vector<std::string>& size_names, std::map<std::string, int64_t>* sizes,
                           HostScope& scope, Imported& imported) {
  return ShapeImporter(source, kernel, launch, size_names, sizes, scope, imported).import();
}

}  // namespace attnscope::catalog
