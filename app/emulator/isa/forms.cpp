#include "emulator/isa/forms.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "emulator/isa/recorded_forms.h"

namespace attnscope::emulator {

namespace {

struct Row {
  std::string_view spelling;
  Form form;
  bool defined = false;  // a general row that runs without a recording
};
constexpr Row rows[] = {
#define FORM(spelling, family, roles, sources, instruction_class, decoder) \
  {spelling,                                                               \
   {Family::family, roles, SourceModifiers::sources, InstructionClass::instruction_class, modifiers::decoder}},
#define GENERAL(spelling, handler, ...) FORM(spelling, general, __VA_ARGS__)
#define DEFINED(spelling, handler, roles, sources, instruction_class, decoder)                                  \
  {spelling,                                                                                                    \
   {Family::general, roles, SourceModifiers::sources, InstructionClass::instruction_class, modifiers::decoder}, \
   true},
#include "emulator/isa/forms.inc"
#undef DEFINED
#undef GENERAL
#undef FORM
};

// "A{,.B} {C,D}" → "A C", "A D", "A.B C", "A.B D".
void expand(const std::string& spelling, std::vector<std::string>& out) {
  const size_t open = spelling.find('{');
  if (open == std::string::npos) {
    out.push_back(spelling);
    return;
  }
  const size_t close = spelling.find('}', open);
  for (size_t at = open; at < close;) {
    const size_t next = std::min(spelling.find(',', at + 1), close);
    expand(spelling.substr(0, open) + spelling.substr(at + 1, next - at - 1) + spelling.substr(close + 1), out);
    at = next;
  }
}

struct Listed {
  Form form;
  Basis basis;
};

// True for modifiers that change no value: cache hints, how a barrier waits, and the scope of an order or an atomic
// (here all of the device's threads see it).
bool is_hint(std::string_view modifier) {
  constexpr std::string_view hints[] = {"LTC64B", "LTC128B",        "EF",  "EL",  "NA", "LU",    "CONSTANT",
                                        "BYPASS", "DEFER_BLOCKING", "GPU", "SYS", "SM", "STRONG"};
  return std::find(std::begin(hints), std::end(hints), modifier) != std::end(hints);
}

// A spelling in two parts that leave out kinds: the opcode with modifiers, without cache hints and the sign of an
// atomic sum; and the operands, without the kind of each source (register, uniform register, immediate, constant; which
// half of it) and of each address.
struct Kindless {
  std::string head, operands;
};
Kindless kindless(std::string_view spelling, Roles roles) {
  const size_t space = spelling.find(' ');
  Kindless kin;
  for (size_t at = 0; at < space;) {
    const size_t end = std::min(spelling.find('.', at), space);
    const std::string_view modifier = spelling.substr(at, end - at);
    if (at == 0)
      kin.head = modifier;
    else if (!is_hint(modifier) && !(modifier == "S32" && kin.head.ends_with(".ADD")))
      kin.head += "." + std::string(modifier);
    at = end + 1;
  }
  size_t at = space + 1;
  for (const char role : roles) {
    if (at > spelling.size()) break;  // a role that the spelling does not show
    const size_t end = std::min(spelling.find(',', at), spelling.size());
    std::string_view operand = spelling.substr(at, end - at);
    at = end + 1;
    if (std::string_view("abckwve").find(role) != std::string_view::npos) {
      operand.remove_prefix(1);
      kin.operands += operand == ".H0_H0" || operand == ".H1_H1" ? "*" : "*" + std::string(operand);
    } else if (role == 'X' || role == 'Z') {
      kin.operands += "*";
    } else if (role == 'Y' || role == 'V') {  // the other half of the same immediate
      continue;
    } else {
      kin.operands += role == 'm' || role == 'G' ? "[]" : role == 'K' ? "C" : operand;
    }
    kin.operands += ",";
  }
  return kin;
}

// A comparison's head without the comparison's name and its combination with the predicate. A table has those
// (modifiers.cpp), and every entry of it is recorded with FSETP and ISETP. Empty: not a comparison.
std::string uncompared(const std::string& head) {
  constexpr std::string_view opcodes[] = {"DSETP", "ISETP", "FSET", "HSET2", "HSETP2"};
  constexpr std::string_view names[] = {"LT",  "EQ",  "LE",  "GT",  "NE",  "GE",  "NUM", "NAN", "LTU",
                                        "EQU", "LEU", "GTU", "NEU", "GEU", "AND", "OR",  "XOR"};
  const size_t first = head.find('.');
  if (first == std::string::npos ||
      std::ranges::find(opcodes, std::string_view(head).substr(0, first)) == std::end(opcodes))
    return {};
  std::string rest = head.substr(0, first);
  for (size_t at = first; at < head.size();) {
    const size_t end = std::min(head.find('.', at + 1), head.size());
    const std::string_view modifier = std::string_view(head).substr(at + 1, end - at - 1);
    if (std::ranges::find(names, modifier) == std::end(names)) rest += "." + std::string(modifier);
    at = end;
  }
  return rest;
}

std::string_view opcode_of(std::string_view spelling) { return spelling.substr(0, spelling.find_first_of(". ")); }

// Related recordings of general forms that are not recorded with their exact spelling.
class RecordedKin {
 public:
  void add(std::string_view spelling, Roles roles) {
    const Kindless kin = kindless(spelling, roles);
    forms_.insert(kin.head + " " + kin.operands);
    shapes_.insert(std::string(opcode_of(spelling)) + " " + kin.operands);
    if (const std::string rest = uncompared(kin.head); !rest.empty()) comparisons_.insert(rest + " " + kin.operands);
  }
  // True if another comparison of the same numbers is recorded.
  bool compares(std::string_view spelling, Roles roles) const {
    const Kindless kin = kindless(spelling, roles);
    const std::string rest = uncompared(kin.head);
    return !rest.empty() && comparisons_.contains(rest + " " + kin.operands);
  }
  // True if the same operation is recorded with sources of other kinds, or for lanes if this one is uniform, or (a
  // local load) with that width for shared memory; or if it is recorded without the predicate at the end, while another
  // width of the same opcode is recorded with it.
  bool holds(std::string_view spelling, Roles roles) const {
    const Kindless kin = kindless(spelling, roles);
    if (forms_.contains(kin.head + " " + kin.operands) || forms_.contains(lanes_twin(kin))) return true;
    // For a generic address that leads to global memory: the meaning of such an address is recorded with other
    // operations.
    for (const auto& [generic, global] : {std::pair{"ATOM.", "ATOMG."}, {"LD.", "LDG."}, {"ST.", "STG."}})
      if (kin.head.starts_with(generic) &&
          forms_.contains(global + kin.head.substr(std::string_view(generic).size()) + " " + kin.operands))
        return true;
    if (kin.head.starts_with("LDL.") && forms_.contains("LDS" + kin.head.substr(3) + " " + kin.operands)) return true;
    if (!roles.ends_with('x')) return false;
    constexpr size_t kPredicate = 2;  // "P,"
    return forms_.contains(kin.head + " " + kin.operands.substr(0, kin.operands.size() - kPredicate)) &&
           shapes_.contains(std::string(opcode_of(spelling)) + " " + kin.operands);
  }

