#include "cli/import_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "catalog/catalog.h"
#include "catalog/manifest_text.h"
#include "compile/cubin.h"
#include "compile/machine_code.h"
#include "core/escape.h"
#include "core/joined.h"
#include "core/json.h"
#include "core/text.h"
#include "core/workload.h"
#include "platform/atomic_file.h"

namespace attnscope::cli {
namespace {

namespace fs = std::filesystem;
using compile::CubinKernel;
using compile::KernelParameter;
using OrderedJson = nlohmann::ordered_json;

constexpr uint32_t kAddressBytes = 8;
constexpr int64_t kWarp = 32;
constexpr size_t kMostShown = 16;  // parameters in a message

// The parts between `mark`s outside brackets: "ceil_div(n, 256),1" has two.
std::vector<std::string> parts_of(std::string_view text, char mark) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == mark && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

// The description of a kernel in a Triton cache.
struct TritonKernel {
  std::string name;
  int64_t warps = 0, shared = 0;
};
Result<std::optional<TritonKernel>> triton_beside(fs::path file) {
  auto text = platform::read_file_if_any(file.replace_extension(".json"), catalog::kMaxManifestBytes);
  if (!text || !*text) return std::optional<TritonKernel>();  // no file, or one that cannot be read
  const auto json = parse_json(**text, file.string());
  if (!json || !json->is_object() || !json->contains("num_warps")) return std::optional<TritonKernel>();
  JsonReader read(*json, file.string());
  TritonKernel triton;
  read.text("name", triton.name, 1000);
  read.integer("num_warps", triton.warps, 1, 32);
  read.integer("shared", triton.shared, 0, 1 << 20);
  if (auto done = read.finish(false); !done) return fail(done.error());
  return std::optional(triton);
}

std::string sizes_of(const CubinKernel& kernel) {
  const size_t shown = std::min(kernel.parameters.size(), kMostShown);
  return joined(std::span(kernel.parameters).first(shown),
                [](const KernelParameter& one) { return fmt::format("{}", one.size); }) +
         (shown < kernel.parameters.size() ? ", …" : "");
}

// How its parameters could be given, by their sizes only.
std::string example_of(const CubinKernel& kernel) {
  std::string text;
  for (size_t i = 0; i < std::min(kernel.parameters.size(), kMostShown); ++i)
    text += fmt::format("{}p{}{}", i == 0 ? "" : ", ", i,
                        kernel.parameters[i].size == kAddressBytes ? ":inout:f32:1024" : "=1024");
  return text;
}

class Writer {
 public:
  Writer(const CubinKernel& kernel, const LaunchText& launch) : kernel_(kernel), launch_(launch) {}

  Result<OrderedJson> write(const std::optional<TritonKernel>& triton) {
    if (auto done = read_arguments(); !done) return fail(done.error());
    auto grid = dimensions("--grid", launch_.grid, "");
    if (!grid) return fail(grid.error());
    auto block = dimensions("--block", launch_.block, triton ? std::to_string(triton->warps * kWarp) : "");
    if (!block) return fail(block.error());
    OrderedJson json{{"knobs", OrderedJson::array()}, {"sizes", sizes_}, {"buffers", buffers_}};
    json["launch"] = {{"grid", *grid}, {"block", *block}};
    const int64_t shared = triton ? triton->shared : 0;
    if (!launch_.shared.empty())
      json["launch"]["dynamic_shared"] = launch_.shared;
    else if (shared > 0)
      json["launch"]["dynamic_shared"] = std::to_string(shared);
    if (launch_.cooperative) json["launch"]["cooperative"] = true;
    json["args"] = args_;
    return json;
  }

 private:
  tl::unexpected<Failure> refused(const std::string& what) const {
    return fail(Stage::input, kernel_.name + ": " + what,
                kernel_.parameters.empty()
                    ? "It has no parameters: leave out --args."
                    : fmt::format("Its parameters have {} bytes. Say what they are, in order, such as --args \"{}\": "
                                  "NAME=SIZE, VALUE:TYPE, or NAME:ROLE:TYPE:ELEMENTS.",
                                  sizes_of(kernel_), example_of(kernel_)));
  }

  Result<std::vector<std::string>> dimensions(const char* option, const std::string& given,
                                              const std::string& known) const {
    std::vector<std::string> axes = given.empty() && !known.empty() ? std::vector{known} : parts_of(given, ',');
    if (axes[0].empty() || axes.size() > 3)
      return fail(Stage::input,
                  fmt::format("{}: {} must have one to three numbers or expressions", kernel_.name, option),
                  std::string("Machine code does not say how it is launched: ") +
                      (option[2] == 'g' ? "--grid CTAs, such as --grid 16 or --grid \"ceil_div(n, 256),8\"."
                                        : "--block threads, such as --block 256 or --block 16,16."));
    axes.resize(3, "1");
    return axes;
  }

