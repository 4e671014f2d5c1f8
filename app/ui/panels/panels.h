#pragma once
#include <filesystem>
#include <memory>

#include "ui/panels/panel.h"

namespace attnscope::ui {

// Every panel, in the order of the menu. `shaders` is the folder of their GLSL.
using MakePanel = std::unique_ptr<Panel> (*)(const std::filesystem::path& shaders);
std::unique_ptr<Panel> make_experiment_panel(const std::filesystem::path& shaders);
std::unique_ptr<Panel> make_latency_panel(const std::filesystem::path& shaders);
std::unique_ptr<Panel> make_memory_panel(const std::filesystem::path& shaders);
std::unique_ptr<Panel> make_error_panel(const std::filesystem::path& shaders);
std::unique_ptr<Panel> make_attention_panel(const std::filesystem::path& shaders);
std::unique_ptr<Panel> make_history_panel(const std::filesystem::path& shaders);
std::unique_ptr<Panel> make_counters_panel(const std::filesystem::path& shaders);
std::unique_ptr<Panel> make_source_panel(const std::filesystem::path& shaders);
std::unique_ptr<Panel> make_log_panel(const std::filesystem::path& shaders);

inline constexpr MakePanel kPanels[] = {make_experiment_panel, make_latency_panel,   make_memory_panel,
                                        make_error_panel,      make_attention_panel, make_history_panel,
                                        make_counters_panel,   make_source_panel,    make_log_panel};

}  // namespace attnscope::ui
