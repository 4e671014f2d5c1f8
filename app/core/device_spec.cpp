#include "core/device_spec.h"

#include "core/fields.h"

namespace attnscope {

template <>
struct FieldsOf<DeviceSpec> {
  static constexpr double kMost = int64_t{1} << 40;
  static constexpr Limits kName{.bytes = 200, .line = true, .required = true}, kBytes{.low = 0, .high = kMost},
      kNeededBytes{.low = 0, .high = kMost, .required = true}, kRegisters{.low = 1, .high = kMost},
      kRate{.low = 0, .high = 1e6};
  static constexpr auto list =
      std::tuple{Field{"id", &DeviceSpec::id, kName},
                 Field{"name", &DeviceSpec::name, kName},
                 Field{"arch", &DeviceSpec::arch, Limits{.low = 50, .high = 200, .required = true}},
                 Field{"emulated", &DeviceSpec::emulated},
                 Field{"runs", &DeviceSpec::runs, Limits{.most = 100, .bytes = 100}},
                 Field{"sms", &DeviceSpec::sms, Limits{.low = 1, .high = 100000, .required = true}},
                 Field{"shared_static_block", &DeviceSpec::shared_static_block, kBytes},
                 Field{"shared_optin_block", &DeviceSpec::shared_optin_block, kNeededBytes},
                 Field{"shared_sm", &DeviceSpec::shared_sm, kNeededBytes},
                 Field{"shared_reserved_block", &DeviceSpec::shared_reserved_block, kBytes},
                 Field{"warps_sm", &DeviceSpec::warps_sm, Limits{.low = 1, .high = 1024, .required = true}},
                 Field{"ctas_sm", &DeviceSpec::ctas_sm, Limits{.low = 1, .high = 1024}},
                 Field{"registers_sm", &DeviceSpec::registers_sm, kRegisters},
                 Field{"registers_block", &DeviceSpec::registers_block, kRegisters},
                 Field{"threads_block", &DeviceSpec::threads_block, Limits{.low = 1, .high = 65536}},
                 Field{"clock_mhz", &DeviceSpec::clock_mhz, Limits{.low = 0, .high = 1e5}},
                 Field{"sustained_clock_mhz", &DeviceSpec::sustained_clock_mhz, Limits{.low = 0, .high = 1e5}},
                 Field{"dram_gbs", &DeviceSpec::dram_gbs, kRate},
                 Field{"l2_mb", &DeviceSpec::l2_mb, kRate},
                 Field{"tensor_tflops_f16", &DeviceSpec::tensor_tflops_f16, kRate},
                 Field{"rates", &DeviceSpec::rates, Limits{.low = 0, .high = 1e9}},
                 Field{"sources", &DeviceSpec::sources}};
};

Json to_json(const DeviceSpec& spec) { return write_fields(spec); }

Result<DeviceSpec> device_spec_from_json(const Json& json, const std::string& where) {
  return read_fields<DeviceSpec>(json, where, Stage::input);
}

}  // namespace attnscope
