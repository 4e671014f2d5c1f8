#include "catalog/reported.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "core/json.h"
#include "platform/json_file.h"

namespace attnscope::catalog {
namespace {

Result<ReportedFigure> figure_from_json(const Json& json, const std::string& where, const ReportedFigure& base) {
  ReportedFigure figure = base;
  JsonReader read(json, where, Stage::catalog);
  for (const char* key : {"id", "label", "metric", "value", "unit", "source"}) read.required(key);
  read.text("id", figure.id, 100);
  read.text("label", figure.label, 200);
  read.text("metric", figure.metric, 100);
  read.number("value", figure.value);
  if (read.has("high")) read.number("high", figure.high.emplace());
  read.text("unit", figure.unit, 20);
  read.word("role", figure.role);
  read.boolean("valid", figure.valid);
  read.text("why", figure.why, 1000);
  read.text("source", figure.source, 1000);
  read.text("kernel", figure.kernel, 100);
  read.entries("knobs", [&](JsonReader& inner, const char* name) { inner.integer(name, figure.knobs[name]); });
  if (!read.failed() && !std::isfinite(figure.value)) read.fault("value", "must be finite");
  if (!read.failed() && figure.high && !(*figure.high >= figure.value)) read.fault("high", "is below value");
  if (!read.failed() && figure.valid != figure.why.empty())
    read.fault("why", "must be there exactly when valid is false", "Say why the figure does not hold.");
  if (!read.failed() && figure.kernel.empty() && !figure.knobs.empty()) read.fault("knobs", "without a kernel");
  if (auto done = read.finish(); !done) return fail(done.error());
  return figure;
}

// The fields of the file, which apply to every figure in it.
Result<ReportedFigure> base_from_json(JsonReader& read) {
  ReportedFigure base;
  for (const char* key : {"title", "device", "problem", "figures"}) read.required(key);
  read.text("title", base.title, 500);
  read.part("problem", base.problem, problem_from_json);
  read.object("device", [&](JsonReader& device) {
    std::string unused;
    int arch = 0;
    device.required("name");
    device.text("name", base.device, 200);
    device.integer("arch", arch, 50, 200);
    device.text("driver", unused, 200);
    device.text("options", unused, 200);
  });
  const Json* figures = read.value("figures");
  if (figures && !figures->is_array()) read.fault("figures", "must be a list");
  if (auto done = read.finish(); !done) return fail(done.error());
  return base;
}

}  // namespace

Result<std::vector<ReportedFigure>> load_reported(const std::filesystem::path& path) {
  const std::string where = path.string();
  Result<Json> json = platform::read_json(path, kMaxReportedBytes, Stage::catalog);
  if (!json) return fail(json.error());
  JsonReader read(*json, where, Stage::catalog);
  Result<ReportedFigure> base = base_from_json(read);
  if (!base) return fail(base.error());

  std::vector<ReportedFigure> figures;
  std::set<std::string> ids;
  for (size_t i = 0; i < json->at("figures").size(); ++i) {
    const std::string at = fmt::format("{}/figures/{}", where, i);
    Result<ReportedFigure> figure = figure_from_json(json->at("figures")[i], at, *base);
    if (!figure) return fail(figure.error());
    if (!ids.insert(figure->id).second) return fail(Stage::catalog, at + "/id: \"" + figure->id + "\" appears twice");
    figures.push_back(std::move(*figure));
  }
  return figures;
}

}  // namespace attnscope::catalog
