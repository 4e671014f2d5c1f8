# Run after a test program is built: writes one CTest test for each GoogleTest suite of it.
#
# A process under the address sanitizer takes a tenth of a second to start, so its small tests share one. CTest names the suite, and
# the output, which is shown on failure, names each test that failed; after a crash that is the last one that began.
#   PROGRAM, PREFIX, WITHOUT (a GoogleTest filter of tests to leave out, or empty), FOLDER (where they run), PROPERTIES, WRITTEN (the file)
execute_process(COMMAND "${PROGRAM}" --gtest_list_tests "--gtest_filter=*-${WITHOUT}" WORKING_DIRECTORY "${FOLDER}" TIMEOUT 120
                OUTPUT_VARIABLE listed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} does not list its tests: ${status}\n${listed}")
endif()
string(REGEX REPLACE "[][;]" "_" listed "${listed}")  # only comments, which print a test's parameters, have these
string(REPLACE "\n" ";" listed "${listed}")
set(suite "")
set(suites "")
foreach(line ${listed})
  if(line MATCHES "^([A-Za-z0-9_/]+)\\.( *#.*)?$")
    set(suite "${CMAKE_MATCH_1}")
  elseif(line MATCHES "^  ([A-Za-z0-9_/]+)( *#.*)?$")
    if(NOT "${suite}/${CMAKE_MATCH_1}" MATCHES "(^|/)DISABLED_")
      list(APPEND suites "${suite}")
    endif()
  elseif(NOT line MATCHES "gtest_main\\.cc")
    message(FATAL_ERROR "${PROGRAM} lists something else than a suite or a test: '${line}'")
  endif()
endforeach()
list(REMOVE_DUPLICATES suites)
if(NOT suites)
  message(FATAL_ERROR "${PROGRAM} has no test")
endif()
set(script "")
foreach(suite ${suites})
  set(name "[==[${PREFIX}.${suite}]==]")
  string(APPEND script "add_test(${name} [==[${PROGRAM}]==] [==[--gtest_filter=${suite}.*-${WITHOUT}]==])\n"
                       "set_tests_properties(${name} PROPERTIES WORKING_DIRECTORY [==[${FOLDER}]==] ${PROPERTIES})\n")
endforeach()
file(WRITE "${WRITTEN}" "${script}")
