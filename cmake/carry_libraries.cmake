# The distribution has muParser and Highway only as shared libraries, which another Linux may lack. They travel in a
# folder lib/ beside the program, or in ../lib/attnscope when it is unpacked from a bundle; the program looks there
# first.
#
# As an include it provides attnscope_carry_libraries(<program>); run as a script after the link, it copies.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(ATTNSCOPE_CARRY_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

  function(attnscope_carry_libraries program)
    set_target_properties(${program} PROPERTIES BUILD_RPATH "$ORIGIN/lib:$ORIGIN/../lib/attnscope")
    # DT_RPATH, not DT_RUNPATH: it also applies to what a carried library itself needs (muParser's OpenMP).
    target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
    add_custom_command(TARGET ${program} POST_BUILD VERBATIM
      COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:${program}>" -P "${ATTNSCOPE_CARRY_SCRIPT}")
  endfunction()
  return()
endif()

get_filename_component(folder "${PROGRAM}" DIRECTORY)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES "${PROGRAM}" RESOLVED_DEPENDENCIES_VAR resolved
     UNRESOLVED_DEPENDENCIES_VAR unresolved
     PRE_INCLUDE_REGEXES "^lib(muparser|hwy|gomp|spdlog|fmt|uv|sqlite3|SQLiteCpp|xxhash)" PRE_EXCLUDE_REGEXES ".*")
if(unresolved)
  message(FATAL_ERROR "${PROGRAM} needs ${unresolved}, which this machine does not have.")
endif()
foreach(library ${resolved})
  get_filename_component(name "${library}" NAME)
  if(NOT library STREQUAL "${folder}/lib/${name}")
    # A real file with the name that the program asks for.
    file(REAL_PATH "${library}" real)
    file(MAKE_DIRECTORY "${folder}/lib")
    file(COPY_FILE "${real}" "${folder}/lib/${name}" ONLY_IF_DIFFERENT)
  endif()
endforeach()
