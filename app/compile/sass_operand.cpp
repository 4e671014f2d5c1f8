#include "compile/sass_operand.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "core/text.h"

namespace attnscope::compile {
namespace {

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// The index in "R12", "UR4": digits to the end, or "Z"/"T" for the one that reads as a constant.
std::optional<int> index_of(std::string_view text, std::string_view prefix, int limit, char constant,
                            int constant_index) {
  if (!take(text, prefix) || text.empty()) return std::nullopt;
  if (text.size() == 1 && text[0] == constant) return constant_index;
  const auto index = number_of<int>(text);
  return index && *index >= 0 && *index < limit ? index : std::nullopt;
}

std::optional<int> register_index(std::string_view text) { return index_of(text, "R", 255, 'Z', 255); }
std::optional<int> uniform_index(std::string_view text) { return index_of(text, "UR", 63, 'Z', 63); }

std::optional<int64_t> hexadecimal(std::string_view text) {
  const bool negative = take(text, "-");
  if (!take(text, "0x")) return std::nullopt;
  const auto value = number_of<uint64_t>(text, 16);
  if (!value) return std::nullopt;
  return static_cast<int64_t>(negative ? uint64_t{0} - *value : *value);
}

std::optional<double> decimal(std::string_view text) {
  const bool negative = take(text, "-");
  if (!negative) take(text, "+");
  double value = 0;
  if (text == "INF")
    value = HUGE_VAL;
  else if (text == "QNAN" || text == "SNAN")
    value = std::nan("");
  else {
    if (text.empty() || !(std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '.')) return std::nullopt;
    const std::string copy(text);
    char* end = nullptr;
    value = std::strtod(copy.c_str(), &end);
    if (end != copy.c_str() + copy.size() || copy.find_first_of("xX") != std::string::npos) return std::nullopt;
  }
  return negative ? -value : value;
}

// ".reuse.H0_H0" → the modifiers. Text that does not start with a dot is not understood.
bool read_modifiers(std::string_view text, SassOperand& operand) {
  while (!text.empty()) {
    if (!take(text, ".") || text.empty()) return false;
    const std::string_view one = text.substr(0, text.find('.'));
    if (one.empty()) return false;
    if (one == "reuse")
      operand.reuse = true;
    else
      operand.modifiers.emplace_back(one);
    text.remove_prefix(one.size());
  }
  return true;
}

// The text between '[' and its ']', and what follows.
bool take_bracket(std::string_view& text, std::string_view& inside) {
  if (!take(text, "[")) return false;
  const size_t end = text.find(']');
  if (end == std::string_view::npos) return false;
  inside = text.substr(0, end);
  text.remove_prefix(end + 1);
  return true;
}

// The terms of an address: "R2.64+UR4+-0x10", "UR4+0x8", "0x20".
bool read_terms(std::string_view text, SassOperand& operand) {
  while (!text.empty()) {
    const size_t end = text.find('+');
    std::string_view term = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (const auto offset = hexadecimal(term)) {
      operand.value += *offset;
      continue;
    }
    const std::string_view name = term.substr(0, term.find('.'));
    if (!read_modifiers(term.substr(name.size()), operand)) return false;
    if (const auto reg = register_index(name); reg && operand.reg < 0) {
      operand.reg = *reg;
    } else if (const auto uniform = uniform_index(name); uniform && operand.uniform_offset < 0) {
      operand.uniform_offset = *uniform;
    } else {
      return false;
    }
  }
  return true;
}

// An address with no vector register has its uniform register as the base.
void settle_base(SassOperand& operand) {
  if (operand.reg >= 0 || operand.uniform_offset < 0) return;
  operand.reg = operand.uniform_offset;
  operand.reg_is_uniform = true;
  operand.uniform_offset = -1;
}

bool read_constant(std::string_view text, SassOperand& operand) {
  std::string_view bank, offset;
  const bool bindless = text.starts_with("cx[");
  text.remove_prefix(bindless ? 2 : 1);
  if (bindless || !take_bracket(text, bank)) return false;
  text = trimmed(text);
  if (!take_bracket(text, offset)) return false;
  const auto index = hexadecimal(bank);
  if (!index || *index < 0 || *index > 31 || !read_terms(offset, operand)) return false;
  settle_base(operand);
  if (operand.uniform_offset >= 0) return false;  // R and UR together: never seen
  operand.kind = OperandKind::constant;
  operand.bank = static_cast<int>(*index);
  return read_modifiers(text, operand);
}

bool read_address(std::string_view text, SassOperand& operand) {
  std::string_view inside;
  if (take(text, "desc")) {
    std::string_view descriptor;
    if (!take_bracket(text, descriptor)) return false;
    const auto uniform = uniform_index(descriptor);
    if (!uniform) return false;
    operand.descriptor = *uniform;
  }
  if (!take_bracket(text, inside) || !read_terms(inside, operand)) return false;
  settle_base(operand);
  operand.kind = OperandKind::address;
  return read_modifiers(text, operand);
}

bool read_label(std::string_view text, const SassLabels& labels, SassOperand& operand) {
  if (!take(text, "`(") || text.empty() || text.back() != ')') return false;
  text.remove_suffix(1);
  const auto found = labels.find(text);
  if (found == labels.end()) return false;
  operand.kind = OperandKind::label;
  operand.value = found->second;
  return true;
}

bool read_named(std::string_view text, SassOperand& operand) {
  const std::string_view name = text.substr(0, text.find('.'));
  const auto set = [&](OperandKind kind, std::optional<int> index) {
    if (!index) return false;
    operand.kind = kind;
    operand.reg = *index;
    return true;
  };
  if (name.starts_with("SR_") || name == "SRZ") {  // SR_TID.X: the dot is part of the name
    operand.kind = OperandKind::special;
    return true;
  }
  const bool known = set(OperandKind::reg, register_index(name)) ||
                     set(OperandKind::uniform_reg, uniform_index(name)) ||
                     set(OperandKind::predicate, index_of(name, "P", 7, 'T', 7)) ||
                     set(OperandKind::uniform_pred, index_of(name, "UP", 7, 'T', 7)) ||
                     set(OperandKind::barrier, index_of(name, "B", 16, ' ', -1)) ||
                     set(OperandKind::scoreboard, index_of(name, "SB", 6, ' ', -1));
  return known && read_modifiers(text.substr(name.size()), operand);
}

bool read_value(std::string_view text, const SassLabels& labels, SassOperand& operand) {
  if (const auto value = hexadecimal(text)) {
    operand.kind = OperandKind::immediate;
    operand.value = *value;
    return true;
  }
  if (const auto number = decimal(text)) {
    operand.kind = OperandKind::immediate;
    operand.is_float = true;
    operand.number = *number;
    return true;
  }
  if (text.starts_with("`")) return read_label(text, labels, operand);
  if (text.starts_with("c[") || text.starts_with("cx[")) return read_constant(text, operand);
  if (text.starts_with("[") || text.starts_with("desc[")) return read_address(text, operand);
  return read_named(text, operand);
}

SassOperand parse_operand(std::string_view text, const SassLabels& labels) {
  SassOperand operand;
  std::string_view rest = text;
  if (!hexadecimal(rest) && !decimal(rest)) {
    operand.negate = take(rest, "-");
    operand.invert = take(rest, "~") || take(rest, "!");
  }
  bool understood = true;
  if (take(rest, "|")) {  // |R4|.reuse, |R4.H0_H0|
    const size_t end = rest.find('|');
    operand.absolute = true;
    understood = end != std::string_view::npos && read_value(rest.substr(0, end), labels, operand) &&
                 read_modifiers(rest.substr(end + 1), operand);
  } else {
    understood = read_value(rest, labels, operand);
  }
  if (!understood) operand = SassOperand{};  // nothing half-read: only `raw` is kept
  operand.raw = std::string(text);
  return operand;
}

float half_to_float(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  float value = 0;
  if (exponent == 31)
    value = fraction != 0 ? std::nanf("") : HUGE_VALF;
  else if (exponent == 0)
    value = std::ldexp(static_cast<float>(fraction), -24);
  else
    value = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return bits & 0x8000 ? -value : value;
}

bool same(double encoded, double printed) {
  if (std::isnan(printed)) return std::isnan(encoded);
  return encoded == printed;
}

}  // namespace

std::vector<SassOperand> parse_operands(std::string_view text, const SassLabels& labels) {
  std::vector<SassOperand> operands;
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[' || c == '(' || c == '{') ++depth;
    if (c == ']' || c == ')' || c == '}') --depth;
    // A blank also separates operands: "RET.REL.NODEC R10 `(k1)". Packed halves print their constants with a blank
    // inside: "c[0x0] [0x178]".
    const bool inside_constant = c == ' ' && text.substr(i).starts_with(" [") &&
                                 trimmed(text.substr(start, i - start)).find("c[") != std::string_view::npos;
    if (i < text.size() && (depth > 0 || inside_constant || (c != ',' && c != ' '))) continue;
    const std::string_view one = trimmed(text.substr(start, i - start));
    if (!one.empty()) operands.push_back(parse_operand(one, labels));
    start = i + 1;
  }
  return operands;
}

// Every ordinary form has its 32-bit immediate in bits 32-63: a float, a double's upper half, or two halves with the
// upper one printed first (checked on HFMA2.MMA, HADD2, DADD and the FP32 forms of sm_80, sm_89 and sm_90).
void settle_float_immediates(SassInstruction& instruction) {
  std::vector<SassOperand*> floats;
  for (SassOperand& operand : instruction.operands)
    if (operand.kind == OperandKind::immediate && operand.is_float) floats.push_back(&operand);
  if (floats.empty()) return;
  const auto bits = static_cast<uint32_t>(instruction.low >> 32);
  const auto refuse = [](SassOperand& operand) {
    SassOperand text;
    text.raw = operand.raw;
    operand = text;
  };
  if (floats.size() == 2) {
    for (size_t i = 0; i < 2; ++i) {
      const auto half = static_cast<uint16_t>(i == 0 ? bits >> 16 : bits & 0xffff);
      const auto as_bfloat = static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(half) << 16));
      if (same(static_cast<double>(half_to_float(half)), floats[i]->number) || same(as_bfloat, floats[i]->number))
        floats[i]->value = half;
      else
        refuse(*floats[i]);
    }
    return;
  }
  const auto as_float = static_cast<double>(std::bit_cast<float>(bits));
  const auto as_double = std::bit_cast<double>(static_cast<uint64_t>(bits) << 32);
  for (SassOperand* operand : floats) {
    const bool is_double = instruction.opcode.starts_with("D");
    const bool fits =
        same(is_double ? as_double : as_float, operand->number) || (!is_double && same(as_double, operand->number)) ||
        (bits <= 0xffff && same(static_cast<double>(half_to_float(static_cast<uint16_t>(bits))), operand->number));
    if (fits && floats.size() == 1)
      operand->value = bits;
    else
      refuse(*operand);
  }
}

}  // namespace attnscope::compile
