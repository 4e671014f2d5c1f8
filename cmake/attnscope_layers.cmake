# One folder under app/ is one static library, attnscope_<layer>. Warnings are errors only in our code: they are set
# here and not globally, so no third-party source is built with them.

# attnscope_join(<target>): its sources are compiled several at a time, so that shared headers are parsed and
# instantiated once. join_sources.py says which may go together; the others, and those with flags of their own, are compiled one by one.
function(attnscope_join target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  execute_process(COMMAND "${Python3_EXECUTABLE}" -B "${CMAKE_SOURCE_DIR}/cmake/join_sources.py" 20 ${sources}
                  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "\n$" "" groups "${groups}")
  string(REPLACE "\n" ";" groups "${groups}")
  set(number 0)
  foreach(group ${groups})
    math(EXPR number "${number} + 1")
    string(REPLACE "|" ";" group "${group}")
    set_source_files_properties(${group} PROPERTIES UNITY_GROUP "group_${number}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # g++ looks for it where a file is included
endfunction()

function(attnscope_strict target)
  if(ATTNSCOPE_SANITIZE)  # instrumented code draws false warnings; the other presets compile the same sources with warnings
    target_compile_options(${target} PRIVATE -w)
  else()
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
  endif()
  if(NOT ATTNSCOPE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 gives false warnings about std::string concatenation (GCC bug 105651; with precompiled headers two more).
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds -Wno-maybe-uninitialized)
  endif()
  if(ATTNSCOPE_JOIN)
    attnscope_join(${target})
  endif()
  if(ATTNSCOPE_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${ATTNSCOPE_SANITIZE} -fno-omit-frame-pointer
                                             -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${ATTNSCOPE_SANITIZE})
  endif()
  if(ATTNSCOPE_SANITIZE MATCHES "undefined")
    attnscope_trap(${target})
  endif()
endfunction()

# attnscope_trap(<target>): undefined behaviour is an illegal instruction, which the address sanitizer reports with its line and
# stack. The tables of UBSan's own messages were nearly all of the program's 99 MB of data, which each process had to map.
function(attnscope_trap target)
  if(NOT TARGET attnscope_sanitizer_options)
    add_library(attnscope_sanitizer_options OBJECT "${CMAKE_SOURCE_DIR}/cmake/sanitizer_options.c")
  endif()
  target_compile_options(${target} PRIVATE -fsanitize-undefined-trap-on-error)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:attnscope_sanitizer_options>)
  endif()
endfunction()

# attnscope_cold(<target>): its code is compiled more often than its speed is felt, so the compiler spends little on it: -O1 takes a
# quarter less time than -O3, and under the address sanitizer -O0 a third less than -O1. The thread sanitizer gains nothing by it.
function(attnscope_cold target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(ATTNSCOPE_SANITIZE STREQUAL "address,undefined")
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# Where only some layers are tested, only the sources that their tests reach are compiled, but for tests of the whole program.
set(attnscope_only_needed FALSE)
if(ATTNSCOPE_TEST_LAYERS AND NOT ATTNSCOPE_TEST_LAYERS MATCHES "(^|;)(cli|dev|faults|gpu|ui)(;|$)")
  set(attnscope_only_needed TRUE)
  execute_process(COMMAND "${Python3_EXECUTABLE}" -B "${CMAKE_SOURCE_DIR}/cmake/needed_sources.py" "${CMAKE_SOURCE_DIR}"
                  ${ATTNSCOPE_TEST_LAYERS} OUTPUT_VARIABLE attnscope_needed COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "\n$" "" attnscope_needed "${attnscope_needed}")
  string(REPLACE "\n" ";" attnscope_needed "${attnscope_needed}")
endif()

# attnscope_layer(<layer> [COLD|HOT] DEPS <layers...> LIBS <imported targets...>)
# Every .cpp of app/<layer> (and its sub-folders) belongs to the layer. COLD: see attnscope_cold(). HOT: the layer computes so much
# that its tests want it optimised; under the address sanitizer and in joined builds for tests every other layer is cold.
function(attnscope_layer layer)
  cmake_parse_arguments(arg "COLD;HOT" "" "DEPS;LIBS" ${ARGN})
  if(NOT arg_HOT AND (ATTNSCOPE_SANITIZE STREQUAL "address,undefined" OR
                      (ATTNSCOPE_JOIN AND ATTNSCOPE_TESTS AND NOT ATTNSCOPE_SANITIZE)))
    set(arg_COLD TRUE)
  endif()
  set(target attnscope_${layer})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/app/${layer}/*.cpp")
  if(attnscope_only_needed)
    set(unneeded ${sources})
    list(REMOVE_ITEM unneeded ${attnscope_needed})
    list(REMOVE_ITEM sources ${unneeded})
  endif()
  list(TRANSFORM arg_DEPS PREPEND attnscope_)
  if(sources)
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}/app")
    target_link_libraries(${target} PUBLIC ${arg_DEPS} ${arg_LIBS})
    attnscope_strict(${target})
    if(arg_COLD)
      attnscope_cold(${target})
      attnscope_precompile(${target} cold)
    else()
      attnscope_precompile(${target} app)
    endif()
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE "${CMAKE_SOURCE_DIR}/app")
    target_link_libraries(${target} INTERFACE ${arg_DEPS} ${arg_LIBS})
  endif()
endfunction()

# attnscope_discover_tests(<binary> <prefix> PROPERTIES ...): its tests join the suite as <prefix>.<suite>.<test>. The
# sanitized builds put their name in front, so that one ctest run over all builds tells them apart. A property has one
# value: gtest_discover_tests flattens lists, and what follows one would be read as values of the wrong properties.
function(attnscope_discover_tests binary prefix)
  if(ATTNSCOPE_SANITIZE STREQUAL "thread")
    string(PREPEND prefix "tsan.")
    # Every caller ends with PROPERTIES, so this becomes one more of them.
    set(environment ENVIRONMENT "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/tsan.supp")
  elseif(ATTNSCOPE_SANITIZE)
    string(PREPEND prefix "asan.")
  endif()
  gtest_discover_tests(${binary} TEST_PREFIX "${prefix}." DISCOVERY_TIMEOUT 120 ${ARGN} ${environment})
endfunction()

# attnscope_discover_suites(<binary> <prefix> <without> <label>): the same with one test for each suite, <prefix>.<suite>, but for
# the tests that the GoogleTest filter <without> names.
function(attnscope_discover_suites binary prefix without label)
  set(written "${CMAKE_CURRENT_BINARY_DIR}/${binary}_suites.cmake")
  add_custom_command(TARGET ${binary} POST_BUILD BYPRODUCTS "${written}" VERBATIM
    COMMAND "${CMAKE_COMMAND}" -D "PROGRAM=$<TARGET_FILE:${binary}>" -D "PREFIX=asan.${prefix}" -D "WITHOUT=${without}"
            -D "FOLDER=${CMAKE_CURRENT_BINARY_DIR}" -D "PROPERTIES=LABELS ${label}" -D "WRITTEN=${written}"
            -P "${CMAKE_SOURCE_DIR}/cmake/test_suites.cmake")
  set(included "${CMAKE_CURRENT_BINARY_DIR}/${binary}_include_suites.cmake")
  file(WRITE "${included}" "if(EXISTS \"${written}\")\n  include(\"${written}\")\nelse()\n"
                           "  add_test(${binary}_NOT_BUILT ${binary}_NOT_BUILT)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${included}")
endfunction()

# attnscope_tests_wanted(<name> <result>): whether the tests of this layer or folder should be built.
function(attnscope_tests_wanted name result)
  if(NOT ATTNSCOPE_TEST_LAYERS OR name IN_LIST ATTNSCOPE_TEST_LAYERS)
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# Layers whose unit tests ./dev test runs only under the address sanitizer: their arithmetic does not depend on the compiler, and no
# other test needs their programs.
set(attnscope_tested_once catalog protocol store)

# attnscope_unit_tests(<layer> WITHOUT <filter> LIBS <targets...>): tests/unit/<layer>/*_test.cpp become <layer>_tests, one binary
# per layer. WITHOUT names tests that this build leaves out.
function(attnscope_unit_tests layer)
  cmake_parse_arguments(arg "" "WITHOUT" "LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/unit/${layer}/*.cpp")
  attnscope_tests_wanted(${layer} wanted)
  if(ATTNSCOPE_TESTS_ONCE AND NOT ATTNSCOPE_SANITIZE AND layer IN_LIST attnscope_tested_once)
    set(wanted FALSE)
  endif()
  if(NOT sources OR NOT TARGET attnscope_${layer} OR NOT wanted)
    return()
  endif()
  add_executable(${layer}_tests ${sources})
  target_include_directories(${layer}_tests PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  target_compile_definitions(${layer}_tests PRIVATE ATTNSCOPE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_link_libraries(${layer}_tests PRIVATE attnscope_${layer} ${arg_LIBS} GTest::gmock GTest::gtest_main)
  attnscope_test_program(${layer}_tests)
  # Tests that start processes or threads have one of their own in every build.
  if(ATTNSCOPE_SANITIZE MATCHES "address" AND NOT layer MATCHES "^(device|session|ui|worker)$")
    attnscope_discover_suites(${layer}_tests ${layer} "${arg_WITHOUT}" unit)
  else()
    attnscope_discover_tests(${layer}_tests ${layer} TEST_FILTER "-${arg_WITHOUT}" PROPERTIES LABELS unit)
  endif()
endfunction()
