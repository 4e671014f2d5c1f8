#pragma once
#include <filesystem>
#include <memory>

#include "ui/panels/panel.h"

namespace attnscope::ui {

// Every panel, in the order of the menu. `shaders` is the folder of their GLSL.
using MakePanel = std::unique_ptr<Panel>(const std::filesystem::path& shaders);
MakePanel make_experiment_panel;
MakePanel make_latency_panel;
MakePanel make_memory_panel;
MakePanel make_error_panel;
MakePanel make_attention_panel;
MakePanel make_history_panel;
MakePanel make_why_panel;
MakePanel make_counters_panel;
MakePanel make_timeline_panel;
MakePanel make_source_panel;
MakePanel make_sweep_panel;
MakePanel make_lesson_panel;
MakePanel make_log_panel;

inline constexpr const char* kWhyTitle = "Why";
inline constexpr const char* kLessonTitle = "Lessons";
inline constexpr const char* kTimelineTitle = "Timeline";
inline constexpr MakePanel* kPanels[] = {
    make_experiment_panel, make_latency_panel, make_memory_panel,   make_error_panel,  make_attention_panel,
    make_history_panel,    make_why_panel,     make_counters_panel, make_source_panel, make_timeline_panel,
    make_sweep_panel,      make_lesson_panel,  make_log_panel};

}  // namespace attnscope::ui
