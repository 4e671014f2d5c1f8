#include "fake_gpu.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "compile/sass.h"
#include "emulator/emulator.h"
#include "support/test_cache.h"

namespace attnscope::device::testing {
namespace {

using namespace cuda_api;

// The driver API consists of plain functions, so they use the one fake that is alive.
FakeGpu* fake = nullptr;

struct FakeModule {
  std::vector<std::byte> cubin;
};

struct FakeFunction {
  const FakeModule* module = nullptr;
  std::string name;
  std::shared_ptr<const emulator::Program> program;  // decoded at its first launch
  bool is_ours() const { return name.starts_with("attnscope_"); }
};

struct State {
  std::map<DevicePointer, size_t> memory;
  double now_us = 0;
  int waiting = 0;                   // the code that the next stream_query returns
  std::function<void()> on_the_way;  // an upload that the next stream_query ends
  bool capturing = false;
  std::vector<std::function<void()>> captured;
  std::map<Event, double> events;
  std::map<Module, FakeModule> modules;
  std::map<Function, FakeFunction> functions;
  uintptr_t next_handle = 0;
};
State state;

constexpr uintptr_t kContext = 5, kStream = 6;
constexpr int kInvalidValue = 1, kInvalidContext = 201, kInvalidHandle = 400;

template <class Handle>
Handle handle(uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

bool is_ours(Stream stream) { return stream == handle<Stream>(kStream); }

struct FakeGraph {
  std::vector<std::function<void()>> nodes;
};

void put(std::function<void()> node) {
  if (state.capturing)
    state.captured.push_back(std::move(node));
  else
    node();
}

int alloc(DevicePointer* at, size_t bytes) {
  if (fake->allocated + bytes > fake->memory_limit) return kCudaOutOfMemory;
  *at = reinterpret_cast<DevicePointer>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
  state.memory[*at] = bytes;
  fake->allocated += bytes;
  return 0;
}

int release(DevicePointer at) {
  const auto found = state.memory.find(at);
  if (found == state.memory.end()) return 1;
  fake->allocated -= found->second;
  state.memory.erase(found);
  std::free(reinterpret_cast<void*>(at));
  return 0;
}

// Whether one allocation contains these bytes.
bool holds(DevicePointer at, size_t bytes) {
  auto found = state.memory.upper_bound(at);
  if (found == state.memory.begin()) return false;
  --found;
  return at + bytes <= found->first + found->second;
}

// An ELF file's header says where its tables are; they are the last parts of the file.
size_t size_of_image(const std::byte* image) {
  const auto number = [&]<class T>(size_t at, T) {
    T value;
    std::memcpy(&value, image + at, sizeof value);
    return static_cast<size_t>(value);
  };
  const size_t segments = number(0x20, uint64_t{}) + number(0x36, uint16_t{}) * number(0x38, uint16_t{});
  const size_t sections = number(0x28, uint64_t{}) + number(0x3a, uint16_t{}) * number(0x3c, uint16_t{});
  return std::max(segments, sections);
}

int load_module(Module* module, const void* image) {
  const auto* from = static_cast<const std::byte*>(image);
  *module = handle<Module>(++state.next_handle);
  state.modules[*module].cubin.assign(from, from + size_of_image(from));
  return ++fake->modules, 0;
}

int unload_module(Module module) {
  std::erase_if(state.functions, [&](const auto& one) { return one.second.module == &state.modules[module]; });
  state.modules.erase(module);
  return --fake->modules, 0;
}

int get_function(Function* function, Module module, const char* name) {
  *function = handle<Function>(++state.next_handle);
  state.functions[*function] = {&state.modules[module], name, nullptr};
  return 0;
}

// Runs a kernel on the fake's memory. A failure fails the test and is returned as a refused launch.
int emulate(FakeFunction& function, const LaunchConfig& config, std::vector<std::byte> parameters) {
  constexpr int launch_failed = 719;
  const auto refuse = [](const Failure& failure) {
    std::fprintf(stderr, "the fake GPU: %s\n", failure.message.c_str());
    return launch_failed;
  };
  // Our own kernels walk their data by whole warps.
  if (const unsigned threads = config.block[0] * config.block[1] * config.block[2]; threads == 0 || threads % 32 != 0)
    return refuse({Stage::launch, function.name + " was launched with " + std::to_string(threads) + " threads", ""});
  if (!function.program) {
    auto sass = compile::disassemble(function.module->cubin, function.name,
                                     {.nvdisasm = {}, .cache_dir = test_cache() / "programs"});
    if (!sass) return refuse(sass.error());
    auto program = emulator::prepare(*sass);
    if (!program) return refuse(program.error());
    function.program = *program;
  }
  emulator::GlobalMemory memory;
  for (const auto& [at, bytes] : state.memory)
    memory.place(at, "memory", {reinterpret_cast<std::byte*>(at), bytes}, true);
  emulator::Launch launch;
  launch.program = function.program;
  std::copy(std::begin(config.grid), std::end(config.grid), launch.grid.begin());
  std::copy(std::begin(config.block), std::end(config.block), launch.block.begin());
  launch.dynamic_shared_bytes = config.shared_bytes;
  launch.cooperative = config.attribute_count != 0;
  launch.parameters = std::move(parameters);
  launch.memory = &memory;
  const auto ran = emulator::run(launch);
  return ran ? 0 : refuse(ran.error());
}

// The parameter block, from a pointer to each parameter.
std::vector<std::byte> block_of(const FakeFunction& function, void** each) {
  const auto info = compile::read_cubin(function.module->cubin, function.name);
  std::vector<std::byte> block(info ? info->parameter_bytes : 0);
  for (size_t i = 0; info && i < info->parameters.size(); ++i)
    std::memcpy(block.data() + info->parameters[i].offset, each[i], info->parameters[i].size);
  return block;
}

int launch(const LaunchConfig* config, Function function, void** each, void** extra) {
  if (!is_ours(config->stream)) return kInvalidHandle;
  // As driver 580 does.
  if (config->attribute_count > 0 && extra != nullptr && state.capturing) return kInvalidValue;
  std::vector<std::byte> parameters;
  if (each != nullptr) parameters = block_of(state.functions.at(function), each);
  if (extra != nullptr) {
    const auto* from = static_cast<const std::byte*>(extra[1]);
    parameters.assign(from, from + *static_cast<size_t*>(extra[3]));
  }
  // CU_LAUNCH_ATTRIBUTE_COOPERATIVE, whose value is the int behind 8 bytes, is the only attribute that it knows.
  if (config->attribute_count > 1) return kInvalidValue;
  if (config->attribute_count == 1) {
    int id = 0, value = 0;
    std::memcpy(&id, config->attributes, 4);
    std::memcpy(&value, static_cast<const char*>(config->attributes) + 8, 4);
    if (id != 2 || value != 1) return kInvalidValue;
  }
  put([parameters, function, config = *config]() mutable {
    FakeFunction& called = state.functions.at(function);
    state.now_us += parameters.empty() ? 2 : fake->kernel_us;
    if (called.is_ours() && !parameters.empty()) {
      if (state.waiting != 0) return;
      if (const auto own = fake->ours.find(called.name); own != fake->ours.end()) {
        model::LaunchShape shape;
        for (size_t i = 0; i < 3; ++i) shape.grid[i] = config.grid[i], shape.block[i] = config.block[i];
        state.waiting = own->second(parameters.data(), shape);
      } else {
        state.waiting = emulate(called, config, parameters);
      }
      return;
    }
    ++fake->launches;
    if (parameters.empty()) return;
    uint64_t o = 0;
    std::memcpy(&o, parameters.data() + 24, 8);
    fake->outputs.push_back(o);
    for (size_t i = 0; i < 3; ++i) fake->shape.grid[i] = config.grid[i], fake->shape.block[i] = config.block[i];
    fake->shape.cooperative = config.attribute_count != 0;
    if (state.waiting != 0) return;
    state.waiting = fake->kernel ? fake->kernel(parameters.data()) : emulate(called, config, parameters);
  });
  return 0;
}

int attribute(int* value, int which, int) {
  static const std::map<int, int> kValues{
      {1, 1024},  {8, 49152}, {12, 65536}, {13, 2040000}, {16, 58},    {36, 6251000}, {37, 192}, {38, 50331648},
      {39, 1536}, {75, 8},    {76, 9},     {81, 102400},  {82, 65536}, {97, 101376},  {106, 24}, {111, 1024}};
  const auto found = kValues.find(which);
  if (found == kValues.end()) return 1;
  *value = found->second;
  return 0;
}

// The driver's calls. Each is refused when the test asks for it.
DriverCalls kept;

bool is_refused(const char* call) {
  if (fake->refused != call || fake->refused_after < 0 || (fake->refused_in_capture && !state.capturing)) return false;
  if (fake->refused_after-- > 0) return false;
  if (fake->refused == "stream_end_capture") state.capturing = false;
  return true;
}

template <auto Member>
struct Refusable;
template <class... Arguments, int (*DriverCalls::*Member)(Arguments...)>
struct Refusable<Member> {
  static inline const char* name = "";
  static int call(Arguments... arguments) { return is_refused(name) ? kInvalidValue : (kept.*Member)(arguments...); }
  static void put_into(DriverCalls& calls, const char* named) {
    name = named;
    calls.*Member = &call;
  }
};

DriverCalls fake_calls() {
  DriverCalls c;
  c.init = [](unsigned) { return 0; };
  c.device_count = [](int* count) { return *count = fake->gpus, 0; };
  c.device_get = [](int* device, int ordinal) { return *device = ordinal, ordinal < fake->gpus ? 0 : 101; };
  c.device_name = [](char* name, int length, int) {
    return std::snprintf(name, static_cast<size_t>(length), "Fake L4"), 0;
  };
  c.device_attribute = attribute;
  c.device_pci_bus_id = [](char* id, int length, int) {
    return std::snprintf(id, static_cast<size_t>(length), "00000000:17:00.0"), 0;
  };
  c.primary_context_retain = [](Context* context, int) { return *context = handle<Context>(kContext), 0; };
  c.context_set_current = [](Context context) { return context == handle<Context>(kContext) ? 0 : kInvalidContext; };
  c.module_load_data = load_module;
  c.module_unload = unload_module;
  c.module_get_function = get_function;
  c.function_set_attribute = [](Function, int which, int bytes) {
    constexpr int max_dynamic_shared = 8;
    return which == max_dynamic_shared ? (fake->opted_in = bytes, 0) : kInvalidValue;
  };
  c.memory_alloc = alloc;
  c.memory_free = release;
  // The bytes arrive at the next query of the stream.
  c.copy_to_device = [](DevicePointer to, const void* from, size_t n, Stream stream) {
    if (!is_ours(stream)) return kInvalidHandle;
    state.on_the_way = [=] { std::memcpy(reinterpret_cast<void*>(to), from, n); };
    return 0;
  };
  c.copy_to_host = [](void* to, DevicePointer from, size_t n) {
    return std::memcpy(to, reinterpret_cast<const void*>(from), n), 0;
  };
  // A flush covers a whole allocation, and nothing reads it; a program's memset covers a buffer between canaries.
  c.memory_set = [](DevicePointer at, unsigned char value, size_t bytes, Stream stream) {
    if (!is_ours(stream) || !holds(at, bytes)) return kInvalidValue;
    if (!state.memory.contains(at)) return put([=] { std::memset(reinterpret_cast<void*>(at), value, bytes); }), 0;
    return fake->flushed = bytes, put([] { state.now_us += fake->flush_us; }), 0;
  };
  c.copy_on_device = [](DevicePointer to, DevicePointer from, size_t bytes, Stream stream) {
    if (!is_ours(stream) || !holds(to, bytes) || !holds(from, bytes)) return kInvalidValue;
    return put([=] { std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes); }), 0;
  };
  c.stream_create = [](Stream* stream, unsigned flags) {
    constexpr unsigned non_blocking = 1;
    return flags == non_blocking ? (*stream = handle<Stream>(kStream), 0) : kInvalidValue;
  };
  c.stream_query = [](Stream stream) {
    if (!is_ours(stream)) return kInvalidHandle;
    if (auto copy = std::exchange(state.on_the_way, nullptr)) copy();
    return std::exchange(state.waiting, 0);
  };
  c.stream_begin_capture = [](Stream stream, int) {
    return is_ours(stream) ? (state.capturing = true, state.captured.clear(), 0) : kInvalidHandle;
  };
  c.stream_end_capture = [](Stream, Graph* graph) {
    state.capturing = false;
    *graph = reinterpret_cast<Graph>(new FakeGraph{std::move(state.captured)});
    return ++fake->graphs, 0;
  };
  c.event_create = [](Event* event, unsigned) {
    static uintptr_t next = 0;
    return ++fake->events, *event = handle<Event>(++next), 0;
  };
  c.event_destroy = [](Event event) { return --fake->events, state.events.erase(event), 0; };
  // Only an external record becomes an event of the graph under capture, and only there is it allowed.
  c.event_record = [](Event event, Stream stream, unsigned flags) {
    constexpr unsigned external = 1;
    if (!is_ours(stream) || (!state.capturing && flags == external)) return kInvalidHandle;
    if (!state.capturing || flags == external) put([event] { state.events[event] = state.now_us; });
    return 0;
  };
  c.event_elapsed = [](float* ms, Event from, Event to) {
    if (!state.events.contains(from) || !state.events.contains(to)) return kInvalidHandle;  // not recorded
    return *ms = static_cast<float>((state.events.at(to) - state.events.at(from)) / 1e3), 0;
  };
  c.graph_instantiate = [](GraphExec* ready, Graph graph, unsigned long long) {
    *ready = reinterpret_cast<GraphExec>(new FakeGraph(*reinterpret_cast<FakeGraph*>(graph)));
    return ++fake->graphs, 0;
  };
  c.graph_launch = [](GraphExec ready, Stream) {
    for (const auto& node : reinterpret_cast<FakeGraph*>(ready)->nodes) node();
    return 0;
  };
  c.graph_exec_destroy = [](GraphExec ready) { return delete reinterpret_cast<FakeGraph*>(ready), --fake->graphs, 0; };
  c.graph_destroy = [](Graph graph) { return delete reinterpret_cast<FakeGraph*>(graph), --fake->graphs, 0; };
  c.launch = launch;
  c.error_name = [](int code, const char** name) {
    *name = code == 700   ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : code == 701 ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
                          : "CUDA_ERROR";
    return 0;
  };
  kept = c;
#define REFUSABLE(name) Refusable<&DriverCalls::name>::put_into(c, #name)
  REFUSABLE(init), REFUSABLE(device_count), REFUSABLE(device_get), REFUSABLE(device_name);
  REFUSABLE(device_attribute), REFUSABLE(device_pci_bus_id), REFUSABLE(primary_context_retain);
  REFUSABLE(context_set_current), REFUSABLE(module_load_data), REFUSABLE(module_get_function);
  REFUSABLE(function_set_attribute), REFUSABLE(memory_alloc), REFUSABLE(copy_to_device), REFUSABLE(copy_to_host);
  REFUSABLE(memory_set), REFUSABLE(copy_on_device), REFUSABLE(stream_create), REFUSABLE(stream_query),
      REFUSABLE(stream_begin_capture);
  REFUSABLE(stream_end_capture), REFUSABLE(event_create), REFUSABLE(event_record), REFUSABLE(event_elapsed);
  REFUSABLE(graph_instantiate), REFUSABLE(graph_launch), REFUSABLE(launch);
#undef REFUSABLE
  return c;
}

}  // namespace

FakeGpu::FakeGpu() {
  state = {};
  fake = this;
}

FakeGpu::~FakeGpu() {
  for (const auto& [at, bytes] : state.memory) std::free(reinterpret_cast<void*>(at));
  state = {};
  fake = nullptr;
}

std::shared_ptr<const DriverCalls> FakeGpu::calls() const { return std::make_shared<const DriverCalls>(fake_calls()); }

}  // namespace attnscope::device::testing
