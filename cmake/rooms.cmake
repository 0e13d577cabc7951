# tally_room(NAME [SOURCES …] [DEPENDS room…] [LIBRARIES target…] [TESTS …])
#
# A room is a namespace, an include prefix and this target: tally_NAME. DEPENDS names the rooms below it whose headers
# it includes; LIBRARIES are libraries of others, used inside only. TESTS become one program, NAME_test.
function(tally_room name)
  cmake_parse_arguments(room "" "" "SOURCES;DEPENDS;LIBRARIES;TESTS" ${ARGN})
  list(TRANSFORM room_DEPENDS PREPEND tally_)
  list(TRANSFORM room_LIBRARIES REPLACE "^fmt::fmt$" tally_fmt)
  if(room_SOURCES)
    add_library(tally_${name} STATIC ${room_SOURCES})
    target_include_directories(tally_${name} PUBLIC "${PROJECT_SOURCE_DIR}")
    # For the shared library, which shows what tally/base/api.hpp marks.
    set_target_properties(tally_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                                   VISIBILITY_INLINES_HIDDEN ON)
    target_link_libraries(tally_${name} PUBLIC ${room_DEPENDS} PRIVATE tally_warnings tally_checks tally_hardening ${room_LIBRARIES})
    # Precompiled headers take as long as they save in eight sources.
    list(LENGTH room_SOURCES sources)
    if(sources GREATER 8)
      target_precompile_headers(tally_${name} PRIVATE ${standard_headers})
      if("tally_fmt" IN_LIST room_LIBRARIES)
        target_precompile_headers(tally_${name} PRIVATE <fmt/format.h>)
      endif()
    endif()
  else()
    add_library(tally_${name} INTERFACE)
    target_include_directories(tally_${name} INTERFACE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(tally_${name} INTERFACE ${room_DEPENDS} ${room_LIBRARIES})
  endif()
  if(TALLY_TESTS AND room_TESTS)
    tally_test(${name}_test SOURCES ${room_TESTS} LIBRARIES tally_${name} ${room_LIBRARIES})
  endif()
endfunction()

# tally_cold(ROOM …): what these do is done in a moment, so they are compiled for the compiler's time.
function(tally_cold)
  foreach(room IN LISTS ARGN)
    target_compile_options(tally_${room} PRIVATE -O1)
  endforeach()
endfunction()
