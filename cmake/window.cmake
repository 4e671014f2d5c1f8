# The window's libraries, built from one pinned source archive (Dear ImGui with docking, ImPlot, ImGuiColorTextEdit, GLFW,
# glad, stb and, only for the window tests, Dear ImGui Test Engine). ./dev puts it into the per-user cache; the version is
# written there and in dev. Only these files of the archive are compiled.
#
# Provides one target: attnscope_window_deps.
set(ATTNSCOPE_IMGUI_BUNDLE_VERSION 1.93.0)

set(imgui_bundle_dir "${ATTNSCOPE_CACHE}/src/imgui-bundle-${ATTNSCOPE_IMGUI_BUNDLE_VERSION}")
if(NOT EXISTS "${imgui_bundle_dir}/CMakeLists.txt")
  message(FATAL_ERROR "The window's libraries are not in ${imgui_bundle_dir}. Run ./dev build once: it fetches them. "
                      "(-DATTNSCOPE_UI=OFF builds without the window.)")
endif()

set(imgui_bundle_external "${imgui_bundle_dir}/external")

# GLFW has its own build. It ends with its own folder's options, so ours are set around it.
function(attnscope_add_glfw)
  foreach(off GLFW_BUILD_DOCS GLFW_INSTALL GLFW_BUILD_EXAMPLES GLFW_BUILD_TESTS)
    set(${off} OFF CACHE BOOL "" FORCE)
  endforeach()
  add_compile_options(${ARGN})
  set(CMAKE_MESSAGE_LOG_LEVEL ERROR)
  set(CMAKE_EXPORT_COMPILE_COMMANDS OFF)
  add_subdirectory("${imgui_bundle_external}/glfw/glfw" "${CMAKE_BINARY_DIR}/window/glfw" EXCLUDE_FROM_ALL SYSTEM)
endfunction()

# Not our code, so without warnings. Sanitized like ours, because both share std::vector and std::string.
set(window_options -w $<$<CONFIG:Release>:-O2>)  # -O3 takes half as long again to compile
if(ATTNSCOPE_TEST_ENGINE)
  list(APPEND window_options $<$<CONFIG:Release>:-O1>)  # the program that ships has no test engine
endif()
if(ATTNSCOPE_SANITIZE)
  list(APPEND window_options -fsanitize=${ATTNSCOPE_SANITIZE} -fno-omit-frame-pointer)
endif()
get_directory_property(options_before COMPILE_OPTIONS)
attnscope_add_glfw(${window_options})
set_directory_properties(PROPERTIES COMPILE_OPTIONS "${options_before}")

# attnscope_window_library(NAME FOLDER SOURCES...): sources of a folder of the archive, which users include from.
function(attnscope_window_library name folder)
  list(TRANSFORM ARGN PREPEND "${imgui_bundle_external}/${folder}/")
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${ARGN})
  target_include_directories(${name} SYSTEM PUBLIC "${imgui_bundle_external}/${folder}")
  target_compile_options(${name} PRIVATE ${window_options})
  set_target_properties(${name} PROPERTIES EXPORT_COMPILE_COMMANDS OFF CXX_CLANG_TIDY "")
endfunction()

attnscope_window_library(glad hello_imgui/hello_imgui/external/OpenGL_Loaders/glad/include ../src/glad.c)
attnscope_window_library(stb_image hello_imgui/hello_imgui/external/stb_hello_imgui stb_impl_hello_imgui.cpp)
target_compile_definitions(stb_image PRIVATE STB_IMAGE_IMPLEMENTATION STB_IMAGE_WRITE_IMPLEMENTATION)

attnscope_window_library(imgui imgui/imgui imgui.cpp imgui_draw.cpp imgui_tables.cpp imgui_widgets.cpp imgui_demo.cpp
                         imgui_stacklayout.cpp misc/cpp/imgui_stdlib.cpp backends/imgui_impl_glfw.cpp
                         backends/imgui_impl_opengl3.cpp)
set(imgui_config "${imgui_bundle_dir}/imgui_bundle_cmake/imgui_bundle_config.h")
target_compile_definitions(imgui PUBLIC IMGUI_USER_CONFIG="${imgui_config}" IMGUI_DISABLE_OBSOLETE_FUNCTIONS)
# The file also defines what other parts call; its demo is left out.
set_source_files_properties("${imgui_bundle_external}/imgui/imgui/imgui_demo.cpp" PROPERTIES
                            COMPILE_DEFINITIONS IMGUI_DISABLE_DEMO_WINDOWS)
target_include_directories(imgui SYSTEM PUBLIC "${imgui_bundle_external}/imgui/imgui/backends"
                           "${imgui_bundle_external}/imgui/imgui/misc/cpp")
target_link_libraries(imgui PUBLIC glfw ${CMAKE_DL_LIBS})

attnscope_window_library(implot implot implot/implot.cpp implot/implot_items.cpp)
# ImPlot instantiates every plot for 13 number types, which takes 100 s on one core; we need one.
target_compile_definitions(implot PRIVATE "IMPLOT_CUSTOM_NUMERIC_TYPES=(double)")
target_link_libraries(implot PUBLIC imgui)

attnscope_window_library(imgui_color_text_edit ImGuiColorTextEdit ImGuiColorTextEdit/TextEditor.cpp)
target_link_libraries(imgui_color_text_edit PUBLIC imgui)

if(ATTNSCOPE_TEST_ENGINE)
  set(engine capture_tool te_context te_coroutine te_engine te_exporters te_perftool te_python_gil te_ui te_utils)
  list(TRANSFORM engine REPLACE "(.+)" "imgui_test_engine/imgui_\\1.cpp")
  attnscope_window_library(imgui_test_engine imgui_test_engine/imgui_test_engine ${engine})
  target_compile_definitions(imgui_test_engine PRIVATE IMGUI_DISABLE_STB_IMAGE_WRITE_IMPLEMENTATION
                             IMGUI_STB_IMAGE_WRITE_FILENAME="stb_image_write.h")
  find_package(Threads REQUIRED)
  target_link_libraries(imgui_test_engine PUBLIC imgui PRIVATE stb_image Threads::Threads)
  target_compile_definitions(imgui PUBLIC IMGUI_ENABLE_TEST_ENGINE IMGUI_TEST_ENGINE_ENABLE_CAPTURE=1
                             IMGUI_TEST_ENGINE_ENABLE_COROUTINE_STDTHREAD_IMPL=1 IMGUI_TEST_ENGINE_ENABLE_STD_FUNCTION=1)
  target_link_libraries(imgui PUBLIC imgui_test_engine)  # Dear ImGui calls the engine
endif()

add_library(attnscope_window_deps INTERFACE)
target_link_libraries(attnscope_window_deps INTERFACE implot imgui_color_text_edit imgui stb_image glad glfw)
# The program must not need an X11 library at start that it never calls: GLFW opens what it needs at run time.
target_link_options(attnscope_window_deps INTERFACE -Wl,--as-needed)
