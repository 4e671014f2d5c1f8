#include "compile/code_hash.h"

#include <algorithm>
#include <set>

#include "compile/elf_reader.h"
#include "core/hash.h"

namespace attnscope::compile {
namespace {

// Fields with their lengths, so that two different kernels never give the same bytes.
class Digest {
 public:
  void number(uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void bytes(std::span<const std::byte> data) {
    number(data.size());
    bytes_.insert(bytes_.end(), data.begin(), data.end());
  }
  std::string hash() const { return xxh3_128(std::span<const std::byte>(bytes_)); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

bool may_read_bank(std::span<const std::byte> text, uint32_t bank) {
  for (uint64_t at = 0; at + 16 <= text.size(); at += 16) {
    const uint64_t low = *load_at<uint64_t>(text, at);
    // In the opcode's 12 bits, forms 3 and 5 have a constant operand (also LDC), 6 a bindless one.
    const auto form = (low >> 9) & 7;
    if ((form == 3 || form == 5) && ((low >> 54) & 31) == bank) return true;
  }
  return false;
}

std::string code_hash(const CubinKernel& kernel) {
  Digest digest;
  digest.number(kernel.arch);
  digest.bytes(kernel.text);
  std::set<uint32_t> read_banks;
  for (const ConstantBank& bank : kernel.banks) {
    if (!may_read_bank(kernel.text, bank.index)) continue;
    read_banks.insert(bank.index);
    digest.number(bank.index);
    digest.bytes(bank.data);
  }
  digest.number(read_banks.size());
  const auto counts = [&](const CubinRelocation& relocation) {
    return relocation.place == CubinRelocation::Place::text ||
           (relocation.place == CubinRelocation::Place::constant_bank && read_banks.contains(relocation.bank));
  };
  // A variable is reached only through an address that a relocation fills in.
  const bool reads_variables = std::any_of(kernel.relocations.begin(), kernel.relocations.end(), counts);
  if (reads_variables) {
    digest.bytes(kernel.global_init);
    digest.number(kernel.global_bytes);
  }
  for (const CubinRelocation& relocation : kernel.relocations) {
    if (!counts(relocation) && !(reads_variables && relocation.place == CubinRelocation::Place::global_init)) continue;
    digest.number(static_cast<uint64_t>(relocation.place) << 32 | relocation.bank);
    digest.number(relocation.offset);
    digest.number(static_cast<uint64_t>(relocation.target) << 32 | relocation.type);
    digest.number(relocation.value);
    // The name matters only for symbols that no section of this file contains: vprintf, malloc.
    const bool named = relocation.target == CubinRelocation::Target::external;
    digest.bytes(std::as_bytes(std::span<const char>(relocation.symbol.data(), named ? relocation.symbol.size() : 0)));
  }
  digest.number(kernel.static_shared_bytes);
  digest.number(kernel.frame_bytes);
  digest.number(kernel.registers);
  digest.number(kernel.barriers);
  digest.number(kernel.max_threads);
  digest.number(kernel.parameter_base);
  digest.number(kernel.parameter_bytes);
  digest.number(kernel.parameters.size());
  for (const KernelParameter& parameter : kernel.parameters) {
    digest.number(parameter.offset);
    digest.number(parameter.size);
  }
  return digest.hash();
}

}  // namespace attnscope::compile
