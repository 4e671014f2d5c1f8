#include "compile/variant_json.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "core/binary_json.h"
#include "core/json.h"

namespace attnscope::compile {
namespace {

using nlohmann::json;

json binary_of(const std::vector<std::byte>& bytes) {
  std::vector<uint8_t> copy(bytes.size());
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  return binary_json(std::move(copy));
}

json buffers_of(const std::vector<SharedBuffer>& buffers) {
  json list = json::array();
  for (const SharedBuffer& buffer : buffers)
    list.push_back({{"name", buffer.name}, {"bytes", buffer.bytes}, {"dynamic", buffer.dynamic}});
  return list;
}

json placements_of(const SharedLayout& layout) {
  json list = json::array();
  for (const SharedPlacement& buffer : layout.buffers)
    list.push_back(
        {{"name", buffer.name}, {"symbol", buffer.symbol}, {"offset", buffer.offset}, {"bytes", buffer.bytes}});
  return list;
}

// at() and get() throw on a missing key or a wrong type; unpack_variant turns that into a Failure.
Variant variant_of(const json& data) {
  Variant variant;
  VariantInfo& info = variant.info;
  data.at("arch").get_to(info.arch);
  data.at("registers").get_to(info.registers);
  data.at("spill_bytes").get_to(info.spill_bytes);
  data.at("stack_bytes").get_to(info.stack_bytes);
  data.at("static_shared_bytes").get_to(info.static_shared_bytes);
  data.at("code_hash").get_to(info.code_hash);
  data.at("compile_ms").get_to(info.compile_ms);
  data.at("log").get_to(info.log);
  for (const json& buffer : data.at("shared_buffers"))
    info.shared_buffers.push_back({buffer.at("name"), buffer.at("bytes"), buffer.at("dynamic")});
  data.at("entry_symbol").get_to(variant.entry_symbol);
  // Before nvcc was offered, an entry held NVRTC's version.
  info.compiler = data.contains("compiler") ? data.at("compiler").get<std::string>()
                                            : "NVRTC " + data.at("nvrtc").get<std::string>();
  data.at("ptx").get_to(variant.ptx);
  data.at("barriers").get_to(variant.barriers);
  data.at("max_threads").get_to(variant.max_threads);
  data.at("shared_placed").get_to(variant.shared.placed);
  data.at("shared_bytes").get_to(variant.shared.bytes);
  for (const json& buffer : data.at("shared_layout"))
    variant.shared.buffers.push_back({buffer.at("name"), buffer.at("symbol"), buffer.at("offset"), buffer.at("bytes")});
  const json::binary_t& cubin = data.at("cubin").get_binary();
  variant.cubin.resize(cubin.size());
  std::memcpy(variant.cubin.data(), cubin.data(), cubin.size());
  return variant;
}

}  // namespace

std::string pack_variant(const Variant& variant) {
  const VariantInfo& info = variant.info;
  const json data = {{"arch", info.arch},
                     {"registers", info.registers},
                     {"spill_bytes", info.spill_bytes},
                     {"stack_bytes", info.stack_bytes},
                     {"static_shared_bytes", info.static_shared_bytes},
                     {"shared_buffers", buffers_of(info.shared_buffers)},
                     {"code_hash", info.code_hash},
                     {"compile_ms", info.compile_ms},
                     {"log", info.log},
                     {"entry_symbol", variant.entry_symbol},
                     {"compiler", info.compiler},
                     {"ptx", variant.ptx},
                     {"barriers", variant.barriers},
                     {"max_threads", variant.max_threads},
                     {"shared_placed", variant.shared.placed},
                     {"shared_bytes", variant.shared.bytes},
                     {"shared_layout", placements_of(variant.shared)},
                     {"cubin", binary_of(variant.cubin)}};
  std::string bytes;
  json::to_msgpack(data, bytes);
  return bytes;
}

Result<Variant> unpack_variant(const std::string& bytes) {
  try {
    return variant_of(json::from_msgpack(bytes));
  } catch (const json::exception& error) {
    return fail(Stage::store, std::string("A stored variant cannot be read: ") + error.what(), "It is made again.");
  }
}

}  // namespace attnscope::compile
