#include "catalog/reported.h"

#include <fmt/format.h>

#include <set>

#include "core/fields.h"
#include "platform/json_file.h"

namespace attnscope {

template <>
struct FieldsOf<catalog::ReportedFigure> {
  using Of = catalog::ReportedFigure;
  static constexpr Limits kName{.bytes = 100, .required = true};
  static constexpr auto list = std::tuple{Field{"id", &Of::id, kName},
                                          Field{"label", &Of::label, Limits{.bytes = 200, .required = true}},
                                          Field{"metric", &Of::metric, kName},
                                          Field{"value", &Of::value, Limits{.required = true}},
                                          Field{"high", &Of::high},
                                          Field{"unit", &Of::unit, Limits{.bytes = 20, .required = true}},
                                          Field{"role", &Of::role},
                                          Field{"valid", &Of::valid},
                                          Field{"why", &Of::why, Limits{.bytes = 1000}},
                                          Field{"source", &Of::source, Limits{.bytes = 1000, .required = true}},
                                          Field{"kernel", &Of::kernel, Limits{.bytes = 100}},
                                          Field{"knobs", &Of::knobs}};
  static void check(JsonReader& read, Of& figure) {
    if (figure.high && *figure.high < figure.value) read.fault("high", "is below value");
    if (figure.valid != figure.why.empty())
      read.fault("why", "must be there exactly when valid is false", "Say why the figure does not hold.");
    if (figure.kernel.empty() && !figure.knobs.empty()) read.fault("knobs", "without a kernel");
  }
};

namespace catalog {
namespace {

Result<ReportedFigure> figure_from_json(const Json& json, const std::string& where, ReportedFigure figure) {
  JsonReader read(json, where, Stage::catalog);
  read_fields_into(read, figure);
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

}  // namespace catalog
}  // namespace attnscope