  Result<void> read_arguments() {
    const std::vector<std::string> given =
        launch_.args.empty() ? std::vector<std::string>() : parts_of(launch_.args, ',');
    if (given.size() != kernel_.parameters.size())
      return refused(launch_.args.empty()
                         ? "machine code does not say what its parameters are"
                         : fmt::format("--args names {}, and it has {}", how_many(given.size(), "parameter"),
                                       kernel_.parameters.size()));
    for (size_t i = 0; i < given.size(); ++i)
      if (auto done = read_argument(given[i], kernel_.parameters[i]); !done) return done;
    if (buffers_.empty())  // a manifest must have something to judge
      buffers_.push_back({{"name", "nothing"},
                          {"role", "inout"},
                          {"dtype", "f32"},
                          {"shape", OrderedJson::array({1})},
                          {"init", "zeros"}});
    return {};
  }

  Result<void> read_argument(const std::string& text, const KernelParameter& parameter) {
    const auto wrong_size = [&](uint64_t bytes) {
      return refused(fmt::format("\"{}\" has {}, and parameter {} has {}", text, how_many(bytes, "byte"),
                                 parameter.ordinal, parameter.size));
    };
    if (const size_t equals = text.find('='); equals != std::string::npos) {
      const std::string name(trimmed(std::string_view(text).substr(0, equals)));
      const auto value = number_of<int64_t>(trimmed(std::string_view(text).substr(equals + 1)));
      if (name.empty() || !value) return refused("\"" + text + "\" is not NAME=SIZE with a whole number");
      if (parameter.size != sizeof(int32_t) && parameter.size != sizeof(int64_t)) return wrong_size(sizeof(int32_t));
      sizes_[name] = *value;
      args_.push_back(name);
      return {};
    }
    const std::vector<std::string> words = parts_of(text, ':');
    if (words.size() == 2) {
      const auto type = parse_word<ElementType>(words[1]);
      if (!type) return refused("\"" + words[1] + "\" is not a type");
      if (bytes_of(*type) != parameter.size) return wrong_size(bytes_of(*type));
      args_.push_back({{"value", words[0]}, {"type", words[1]}});
      return {};
    }
    if (words.size() != 4 && words.size() != 5)
      return refused("\"" + text + "\" is not NAME=SIZE, VALUE:TYPE or NAME:ROLE:TYPE:ELEMENTS");
    if (parameter.size != kAddressBytes) return wrong_size(kAddressBytes);
    OrderedJson buffer{
        {"name", words[0]}, {"role", words[1]}, {"dtype", words[2]}, {"shape", OrderedJson::array({words[3]})}};
    if (words.size() == 5) buffer["init"] = words[4];
    buffers_.push_back(std::move(buffer));
    args_.push_back(words[0]);
    return {};
  }

  const CubinKernel& kernel_;
  const LaunchText& launch_;
  OrderedJson sizes_ = OrderedJson::object(), buffers_ = OrderedJson::array(), args_ = OrderedJson::array();
};

}  // namespace

bool is_code_file(const fs::path& file) {
  static const std::set<std::string> known{".cu", ".cubin", ".fatbin"};
  return known.contains(file.extension().string());
}

Result<catalog::Imported> import_code(const fs::path& file, std::string_view bytes, const std::string& entry,
                                      const LaunchText& launch, const std::string& id) {
  const std::string name = catalog::source_file_name(file.filename().string());
  auto triton = triton_beside(file);
  if (!triton) return fail(triton.error());
  const std::string wanted = entry.empty() && *triton ? (*triton)->name : entry;
  auto code = compile::machine_code_for(std::as_bytes(std::span(bytes)), 0, wanted, name);
  if (!code) return fail(code.error());
  auto kernel = compile::read_cubin(code->cubin, code->symbol);
  if (!kernel) return fail_of(name, kernel.error());
  auto launched = Writer(*kernel, launch).write(*triton);
  if (!launched) return fail(launched.error());
  catalog::Imported imported;
  imported.entry = code->symbol;
  imported.id = id.empty() ? catalog::id_of(name) : id;
  OrderedJson json{{"id", imported.id}, {"title", one_line(code->symbol + " of " + name).substr(0, 150)},
                   {"cubin", name},     {"entry", code->symbol},
                   {"story", ""},       {"problem", "custom"}};
  json.update(*launched);
  json["reference"] = "none";
  imported.manifest = catalog::manifest_text(json);
  imported.read.push_back(fmt::format("machine code for sm_{}: {}, {}, {} B of static shared memory", code->arch,
                                      how_many(kernel->parameters.size(), "parameter"),
                                      how_many(kernel->registers, "register"), kernel->static_shared_bytes));
  if (*triton)
    imported.read.push_back(fmt::format("Triton's metadata: {}, {} B of dynamic shared memory",
                                        how_many((*triton)->warps, "warp"), (*triton)->shared));
  auto kernels = compile::kernels_in(code->cubin);
  for (const std::string& other : kernels.value_or(std::vector<std::string>()))
    if (other != code->symbol) imported.others.push_back(other);
  return imported;
}

}  // namespace attnscope::cli
