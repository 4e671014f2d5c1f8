#include "compile/sass_parser.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "compile/code_hash.h"
#include "compile/compile_errors.h"
#include "compile/elf_reader.h"
#include "compile/sass.h"
#include "compile/sass_operand.h"
#include "core/text.h"

namespace attnscope::compile {
namespace {

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
    return true;
  }
  size_t number() const { return number_; }

 private:
  std::string_view rest_;
  size_t number_ = 0;
};

// Removes "/*0a10*/" or "/* 0x00fe... */" from the start of `line` and returns the number.
std::optional<uint64_t> take_comment(std::string_view& line) {
  std::string_view text = trimmed(line);
  if (!text.starts_with("/*")) return std::nullopt;
  const size_t end = text.find("*/");
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view inside = trimmed(text.substr(2, end - 2));
  if (inside.starts_with("0x")) inside.remove_prefix(2);
  const auto value = number_of<uint64_t>(inside, 16);
  if (value) line = text.substr(end + 2);
  return value;
}

// A header by the name used in an include, wherever its folder is: cutlass/gemm/gemm.h.
std::string_view as_included(std::string_view file) {
  constexpr std::string_view folder = "/include/";
  const size_t at = file.rfind(folder);
  return file.starts_with('/') && at != std::string_view::npos ? file.substr(at + folder.size()) : file;
}

bool section_starts(std::string_view line, std::string_view kernel) {
  line = trimmed(line);
  constexpr std::string_view directive = ".section";
  if (!line.starts_with(directive)) return false;
  line = trimmed(line.substr(directive.size()));
  constexpr std::string_view text = ".text.";
  if (!line.starts_with(text) || !line.substr(text.size()).starts_with(kernel)) return false;
  line.remove_prefix(text.size() + kernel.size());
  return line.starts_with(",") || line.empty();
}

bool section_ends(std::string_view line) { return line.starts_with("//-----"); }

SassControl control_of(uint64_t high) {
  const auto bits = [&](int first, int count) {  // of the 128-bit word
    return static_cast<uint8_t>((high >> (first - 64)) & ((1u << count) - 1));
  };
  return {bits(105, 4), bits(110, 3), bits(113, 3), bits(116, 6), bits(122, 4)};
}

// An instruction after the first pass: label operands wait until every label is known.
struct RawInstruction {
  std::string_view body, targets;
  size_t line_number = 0;
};

class Parser {
 public:
  explicit Parser(CubinKernel kernel) { program_.kernel = std::move(kernel); }

  Result<SassProgram> parse(std::string_view text) {
    Lines lines(text);
    std::string_view line;
    bool inside = false;
    while (lines.next(line)) {
      if (!inside) {
        inside = section_starts(line, program_.kernel.name);
        continue;
      }
      if (section_ends(line)) break;
      if (auto done = read_line(line, lines); !done) return fail(done.error());
    }
    if (!inside)
      return fail(Stage::decode, "The disassembly holds no section .text." + program_.kernel.name + ".",
                  "It belongs to another cubin, or nvdisasm failed.");
    if (auto done = check_complete(); !done) return fail(done.error());
    for (size_t i = 0; i < raw_.size(); ++i)
      if (auto done = decode(raw_[i], program_.instructions[i]); !done) return fail(done.error());
    program_.code_hash = code_hash(program_.kernel);
    return std::move(program_);
  }

 private:
  tl::unexpected<Failure> refuse(size_t line, const std::string& what) const {
    return fail(Stage::decode,
                "The disassembly of " + program_.kernel.name + ", line " + std::to_string(line) + ": " + what + ".",
                "nvdisasm 13.2 is the version this program reads; another may print otherwise.");
  }

