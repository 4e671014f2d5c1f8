# Precompiled headers: parsing the standard library, and GoogleTest in tests, is a third of a cold build. JSON is not
# among them: what its inline functions instantiate would be compiled in every source. They contain none of our own
# headers, so a change in one still rebuilds only what includes it. Every source names everything that
# it includes; building with -DATTNSCOPE_PRECOMPILE=OFF checks that.
option(ATTNSCOPE_PRECOMPILE "Parse the standard library's headers once for each kind of target" ON)

set(attnscope_app_headers
    <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <optional> <set> <span> <sstream>
    <string> <string_view> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)
set(attnscope_cold_headers ${attnscope_app_headers})  # optimised less, which g++ wants of the headers as well
set(attnscope_test_headers ${attnscope_app_headers} <fstream> <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp>)
set(attnscope_window_test_headers ${attnscope_test_headers})  # the window's libraries need their own flags

# Without optimization sources share what they instantiate alike, JSON's as well (shared_templates.h); where code is inlined that
# saves nothing. The thread sanitizer has too few such sources.
if(ATTNSCOPE_PRECOMPILE AND NOT ATTNSCOPE_SANITIZE STREQUAL "thread")
  foreach(kind test window_test)
    list(APPEND attnscope_${kind}_headers "${CMAKE_SOURCE_DIR}/cmake/shared_templates.h")
  endforeach()
  if(ATTNSCOPE_SANITIZE STREQUAL "address,undefined")
    list(APPEND attnscope_cold_headers "${CMAKE_SOURCE_DIR}/cmake/shared_templates.h")
  endif()
endif()

# attnscope_link_shared_templates(<target>): what the declarations in shared_templates.h promise.
function(attnscope_link_shared_templates target)
  if(NOT TARGET attnscope_shared_templates)
    add_library(attnscope_shared_templates STATIC "${CMAKE_SOURCE_DIR}/cmake/shared_templates.cpp")
    target_link_libraries(attnscope_shared_templates PRIVATE nlohmann_json::nlohmann_json)
    attnscope_strict(attnscope_shared_templates)
    attnscope_cold(attnscope_shared_templates)
  endif()
  target_link_libraries(${target} PRIVATE attnscope_shared_templates)
endfunction()

# attnscope_precompile(<target> <app|cold|test|window_test>): the target's sources begin with these headers. One small target
# of each kind makes them, with the flags that attnscope_strict() gives to all.
function(attnscope_precompile target kind)
  if(NOT ATTNSCOPE_PRECOMPILE)
    return()
  endif()
  set(maker attnscope_precompiled_${kind})
  if(NOT TARGET ${maker})
    set(source "${CMAKE_BINARY_DIR}/${maker}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "int main() { return 0; }\n")
    if(kind MATCHES "test")  # tests are programs: -fPIE
      add_executable(${maker} "${source}")
      target_link_libraries(${maker} PRIVATE GTest::gmock GTest::gtest)
      if(kind STREQUAL "window_test")
        target_link_libraries(${maker} PRIVATE attnscope_window_deps)
      endif()
    else()
      add_library(${maker} STATIC "${source}")
      if(kind STREQUAL "cold")
        attnscope_cold(${maker})
      endif()
    endif()
    target_link_libraries(${maker} PRIVATE nlohmann_json::nlohmann_json fmt::fmt tl::expected Threads::Threads)
    attnscope_strict(${maker})
    if(kind MATCHES "test")
      attnscope_test_code(${maker})
    endif()
    target_precompile_headers(${maker} PRIVATE ${attnscope_${kind}_headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${maker})
  if(attnscope_${kind}_headers MATCHES "shared_templates")
    attnscope_link_shared_templates(${target})
  endif()
endfunction()

# attnscope_test_code(<target>): the tests' own code builds in half the time without optimization, and in two thirds of that
# without checks of undefined behaviour in it; the code under test is not affected. Comes after attnscope_strict().
function(attnscope_test_code target)
  target_compile_options(${target} PRIVATE -O0)
  if(ATTNSCOPE_SANITIZE MATCHES "undefined")
    target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
  endif()
endfunction()

# attnscope_test_helper(<target>): a program that tests start. It has the same headers precompiled, and nothing of GoogleTest's.
function(attnscope_test_helper target)
  target_link_libraries(${target} PRIVATE GTest::gtest)
  attnscope_test_program(${target})
endfunction()

# attnscope_test_program(<target>): a GoogleTest program, built like all of them.
function(attnscope_test_program target)
  attnscope_strict(${target})
  attnscope_test_code(${target})
  get_target_property(links ${target} LINK_LIBRARIES)
  if(TARGET attnscope_window_deps AND links MATCHES "attnscope_(ui|cli)")
    attnscope_precompile(${target} window_test)
  else()
    attnscope_precompile(${target} test)
  endif()
endfunction()
