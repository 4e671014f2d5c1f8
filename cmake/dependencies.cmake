# System libraries, all from the distribution's packages (dev has the list). Static where the distribution has a static
# one, so that the program also starts on a Linux without them.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
# An enumeration is written as its word; writing it as a number would be an unnoticed mistake.
set_property(TARGET nlohmann_json::nlohmann_json APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS JSON_DISABLE_ENUM_SERIALIZATION=1)
find_package(tl-expected REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)

# attnscope_static_library(<name> <header> <library names...>): an imported target dep::<name>
function(attnscope_library name header)
  find_path(${name}_INCLUDE_DIR ${header} REQUIRED)
  find_library(${name}_LIBRARY NAMES ${ARGN} REQUIRED)
  add_library(dep::${name} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(dep::${name} PROPERTIES IMPORTED_LOCATION "${${name}_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${${name}_INCLUDE_DIR}")
endfunction()
attnscope_library(muparser muParser.h muparser)
attnscope_library(xxhash xxhash.h libxxhash.a xxhash)
attnscope_library(uv uv.h libuv_a.a libuv.a uv)
attnscope_library(sqlite3 sqlite3.h libsqlite3.a sqlite3)
attnscope_library(sqlitecpp SQLiteCpp/SQLiteCpp.h libSQLiteCpp.a SQLiteCpp)
attnscope_library(yaml yaml.h libyaml.a yaml)
attnscope_library(hwy hwy/highway.h libhwy.a hwy)
target_link_libraries(dep::uv INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(dep::sqlite3 INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(dep::sqlitecpp INTERFACE dep::sqlite3)

# What ./dev fetched: the window's source archive, the CUDA packages.
if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(default_cache "$ENV{XDG_CACHE_HOME}/attnscope")
else()
  set(default_cache "$ENV{HOME}/.cache/attnscope")
endif()
set(ATTNSCOPE_CACHE "${default_cache}" CACHE PATH "Where ./dev keeps what it fetched")
