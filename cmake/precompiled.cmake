# Headers that nearly every source includes are compiled once. Sources still include what they use: the preset
# `tidy` builds without this, and so does -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON.
#
# tally_precompiled_kind(KIND [OPTIONS …] [LIBRARIES …] [HEADERS …]) makes them, tally_precompiled(TARGET KIND) uses them.
set(standard_headers <algorithm> <array> <chrono> <cstdint> <cstring> <functional> <map> <memory> <optional> <set> <span>
                     <string> <string_view> <utility> <vector>)

# ccache stores objects that were compiled with precompiled headers only with a setting (its manual, "Precompiled
# headers").
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "^[^;]*ccache$")
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

# A target of one empty source whose precompiled headers others use; its options must be theirs.
function(tally_precompiled_kind kind)
  cmake_parse_arguments(kind "" "" "OPTIONS;LIBRARIES;HEADERS" ${ARGN})
  file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/precompiled/${kind}.cpp" CONTENT "")
  add_library(tally_precompiled_${kind} OBJECT EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/precompiled/${kind}.cpp")
  target_compile_options(tally_precompiled_${kind} PRIVATE ${kind_OPTIONS})
  target_link_libraries(tally_precompiled_${kind} PRIVATE tally_warnings tally_checks ${kind_LIBRARIES})
  target_precompile_headers(tally_precompiled_${kind} PRIVATE ${standard_headers} ${kind_HEADERS})
endfunction()

function(tally_precompiled target kind)
  target_precompile_headers(${target} REUSE_FROM tally_precompiled_${kind})
endfunction()
