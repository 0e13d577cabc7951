option(TALLY_UNITY "Compile the sources of a directory eight at a time, for a shorter first build" ON)
# With it, a source sees names that it does not use. The presets dev and tidy warn of those that shadow others.
add_library(tally_unity_warnings INTERFACE)
target_compile_options(tally_unity_warnings INTERFACE -Wno-shadow -Wno-subobject-linkage)

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
    add_library(tally_${name} STATIC ${directory_SOURCES})
    target_include_directories(tally_${name} PUBLIC "${PROJECT_SOURCE_DIR}")
    # For the shared library, which shows what tally/core/base/api.hpp marks.
    set_target_properties(tally_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                                   VISIBILITY_INLINES_HIDDEN ON)
    target_link_libraries(tally_${name} PUBLIC ${directory_DEPENDS} PRIVATE tally_warnings tally_checks tally_hardening ${directory_LIBRARIES})
    if(TALLY_UNITY AND NOT directory_SEPARATE)
      set_target_properties(tally_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
      target_link_libraries(tally_${name} PRIVATE tally_unity_warnings)
    endif()
    # Precompiled headers take as long as they save in eight sources.
    list(LENGTH directory_SOURCES sources)
    if(sources GREATER 8)
      target_precompile_headers(tally_${name} PRIVATE ${standard_headers})
      if("tally_fmt" IN_LIST directory_LIBRARIES)
        target_precompile_headers(tally_${name} PRIVATE <fmt/format.h>)
      endif()
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

# tally_cold(DIRECTORY …): what these do is done in a moment, so they are compiled for the compiler's time.
function(tally_cold)
  foreach(directory IN LISTS ARGN)
    target_compile_options(tally_${directory} PRIVATE -O1)
  endforeach()
endfunction()