  Result<void> read_line(std::string_view line, Lines& lines) {
    const std::string_view text = trimmed(line);
    if (text.starts_with("//##")) return read_location(text, lines.number());
    if (text.starts_with("/*")) return read_instruction(text, lines);
    // ".L_x_3:", "k1:", "$k1$_Z4slowfi:"; directives are indented and do not end with a colon.
    if (text.ends_with(":") && line.front() != ' ' && line.front() != '\t')
      labels_.emplace(text.substr(0, text.size() - 1), next_offset());
    return {};
  }

  uint32_t next_offset() const { return static_cast<uint32_t>(program_.instructions.size() * 16); }

  Result<void> read_instruction(std::string_view line, Lines& lines) {
    const size_t number = lines.number();
    const auto offset = take_comment(line);
    if (!offset) return refuse(number, "an instruction without its offset");
    if (*offset != next_offset())
      return refuse(number, "an instruction is missing before offset " + std::to_string(*offset));
    const size_t encoding = line.rfind("/*");
    if (encoding == std::string_view::npos) return refuse(number, "an instruction without its encoding");
    std::string_view low_text = line.substr(encoding), high_text;
    const auto low = take_comment(low_text);
    if (!lines.next(high_text)) return refuse(number, "it ends within an instruction");
    const auto high = take_comment(high_text);
    if (!low || !high) return refuse(number, "an instruction without its encoding");

    RawInstruction raw{trimmed(line.substr(0, encoding)), {}, number};
    if (const size_t note = raw.body.find("(*"); note != std::string_view::npos) {
      raw.targets = raw.body.substr(note);
      raw.body = trimmed(raw.body.substr(0, note));
    }
    if (raw.body.ends_with(";")) raw.body = trimmed(raw.body.substr(0, raw.body.size() - 1));

    const std::span<const std::byte> code(program_.kernel.text);
    if (load_at<uint64_t>(code, *offset) != low || load_at<uint64_t>(code, *offset + 8) != high)
      return refuse(number, "the encoding is not the cubin's; it belongs to another one");
    SassInstruction instruction;
    instruction.offset = next_offset();
    instruction.low = *low;
    instruction.high = *high;
    instruction.control = control_of(*high);
    instruction.line = line_;
    instruction.inlined_at = inlined_at_;
    instruction.text = std::string(raw.body);
    program_.instructions.push_back(std::move(instruction));
    raw_.push_back(raw);
    return {};
  }

