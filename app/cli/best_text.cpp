#include "cli/best_text.h"

#include <fmt/format.h>

#include "core/escape.h"
#include "core/json.h"
#include "model/bars.h"
#include "report/bench_report.h"

namespace attnscope::cli {

namespace fs = std::filesystem;
using report::TunedEntry;

bool of_another_version(const TunedEntry& entry, const std::vector<Kernel>& kernels) {
  const Kernel* kernel = find_kernel(kernels, entry.kernel);
  return kernel && kernel->content_hash != entry.kernel_hash;
}

std::string best_text(const std::vector<TunedEntry>& found, const Problem& problem, const DeviceSpec& device,
                      const std::vector<Kernel>& kernels, const fs::path& root) {
  std::string text = fmt::format("{} on {}, hot\n", report::problem_text(problem), one_line(device.name));
  for (const TunedEntry& entry : found) {
    const Kernel* kernel = find_kernel(kernels, entry.kernel);
    std::error_code none;
    const std::string source =
        entry.source == kHistory ? entry.source : fs::relative(entry.source, root, none).generic_string();
    const TunedEntry& first = found.front();
    const bool modelled = entry.kind == FigureKind::modelled && first.kind == FigureKind::modelled;
    const bool apart = !modelled || model::paired(first.us, entry.us, device.arch).told_apart();
    text += fmt::format("  {:<10} {:>9} us {}  {}{}\n", entry.kernel, report::us_text(entry.us),
                        attnscope::to_string(entry.kind), short_text(entry.config, *kernel),
                        apart || &entry == &first ? "" : "; cannot be told apart from the first");
    text += fmt::format("  {:<10} {}, {}, NVRTC {}{}{}\n", "", one_line(source), one_line(entry.date),
                        one_line(entry.versions.nvrtc),
                        entry.versions.driver.empty() ? "" : ", driver " + one_line(entry.versions.driver),
                        of_another_version(entry, kernels) ? "; of another version of this kernel" : "");
  }
  return text;
}

Json best_json(const std::vector<TunedEntry>& found, const DeviceSpec& device, const std::vector<Kernel>& kernels) {
  Json json = report::to_json(report::TunedTable{device.name, device.arch, found});
  for (size_t i = 0; i < found.size(); ++i) {
    json["entries"][i]["source"] = found[i].source;
    json["entries"][i]["same_kernel"] = !of_another_version(found[i], kernels);
  }
  return json;
}

}  // namespace attnscope::cli
