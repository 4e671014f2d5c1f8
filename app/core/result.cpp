#include "core/result.h"

#include "core/words.h"

namespace attnscope {
namespace {
constexpr WordTable<Stage, 14> kStages{{{Stage::input, "input"},
                                        {Stage::catalog, "catalog"},
                                        {Stage::compile, "compile"},
                                        {Stage::limits, "limits"},
                                        {Stage::device, "device"},
                                        {Stage::decode, "decode"},
                                        {Stage::launch, "launch"},
                                        {Stage::deadline, "deadline"},
                                        {Stage::crash, "crash"},
                                        {Stage::cancelled, "cancelled"},
                                        {Stage::check, "check"},
                                        {Stage::store, "store"},
                                        {Stage::protocol, "protocol"},
                                        {Stage::internal, "internal"}}};
}  // namespace

std::string_view to_string(Stage stage) { return word_of(kStages, stage); }
Result<Stage> parse_stage(std::string_view text) { return value_of(kStages, text); }

}  // namespace attnscope
