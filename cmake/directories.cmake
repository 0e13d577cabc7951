option(TALLY_UNITY "Compile the sources of a directory twelve at a time, for a shorter first build" ON)
# With it, a source sees names that it does not use. The presets dev and tidy warn of those that shadow others.
add_library(tally_unity_warnings INTERFACE)
target_compile_options(tally_unity_warnings INTERFACE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)

# How much the compiler optimizes a directory in the release build. The directories of tally_cold (tally/CMakeLists.txt) finish
# in a moment, so the compiler's time counts: -O1. Those of tally_hot execute once per modelled access: -O3, the build type's
# own. The others: -O2.
#
# tally_compile_as_directory(TARGET cold|standard|hot): sets the options that the sources of a directory, and the headers
# precompiled for them, have in common.
function(tally_compile_as_directory target level)
  # Position-independent for the shared library, which exports only what tally/core/base/api.hpp marks.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${target} PRIVATE tally_warnings tally_checks tally_hardening)
  if(level STREQUAL "cold")
    target_compile_options(${target} PRIVATE -O1)
  elseif(level STREQUAL "standard")
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2>)
  endif()
endfunction()

# tally_hot_sources(SOURCE …): sources of another directory that are compiled as those of tally_hot, by themselves.
function(tally_hot_sources)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O3> SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# The headers of all directories that print with fmt, once for each of the two levels that they have.
foreach(level cold standard)
  tally_precompiled_kind(${level} LIBRARIES tally_fmt HEADERS <fmt/format.h>)
  tally_compile_as_directory(tally_precompiled_${level} ${level})
endforeach()

# tally_directory(NAME [SEPARATE] [SOURCES …] [DEPENDS directory…] [LIBRARIES target…] [TESTS … [OPTIMISED]])
#
# A directory of sources is an include prefix and this target: tally_NAME. DEPENDS names the directories below it whose headers
# it includes; LIBRARIES are libraries of others, used inside only. TESTS become one program, NAME_test.
# SEPARATE: each source is compiled by itself, because several define the same names in namespaces of their own: tables, mostly.
# OPTIMISED: as in tally_test.
function(tally_directory name)
  cmake_parse_arguments(directory "SEPARATE;OPTIMISED" "" "SOURCES;DEPENDS;LIBRARIES;TESTS" ${ARGN})
  list(TRANSFORM directory_DEPENDS PREPEND tally_)
  list(TRANSFORM directory_LIBRARIES REPLACE "^fmt::fmt$" tally_fmt)
  if(directory_SOURCES)
    set(level standard)
    if(name IN_LIST tally_cold)
      set(level cold)
    elseif(name IN_LIST tally_hot)
      set(level hot)
    endif()
    add_library(tally_${name} STATIC ${directory_SOURCES})
    tally_compile_as_directory(tally_${name} ${level})
    target_include_directories(tally_${name} PUBLIC "${PROJECT_SOURCE_DIR}")
    target_link_libraries(tally_${name} PUBLIC ${directory_DEPENDS} PRIVATE ${directory_LIBRARIES})
    if(TALLY_UNITY AND NOT directory_SEPARATE)
      set_target_properties(tally_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
      target_link_libraries(tally_${name} PRIVATE tally_unity_warnings)
    endif()
    if("tally_fmt" IN_LIST directory_LIBRARIES AND NOT level STREQUAL "hot")
      tally_precompiled(tally_${name} ${level})
    endif()
  else()
    add_library(tally_${name} INTERFACE)
    target_include_directories(tally_${name} INTERFACE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(tally_${name} INTERFACE ${directory_DEPENDS} ${directory_LIBRARIES})
  endif()
  if(TALLY_TESTS AND directory_TESTS)
    set(optimised)
    if(directory_OPTIMISED)
      set(optimised OPTIMISED)
    endif()
    tally_test(${name}_test SOURCES ${directory_TESTS} LIBRARIES tally_${name} ${directory_LIBRARIES} ${optimised})
  endif()
endfunction()
