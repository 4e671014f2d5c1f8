#include "model/assumed_rates.h"

#include <optional>
#include <string>

#include "model/machine.h"
#include "model/rates.h"

namespace attnscope::model {

DeviceSpec with_assumed_rates(DeviceSpec spec) {
  const auto assume = [&](const char* name, std::optional<double> value, const std::string& why) {
    if (spec.rates.contains(name)) return;
    if (value) spec.rates[name] = *value;
    spec.sources[std::string("rates/") + name] = kAssumed + why;
  };
  for (const rates::Rate* rate : rates::kAll)
    assume(rate->name, rate->fallback,
           "the model's figure for a device that has none of its own (docs/model.md, Rates)");
  assume(rates::kMma16816, Machine::tensor_clocks(spec),
         "the data sheet's throughput, tensor_tflops_f16, at the clock of such kernels");
  assume(rates::kTensorClock, rates::tensor_clock_mhz(spec), "clock_mhz, as for kernels without Tensor Cores");
  assume(rates::kAheadSms, 0, "when a kernel starts, SMs get one CTA after the other");
  for (const char* name : {rates::kAheadSecond, rates::kAheadThird, rates::kAheadSecondOfTwo})
    assume(name, std::nullopt, "no SM gets its next CTA ahead of the others");
  return spec;
}

bool may_be_zero(std::string_view rate) { return rate == rates::kMmaBanks.name || rate == rates::kAheadSms; }

}  // namespace attnscope::model
