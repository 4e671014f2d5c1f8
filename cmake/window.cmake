# The window's libraries, built from one pinned source archive (Dear ImGui with docking, Hello ImGui, ImPlot, GLFW, the
# OpenGL loader and, only for the window tests, Dear ImGui Test Engine). ./dev puts it into the per-user cache; the
# version is written there and in dev.
#
# Provides one target: attnscope_window_deps.
set(ATTNSCOPE_IMGUI_BUNDLE_VERSION 1.93.0)

set(imgui_bundle_dir "${ATTNSCOPE_CACHE}/src/imgui-bundle-${ATTNSCOPE_IMGUI_BUNDLE_VERSION}")
if(NOT EXISTS "${imgui_bundle_dir}/CMakeLists.txt")
  message(FATAL_ERROR "The window's libraries are not in ${imgui_bundle_dir}. Run ./dev build once: it fetches them. "
                      "(-DATTNSCOPE_UI=OFF builds without the window.)")
endif()

function(attnscope_add_imgui_bundle source_dir)
  foreach(part MICROTEX NANOVG IMGUI_TEX_INSPECT IMGUIZMO IMFILEDIALOG IMGUI_NODE_EDITOR IMPLOT3D IMANIM
               IMANIM_FULL_DEMOS IMGUI_EXPLORER_LIB IMMVISION IMMAPP IMGUI_RICH_MD)
    set(IMGUI_BUNDLE_WITH_${part} OFF CACHE BOOL "" FORCE)
  endforeach()
  foreach(off IMGUI_BUNDLE_BUILD_DEMOS IMGUI_BUNDLE_INSTALL_CPP IMGUI_BUNDLE_AUTO_CLONE_SUBMODULES
              HELLOIMGUI_USE_FREETYPE HELLOIMGUI_DOWNLOAD_GLFW_IF_NEEDED HELLOIMGUI_FETCH_IMGUI_TEST_ENGINE
              GLFW_BUILD_DOCS GLFW_INSTALL)
    set(${off} OFF CACHE BOOL "" FORCE)
  endforeach()
  foreach(on HELLOIMGUI_USE_GLFW3 HELLOIMGUI_HAS_OPENGL3 IMGUI_DISABLE_OBSOLETE_FUNCTIONS)
    set(${on} ON CACHE BOOL "" FORCE)
  endforeach()
  set(HELLOIMGUI_WITH_TEST_ENGINE ${ATTNSCOPE_TEST_ENGINE} CACHE BOOL "" FORCE)

  # Not our code, so without warnings. Sanitized like ours, because both share std::vector and std::string.
  get_directory_property(options_before COMPILE_OPTIONS)
  add_compile_options(-w $<$<CONFIG:Release>:-O2>)  # -O3 takes half as long again to compile
  if(ATTNSCOPE_SANITIZE)
    add_compile_options(-fsanitize=${ATTNSCOPE_SANITIZE} -fno-omit-frame-pointer)
  endif()
  set(CMAKE_MESSAGE_LOG_LEVEL ERROR)
  set(CMAKE_EXPORT_COMPILE_COMMANDS OFF)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
  # GLFW first: Hello ImGui then uses the target instead of looking for an installed one.
  add_subdirectory("${source_dir}/external/glfw/glfw" "${CMAKE_BINARY_DIR}/window/glfw" EXCLUDE_FROM_ALL SYSTEM)
  add_subdirectory("${source_dir}" "${CMAKE_BINARY_DIR}/window/imgui_bundle" EXCLUDE_FROM_ALL SYSTEM)
  set_directory_properties(PROPERTIES COMPILE_OPTIONS "${options_before}")

  # ImPlot instantiates every plot for 13 number types, which takes 100 s on one core; we need one.
  set_target_properties(implot PROPERTIES COMPILE_DEFINITIONS "IMPLOT_CUSTOM_NUMERIC_TYPES=(double)")
endfunction()

attnscope_add_imgui_bundle("${imgui_bundle_dir}")

add_library(attnscope_window_deps INTERFACE)
target_link_libraries(attnscope_window_deps INTERFACE
  implot imgui_command_palette imgui_color_text_edit portable_file_dialogs hello_imgui stb_hello_imgui glad glfw imgui)
# The program must not need an X11 library at start that it never calls: GLFW opens what it needs at run time.
target_link_options(attnscope_window_deps INTERFACE -Wl,--as-needed)