 private:
  static std::string lanes_twin(const Kindless& kin) {
    if (!kin.head.starts_with('U')) return {};
    std::string operands = kin.operands;
    std::replace(operands.begin(), operands.end(), 'U', 'R');
    std::replace(operands.begin(), operands.end(), 'Q', 'P');
    return kin.head.substr(1) + " " + operands;
  }

  std::unordered_set<std::string> forms_, shapes_, comparisons_;
};

const std::unordered_map<std::string, Listed>& table() {
  static const auto* forms = [] {
    auto* map = new std::unordered_map<std::string, Listed>;
    std::vector<std::pair<std::string, Form>> others;
    RecordedKin kin;
    for (const Row& row : rows) {
      Form form = row.form;
      form.row = static_cast<uint16_t>(&row - rows);
      std::vector<std::string> spellings;
      expand(std::string(row.spelling), spellings);
      for (std::string& spelling : spellings) {
        const bool recorded = recorded_on(spelling) != 0;
        if (form.family == Family::general && !recorded && !row.defined) {
          others.emplace_back(std::move(spelling), form);
          continue;
        }
        if (recorded) kin.add(spelling, form.roles);
        map->emplace(std::move(spelling), Listed{form, recorded ? Basis::recorded : Basis::definition});
      }
    }
    for (auto& [spelling, listed] : *map) {
      if (listed.basis == Basis::definition && kin.holds(spelling, listed.form.roles)) listed.basis = Basis::kin;
    }
    // General rows cover more spellings than were recorded. Of those, only relatives of recorded ones are executed, and
    // comparisons with other names.
    for (auto& [spelling, form] : others) {
      if (kin.holds(spelling, form.roles)) {
        map->emplace(std::move(spelling), Listed{form, Basis::kin});
      } else if (kin.compares(spelling, form.roles)) {
        map->emplace(std::move(spelling), Listed{form, Basis::definition});
      }
    }
    return map;
  }();
  return *forms;
}

std::string letter_of(const compile::SassOperand& operand) {
  using compile::OperandKind;
  switch (operand.kind) {
    case OperandKind::reg:
      return "R";
    case OperandKind::uniform_reg:
      return "U";
    case OperandKind::predicate:
      return "P";
    case OperandKind::uniform_pred:
      return "Q";
    case OperandKind::immediate:
      return operand.is_float ? "F" : "I";
    case OperandKind::label:
      return "L";
    case OperandKind::barrier:
      return "B";
    case OperandKind::constant:
      return operand.reg < 0 ? "C" : operand.reg_is_uniform ? "C[U]" : "C[R]";
    case OperandKind::special:
      return operand.raw;
    default:
      return operand.raw;
  }
}

std::string spelling_of(const compile::SassOperand& operand) {
  std::string text;
  if (operand.kind == compile::OperandKind::address) {
    if (operand.descriptor >= 0) text += "d";
    text += "[";
    if (operand.reg >= 0) text += operand.reg_is_uniform ? "U" : "R";
    for (const std::string& modifier : operand.modifiers) text += "." + modifier;
    if (operand.uniform_offset >= 0) text += "+U";
    return text + "]";
  }
  text = operand.raw.starts_with("{") ? "SBs" : letter_of(operand);  // {5,4,3,2}: scoreboards
  for (const std::string& modifier : operand.modifiers) text += "." + modifier;
  return text;
}

}  // namespace

const Form* find_form(std::string_view spelling) {
  const auto found = table().find(std::string(spelling));
  return found == table().end() ? nullptr : &found->second.form;
}

Basis basis_of(std::string_view spelling) { return table().at(std::string(spelling)).basis; }

std::vector<std::string> supported_forms() {
  std::vector<std::string> spellings;
  for (const auto& [spelling, listed] : table()) spellings.push_back(spelling);
  std::sort(spellings.begin(), spellings.end());
  return spellings;
}

std::string form_of(const compile::SassInstruction& instruction) {
  std::string text = instruction.opcode;
  for (const std::string& modifier : instruction.modifiers) text += "." + modifier;
  text += " ";
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    if (i > 0) text += ",";
    text += spelling_of(instruction.operands[i]);
  }
  return text;
}

}  // namespace attnscope::emulator
