#pragma once
#include "core/fields.h"
#include "core/observation.h"

namespace attnscope {

// The source of a figure of HardwareCounters: CUPTI metrics, named as Nsight Compute names them, and the emulator's
// counter of the same events, if it has one.
struct HardwareRow {
  std::string_view label;
  std::string_view metric;
  std::string_view added = {};                    // a second metric to add
  std::string_view newer = {};                    // the metric's name on chips that lack `metric`
  int64_t (*counted)(const Counters&) = nullptr;  // null: the emulator does not count these events
  bool bytes = false;
};

namespace hardware {

template <int64_t Counters::*Member>
int64_t counted(const Counters& counters) {
  return counters.*Member;
}

inline constexpr Limits kPercent{.low = 0, .high = 1000};
inline constexpr Limits kTotal{.low = 0};

}  // namespace hardware

template <>
struct FieldsOf<HardwareCounters> {
  using H = HardwareCounters;
  static constexpr auto list = std::tuple{
      Field{"kind", &H::kind},
      Field{"cupti", &H::cupti, Limits{.bytes = 200}, "CUPTI's version"},
      Field{"passes", &H::passes, hardware::kTotal, "how many times the run was repeated to read them all"},
      Shown{
          Field{"sm_busy", &H::sm_busy, hardware::kPercent, "% of the instructions that the SMs could issue to a pipe"},
          HardwareRow{"SM busy", "sm__instruction_throughput.avg.pct_of_peak_sustained_active"}},
      Shown{Field{"warps_active", &H::warps_active, hardware::kPercent, "% of the warps that fit on the SMs in use"},
            HardwareRow{"warps active", "sm__warps_active.avg.pct_of_peak_sustained_active"}},
      Shown{Field{"tensor_busy", &H::tensor_busy, hardware::kPercent, "% of the clocks of the SMs in use"},
            HardwareRow{"tensor pipe busy", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"}},
      Shown{Field{"dram_busy", &H::dram_busy, hardware::kPercent, "% of the DRAM's bandwidth"},
            HardwareRow{"DRAM busy", "dram__throughput.avg.pct_of_peak_sustained_elapsed"}},
      Shown{Field{"warp_instructions", &H::warp_instructions, hardware::kTotal},
            HardwareRow{"warp instructions", "smsp__inst_executed.sum", {}, {}, all_instructions}},
      Shown{
          Field{"threads", &H::threads, hardware::kTotal, "thread instructions"},
          HardwareRow{
              "thread instructions", "smsp__thread_inst_executed.sum", {}, {}, hardware::counted<&Counters::threads>}},
      Shown{Field{"shared_wavefronts", &H::shared_wavefronts, hardware::kTotal},
            HardwareRow{"shared wavefronts",
                        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
                        {},
                        {},
                        hardware::counted<&Counters::shared_wavefronts>}},
      Shown{Field{"global_load_sectors", &H::global_load_sectors, hardware::kTotal},
            HardwareRow{"global load sectors",
                        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                        {},
                        {},
                        hardware::counted<&Counters::global_load_sectors>}},
      Shown{Field{"global_store_sectors", &H::global_store_sectors, hardware::kTotal},
            HardwareRow{"global store sectors",
                        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                        {},
                        {},
                        hardware::counted<&Counters::global_store_sectors>}},
      Shown{Field{"local_sectors", &H::local_sectors, hardware::kTotal},
            HardwareRow{"local sectors",
                        "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
                        "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
                        {},
                        hardware::counted<&Counters::local_sectors>}},
      Shown{Field{"dram_read_bytes", &H::dram_read_bytes, hardware::kTotal},
            HardwareRow{"DRAM read", "dram__bytes_read.sum", {}, "dram__bytes_op_read.sum", nullptr, true}},
      Shown{Field{"dram_write_bytes", &H::dram_write_bytes, hardware::kTotal},
            HardwareRow{"DRAM written", "dram__bytes_write.sum", {}, "dram__bytes_op_write.sum", nullptr, true}},
      Field{"failure", &H::failure, {}, "why there are none; null where there are"}};
};

// Calls visit(row, member) for each hardware figure, in table order.
template <class Visit>
void for_each_hardware_counter(Visit visit) {
  for_each_field(FieldsOf<HardwareCounters>::list, [&](const auto& field) {
    if constexpr (requires { field.row; }) visit(field.row, field.member);
  });
}

}  // namespace attnscope