  // //## File "a.cuh", line 3 inlined at "k.cu", line 7: the next such line continues the chain.
  Result<void> read_location(std::string_view text, size_t number) {
    constexpr std::string_view file_word = "File \"", line_word = "\", line ";
    const size_t file_at = text.find(file_word);
    if (file_at == std::string_view::npos) return {};  // other "//## " notes
    text.remove_prefix(file_at + file_word.size());
    const size_t file_end = text.find(line_word);
    if (file_end == std::string_view::npos) return refuse(number, "a source location without its line");
    std::string_view file = text.substr(0, file_end);
    if (file.starts_with(kSourceRoot)) file.remove_prefix(std::string_view(kSourceRoot).size());
    file = as_included(file);
    SassLine line{file_index(file), 0};
    text.remove_prefix(file_end + line_word.size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), line.line);
    if (error != std::errc()) return refuse(number, "a source location without its line");
    if (chain_open_) {
      inlined_at_.push_back(line);
    } else {
      line_ = line;
      inlined_at_.clear();
    }
    chain_open_ = std::string_view(end, static_cast<size_t>(text.data() + text.size() - end)).find("inlined at") !=
                  std::string_view::npos;
    return {};
  }

  uint32_t file_index(std::string_view name) {
    const auto [found, fresh] = file_indices_.try_emplace(name, static_cast<uint32_t>(program_.files.size()));
    if (fresh) program_.files.emplace_back(name);
    return found->second;
  }

  Result<void> check_complete() const {
    if (program_.instructions.size() * 16 == program_.kernel.text.size()) return {};
    return fail(Stage::decode,
                "The disassembly of " + program_.kernel.name + " holds " +
                    std::to_string(program_.instructions.size()) + " instructions of " +
                    std::to_string(program_.kernel.text.size() / 16) + ".",
                "It is truncated. Remove it; it is made again automatically.");
  }

  Result<void> decode(const RawInstruction& raw, SassInstruction& instruction) const {
    std::string_view body = raw.body;
    if (body.starts_with("@")) {
      const size_t end = body.find(' ');
      if (end == std::string_view::npos) return refuse(raw.line_number, "a guard without an instruction");
      const auto guard = parse_operands(body.substr(1, end - 1), labels_);
      const bool uniform = guard.size() == 1 && guard[0].kind == OperandKind::uniform_pred;
      if (guard.size() != 1 || (!uniform && guard[0].kind != OperandKind::predicate))
        return refuse(raw.line_number, "an unknown guard " + std::string(body.substr(0, end)));
      instruction.predicate = guard[0].reg;
      instruction.predicate_negated = guard[0].invert;
      instruction.predicate_uniform = uniform;
      body = trimmed(body.substr(end));
    }
    const std::string_view name = body.substr(0, body.find(' '));
    if (name.empty()) return refuse(raw.line_number, "an instruction without an opcode");
    read_opcode(name, instruction);
    instruction.operands = parse_operands(body.substr(name.size()), labels_);
    settle_float_immediates(instruction);
    // code_hash() leaves out banks that no instruction reads, so this must be right.
    for (const SassOperand& operand : instruction.operands)
      if (operand.kind == OperandKind::constant && operand.bank > 0 &&
          !may_read_bank(program_.kernel.text, static_cast<uint32_t>(operand.bank)))
        return refuse(raw.line_number, "an operand " + operand.raw + " in an encoding that is not known to hold one");
    return read_targets(raw, instruction);
  }

  static void read_opcode(std::string_view name, SassInstruction& instruction) {
    size_t dot = name.find('.');
    instruction.opcode = std::string(name.substr(0, dot));
    while (dot != std::string_view::npos) {
      const size_t start = dot + 1;
      dot = name.find('.', start);
      instruction.modifiers.emplace_back(name.substr(start, dot == std::string_view::npos ? dot : dot - start));
    }
  }

  // (*"BRANCH_TARGETS .L_x_26,.L_x_27"*)
  Result<void> read_targets(const RawInstruction& raw, SassInstruction& instruction) const {
    constexpr std::string_view word = "BRANCH_TARGETS ";
    const size_t at = raw.targets.find(word);
    if (at == std::string_view::npos) return {};
    std::string_view list = raw.targets.substr(at + word.size());
    list = list.substr(0, list.find('"'));
    while (!list.empty()) {
      const size_t comma = list.find(',');
      const auto found = labels_.find(trimmed(list.substr(0, comma)));
      if (found == labels_.end()) return refuse(raw.line_number, "a branch target that is not a label");
      instruction.targets.push_back(found->second);
      list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    }
    return {};
  }

  SassProgram program_;
  std::vector<RawInstruction> raw_;
  SassLabels labels_;
  std::unordered_map<std::string_view, uint32_t> file_indices_;
  SassLine line_;
  std::vector<SassLine> inlined_at_;
  bool chain_open_ = false;
};

}  // namespace

std::string kernel_section(std::string_view text, std::string_view kernel) {
  std::string section;
  Lines lines(text);
  std::string_view line;
  bool inside = false;
  while (lines.next(line)) {
    if (!inside)
      inside = section_starts(line, kernel);
    else if (section_ends(line))
      break;
    if (!inside) continue;
    bool blank = false;
    for (const char c : line) {
      if (c == ' ' && blank) continue;
      blank = c == ' ';
      section += c;
    }
    section += '\n';
  }
  return section;
}

Result<SassProgram> parse_nvdisasm(const std::string& text, CubinKernel kernel) {
  return Parser(std::move(kernel)).parse(text);
}

}  // namespace attnscope::compile
