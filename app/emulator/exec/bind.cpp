// Prepares a launch: checks, constants, the module's variables, handlers.
#include "emulator/exec/bind.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>

#include "platform/memory.h"

namespace attnscope::emulator {

namespace {

// The same for every compute capability (CUDA programming guide, table of compute capabilities).
constexpr uint32_t kMostFrameBytes = 512 << 10;
constexpr uint64_t kMostCtas = 0x7fffffff;  // CTAs are counted with 32 bits

// The addresses of __device__ variables: first those with initial data, then the others.
constexpr uint64_t kModuleWindow = 0x7a0000000000;
uint64_t module_bytes(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

// The grid's workspace of a cooperative launch: %envreg1 and %envreg2 hold its address (cooperative_groups'
// driver_abi.h): the number of its bytes, and the word in which grid.sync() counts arrivals.
constexpr uint64_t kWorkspace = 0x790000000000;
constexpr uint32_t kWorkspaceBytes = 16;  // as an H100's driver says
constexpr uint32_t environment_register(uint32_t arch, uint32_t number) {
  return (arch >= 90 ? 0x40 : 0x88) + 4 * number;
}

// The driver's entries before the parameters in constant bank 0, as far as kernels without clusters read them: block
// and grid sizes at 0x0 and 0xc, the stack pointer at 0x28, the grid's workspace, the memory descriptor just before
// sm_90's (0x208) or sm_80's (0x118) parameters. Any other offset is refused rather than guessed.
Result<uint32_t> bank_zero(const Launch& launch, uint32_t offset, uint32_t local_bytes) {
  const auto& kernel = launch.program->sass->kernel;
  if (offset < 0xc) return launch.block[offset / 4];
  if (offset < 0x18) return launch.grid[(offset - 0xc) / 4];
  if (offset == 0x18 || offset == 0x20) return 0u;  // generic windows' low words
  if (offset == 0x1c) return static_cast<uint32_t>(kSharedWindow >> 32);
  if (offset == 0x24) return static_cast<uint32_t>(kLocalWindow >> 32);
  if (offset == 0x28) return local_bytes;
  const uint64_t workspace = launch.cooperative ? kWorkspace : 0;
  if (offset == environment_register(kernel.arch, 1)) return static_cast<uint32_t>(workspace >> 32);
  if (offset == environment_register(kernel.arch, 2)) return static_cast<uint32_t>(workspace);
  const uint32_t descriptor = kernel.arch >= 90 ? 0x208 : 0x118;
  if (offset == descriptor || offset == descriptor + 4) return 0u;
  if (offset >= kernel.parameter_base && offset + 4 <= kernel.parameter_base + (launch.parameters.size() + 3) / 4 * 4) {
    uint32_t value = 0;
    const size_t at = offset - kernel.parameter_base;
    std::memcpy(&value, launch.parameters.data() + at, std::min<size_t>(4, launch.parameters.size() - at));
    return value;
  }
  return fail(Stage::decode,
              fmt::format("{} reads c[0x0][{:#x}], which the emulator does not provide.", kernel.name, offset),
              "Only launch sizes, the stack pointer, the workspace of grid.sync() and parameters are known there.");
}

// The value that a loader writes for a relocation.
Result<uint64_t> resolve(const compile::CubinKernel& kernel, const compile::CubinRelocation& relocation) {
  using Target = compile::CubinRelocation::Target;
  constexpr uint32_t kAbsolute64 = 2, kGeneric64 = 4;  // the only types found in whole-program code
  if (relocation.type == kAbsolute64 || relocation.type == kGeneric64) {
    switch (relocation.target) {
      case Target::global_init:
        return kModuleWindow + relocation.value;
      case Target::global:
        return kModuleWindow + module_bytes(kernel.global_init.size()) + relocation.value;
      case Target::text:
        return kCodeWindow + relocation.value;
      case Target::external:
        if (relocation.symbol == "vprintf") return kExternalWindow + static_cast<uint64_t>(External::vprintf);
        if (relocation.symbol == "__assertfail") return kExternalWindow + static_cast<uint64_t>(External::assert_fail);
        break;
      default:
        break;
    }
  }
  return fail(Stage::decode,
              fmt::format("{} refers to {}, which the emulator does not provide.", kernel.name, relocation.symbol),
              "Device memory allocation and calls into other modules are not emulated.");
}

// Copies the initial contents of constant banks and variables, with every address filled in.
Result<void> place_module(const compile::CubinKernel& kernel, const Program& program, BoundLaunch& bound) {
  const uint64_t bytes = module_bytes(kernel.global_init.size()) + module_bytes(kernel.global_bytes);
  const std::string what = kernel.name + ": its __device__ variables";
  if (auto held = platform::hold_memory(bytes, what); !held) return fail(held.error());
  if (!bound.module.take(bytes)) return fail(platform::out_of_memory(what));
  const std::span<std::byte> module = bound.module.bytes();
  std::copy(kernel.global_init.begin(), kernel.global_init.end(), module.begin());
  for (const compile::ConstantBank& bank : kernel.banks) {
    if (bank.index > 0 && bank.index < kConstantBanks) bound.banks[bank.index] = bank.data;
  }
  for (const compile::CubinRelocation& relocation : kernel.relocations) {
    using Place = compile::CubinRelocation::Place;
    if (relocation.place == Place::text) continue;
    // NVRTC also lists addresses that no instruction reads.
    if (relocation.place == Place::constant_bank && !program.reads_bank[relocation.bank % kConstantBanks]) continue;
    const auto value = resolve(kernel, relocation);
    if (!value) return fail(value.error());
    const std::span<std::byte> target =
        relocation.place == Place::constant_bank ? bound.banks[relocation.bank % kConstantBanks] : module;
    if (relocation.offset + 8 <= target.size()) std::memcpy(target.data() + relocation.offset, &*value, 8);
  }
  if (!module.empty()) {
    bound.ranges.push_back({kModuleWindow, module.size(), reinterpret_cast<uint8_t*>(module.data()), true});
  }
  return {};
}

// Fills all of bank 0, for constants read at a register's offset. Entries that bank_zero() does not provide are zero.
void fill_bank_zero(const Launch& launch, uint32_t local_bytes, BoundLaunch& bound) {
  const auto& kernel = launch.program->sass->kernel;
  std::vector<std::byte>& bank = bound.banks[0];
  bank.resize(kernel.parameter_base + (launch.parameters.size() + 3) / 4 * 4);
  for (uint32_t offset = 0; offset < bank.size(); offset += 4) {
    const auto value = bank_zero(launch, offset, local_bytes);
    if (value) std::memcpy(bank.data() + offset, &*value, 4);
  }
}

Result<std::vector<uint32_t>> constant_values(const Launch& launch, const BoundLaunch& bound) {
  const auto& kernel = launch.program->sass->kernel;
  std::vector<uint32_t> values;
  for (const ConstantSource& source : launch.program->constants) {
    if (source.bank < 0) {
      values.push_back(source.value);
      continue;
    }
    if (source.bank == 0) {
      const auto value = bank_zero(launch, source.value, bound.local_bytes);
      if (!value) return fail(value.error());
      values.push_back(*value);
      continue;
    }
    const std::vector<std::byte>& bank = bound.banks[static_cast<uint32_t>(source.bank) % kConstantBanks];
    if (size_t{source.value} + 4 > (bank.size() + 3) / 4 * 4) {
      return fail(Stage::decode,
                  fmt::format("{} reads c[{:#x}][{:#x}], which its cubin does not hold.", kernel.name, source.bank,
                              source.value),
                  "Compile the kernel again.");
    }
    uint32_t value = 0;
    std::memcpy(&value, bank.data() + source.value, std::min<size_t>(4, bank.size() - source.value));
    values.push_back(value);
  }
  return values;
}

// Turns them into a WARPSYNC of all lanes, or an ENDCOLLECTIVE, which does nothing.
Result<void> open_barriers(const CtaOptions& options, std::vector<Op>& ops) {
  for (const auto& [list, family] : {std::pair{&options.open_for_warps, Family::warpsync},
                                     std::pair{&options.open_for_lanes, Family::endcollective}})
    for (const uint32_t index : *list) {
      if (index >= ops.size() || ops[index].family != Family::bar_sync)
        return fail(Stage::internal, fmt::format("Instruction {} is no barrier.", index), "Report this.");
      ops[index].family = family;
      ops[index].flags |= op_all;
    }
  return {};
}

}  // namespace

Result<void> check_launch(const Launch& launch, const CtaOptions& options) {
  const auto bad = [](std::string message, std::string hint) {
    return fail(Stage::launch, std::move(message), std::move(hint));
  };
  if (launch.program == nullptr) return fail(Stage::internal, "No program to run.", "Call prepare() first.");
  const auto& kernel = launch.program->sass->kernel;
  const uint64_t threads = uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  // Limits of compute capability 8.x and 9.0 (CUDA C++ Programming Guide, "Technical Specifications").
  if (threads == 0 || threads > 1024 || launch.block[0] > 1024 || launch.block[1] > 1024 || launch.block[2] > 64) {
    return bad(fmt::format("{}: a block of {} × {} × {} threads; 1 to 1024 are possible.", kernel.name, launch.block[0],
                           launch.block[1], launch.block[2]),
               "Choose fewer warps.");
  }
  const uint64_t ctas = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  const std::string grid =
      fmt::format("{}: a grid of {} × {} × {} CTAs", kernel.name, launch.grid[0], launch.grid[1], launch.grid[2]);
  if (launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0)
    return bad(grid + ".", "Each extent must be 1 or more.");
  if (launch.grid[0] > 0x7fffffff) return bad(grid + ".", "x can be 2,147,483,647 at most.");
  if (launch.grid[1] > 65535 || launch.grid[2] > 65535) return bad(grid + ".", "y and z can be 65,535 at most.");
  if (ctas > kMostCtas)
    return fail(Stage::limits,
                fmt::format("{}, {} in all; the emulator runs grids of up to {}.", grid, ctas, kMostCtas),
                "Choose a smaller problem, or run it on a GPU.");
  if (launch.parameters.size() != kernel.parameter_bytes) {
    return bad(fmt::format("{} takes {} bytes of parameters; {} were given.", kernel.name, kernel.parameter_bytes,
                           launch.parameters.size()),
               "Check the manifest's args.");
  }
  for (uint32_t cta : options.ctas) {
    if (cta >= ctas)
      return bad(fmt::format("{}: no CTA {} in a grid of {}.", kernel.name, cta, ctas), "Sample within the grid.");
  }
  const uint64_t shared = uint64_t{kernel.static_shared_bytes} + launch.dynamic_shared_bytes;
  if (shared > kMostSharedBytes) {
    return bad(fmt::format("{} asks for {} bytes of shared memory per CTA.", kernel.name, shared),
               "No architecture here gives a CTA more than 227 KiB.");
  }
  if (options.isa.has_value() && *options.isa > best_host_isa()) {
    return bad("This CPU lacks the instruction set that was asked for.", "Leave the choice to the emulator.");
  }
  return {};
}

Result<BoundLaunch> bind_launch(const Launch& launch, const CtaOptions& options, HostIsa isa) {
  const Program& program = *launch.program;
  const auto& kernel = program.sass->kernel;
  BoundLaunch bound;
  bound.program = &program;
  bound.grid = launch.grid;
  bound.block = launch.block;
  bound.warps = (launch.block[0] * launch.block[1] * launch.block[2] + 31) / 32;
  // The system uses sm_90's first 1024 bytes (in the recorded code, the window starts at 0x400).
  bound.shared_low = kernel.arch >= 90 ? 0x400 : 0;
  // Shared memory is allocated in units of 128 bytes (cuda_occupancy.h, compute capabilities 8.0 to 9.0), and ptxas
  // relies on that when it reads whole vectors at the end of an array.
  bound.shared_bytes = ((kernel.static_shared_bytes + 15) / 16 * 16 + launch.dynamic_shared_bytes + 127) / 128 * 128;
  if (kernel.frame_bytes > kMostFrameBytes)
    return fail(Stage::limits,
                fmt::format("{}: asks {} B of local memory per thread; {} are possible.", kernel.name,
                            kernel.frame_bytes, kMostFrameBytes),
                "Make the kernel's local arrays smaller, or keep them in a buffer.");
  bound.local_bytes = (kernel.frame_bytes + 15) / 16 * 16;
  // With recursion ptxas gives no stack size, so the driver's default limit applies (cudaLimitStackSize): 1024 bytes.
  const bool calls = std::any_of(kernel.functions.begin(), kernel.functions.end(), [](const auto& function) {
    return function.first.find("$__internal_") == std::string::npos;
  });
  if (calls) bound.local_bytes += 1024;
  if (auto placed = place_module(kernel, program, bound); !placed) return fail(placed.error());
  fill_bank_zero(launch, bound.local_bytes, bound);
  for (uint32_t i = 0; i < kConstantBanks; ++i) {
    bound.images[i] = {reinterpret_cast<const uint8_t*>(bound.banks[i].data()), bound.banks[i].size()};
  }
  auto constants = constant_values(launch, bound);
  if (!constants) return fail(constants.error());
  bound.constants = std::move(*constants);
  if (launch.memory != nullptr) {
    for (const GlobalBuffer& buffer : launch.memory->buffers())
      bound.ranges.push_back({buffer.address, buffer.bytes, reinterpret_cast<uint8_t*>(buffer.host), buffer.writable});
  }
  bound.cooperative = launch.cooperative;
  if (bound.cooperative) {
    bound.workspace.resize(kWorkspaceBytes);
    std::memcpy(bound.workspace.data(), &kWorkspaceBytes, sizeof kWorkspaceBytes);
    bound.ranges.push_back({kWorkspace, kWorkspaceBytes, reinterpret_cast<uint8_t*>(bound.workspace.data()), true});
  }
  bound.options = &options;
  bound.ops = program.ops;
  if (auto opened = open_barriers(options, bound.ops); !opened) return fail(opened.error());
  const HandlerTable& table = handlers(isa);
  for (const Block& block : program.blocks) {
    uint32_t mode = 0;  // unknown at the start of a block
    for (uint32_t i = block.first; i < block.first + block.count; ++i) {
      Op& op = bound.ops[i];
      bind(op, table, op.mxcsr != 0 && op.mxcsr != mode);
      if (op.mxcsr != 0) mode = op.mxcsr;
      if (!is_control(op.family) && (op.full == nullptr || op.masked == nullptr)) {
        return fail(Stage::internal, fmt::format("No handler for {}", program.sass->instructions[i].text),
                    "Report the kernel.");
      }
    }
  }
  observe_polls(bound);
  return bound;
}

}  // namespace attnscope::emulator
