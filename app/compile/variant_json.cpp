#include "compile/variant_json.h"

#include <array>

#include "core/observation_fields.h"

namespace attnscope {

template <>
struct FieldsOf<compile::SharedPlacement> {
  using Of = compile::SharedPlacement;
  static constexpr auto list = std::tuple{Field{"name", &Of::name}, Field{"symbol", &Of::symbol},
                                          Field{"offset", &Of::offset}, Field{"bytes", &Of::bytes}};
};

namespace compile {
namespace {

using limits::kRequired;
constexpr Limits kLong{.bytes = 1 << 30, .required = true};
// Beside the fields of VariantInfo, in the same object.
constexpr auto kOfVariant =
    std::tuple{Field{"entry_symbol", &Variant::entry_symbol, kRequired}, Field{"ptx", &Variant::ptx, kLong},
               Field{"barriers", &Variant::barriers, kRequired}, Field{"max_threads", &Variant::max_threads, kRequired},
               Field{"cubin", &Variant::cubin, kLong}};
constexpr auto kOfShared = std::tuple{Field{"shared_placed", &SharedLayout::placed, kRequired},
                                      Field{"shared_bytes", &SharedLayout::bytes, kRequired},
                                      Field{"shared_layout", &SharedLayout::buffers, kRequired}};
constexpr std::array kOfUse{"cached", "dynamic_shared_bytes"};  // fields of VariantInfo that are not stored
constexpr const char* kNvrtc = "nvrtc";  // its version, in place of the compiler: before nvcc was offered

}  // namespace

std::string pack_variant(const Variant& variant) {
  Json json = write_fields(variant.info);
  for (const char* key : kOfUse) json.erase(key);
  for_each_field(kOfVariant, [&](const auto& field) { fields::write_one(json, variant, field); });
  for_each_field(kOfShared, [&](const auto& field) { fields::write_one(json, variant.shared, field); });
  std::string bytes;
  Json::to_msgpack(json, bytes);
  return bytes;
}

Result<Variant> unpack_variant(const std::string& bytes) {
  const Json json = Json::from_msgpack(bytes, true, false);
  Variant variant;
  JsonReader read(json, "a stored variant", Stage::store);
  const Json info = write_fields(variant.info);
  for (const auto& [key, unused] : info.items())
    if (std::ranges::count(kOfUse, key) == 0 && key != "compiler") read.required(key.c_str());
  read_fields_into(read, variant.info);
  if (!read.has("compiler")) {
    read.required(kNvrtc);
    read.text(kNvrtc, variant.info.compiler);
    variant.info.compiler.insert(0, "NVRTC ");
  }
  for_each_field(kOfVariant, [&](const auto& field) { fields::read_one(read, variant, field); });
  for_each_field(kOfShared, [&](const auto& field) { fields::read_one(read, variant.shared, field); });
  if (auto done = read.finish(); !done) return fail(done.error());
  return variant;
}

}  // namespace compile
}  // namespace attnscope
