#include "compile/variable_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compile/code_hash.h"
#include "compile/cubin.h"
#include "compile/elf_reader.h"
#include "core/with_commas.h"

namespace attnscope::compile {
namespace {

constexpr uint8_t kSymbolObject = 1;

auto find_variable(const ElfFile& elf, const std::string& name) {
  return std::ranges::find_if(elf.symbols, [&](const ElfSymbol& one) {
    return one.type == kSymbolObject && one.name == name && one.section != 0 && one.section < elf.sections.size();
  });
}

}  // namespace

bool has_variable(const Variant& variant, const std::string& name) {
  const auto elf = read_elf(variant.cubin, kElfMachineCuda);
  return elf && find_variable(*elf, name) != elf->symbols.end();
}

Result<void> fill_variable(Variant& variant, const std::string& name, std::span<const std::byte> data) {
  const auto elf = read_elf(variant.cubin, kElfMachineCuda);
  if (!elf) return fail(elf.error());
  const auto symbol = find_variable(*elf, name);
  if (symbol == elf->symbols.end()) {
    Failure absent{Stage::input, "the compiled kernel has no variable " + name,
                   "Declare it at file scope, __constant__ float " + name +
                       "[16]; and use it in the kernel: a variable that nothing reads is left out."};
    absent.absent_variable = name;
    return fail(std::move(absent));
  }
  const ElfSection& section = elf->sections[symbol->section];
  if (section.bytes.empty())
    return fail(Stage::input, fmt::format("the variable {} has no initial contents", name),
                "Declare it __constant__, or pass a buffer as a parameter.");
  if (symbol->size != data.size())
    return fail(
        Stage::input,
        fmt::format("the variable {} has {} B, and its buffer in the manifest {} B", name,
                    with_commas(static_cast<int64_t>(symbol->size)), with_commas(static_cast<int64_t>(data.size()))),
        "Correct the buffer's dtype or shape.");
  if (symbol->value > section.bytes.size() || section.bytes.size() - symbol->value < symbol->size)
    return fail(Stage::decode, "The cubin is malformed: variable " + name + " lies outside its section.",
                "It may be truncated. Compile the kernel again.");
  const ptrdiff_t at = section.bytes.data() - variant.cubin.data() + static_cast<ptrdiff_t>(symbol->value);
  std::ranges::copy(data, variant.cubin.begin() + at);
  const auto kernel = read_cubin(variant.cubin, variant.entry_symbol);
  if (!kernel) return fail(kernel.error());
  variant.info.code_hash = code_hash(*kernel);
  return {};
}

}  // namespace attnscope::compile
