# tally_test(NAME SOURCES … [LIBRARIES …] [LABELS …] [ALONE] [OPTIMISED]): a GoogleTest program whose cases ctest lists one
# by one. ALONE: it runs while nothing else does. Tests are not optimised, which halves the time that the compiler takes;
# OPTIMISED: this one is, for it measures its own code, or would run for long.
tally_find(GTest libgtest-dev)
include(GoogleTest)
tally_precompiled_kind(test OPTIONS -O0 HEADERS <gtest/gtest.h> LIBRARIES GTest::gtest)
function(tally_test name)
  cmake_parse_arguments(test "ALONE;OPTIMISED" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${test_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${test_LIBRARIES} tally_warnings tally_checks GTest::gtest_main)
  if(NOT test_OPTIMISED)
    target_compile_options(${name} PRIVATE -O0)
    tally_precompiled(${name} test)
  endif()
  set(properties TIMEOUT 300)
  if(test_LABELS)
    list(APPEND properties LABELS "${test_LABELS}")
  endif()
  if(test_ALONE)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  # A test that hangs fails by itself instead of holding up the others for ctest's own 25 minutes. The cases of our
  # parameterised tests have names; pretty values would print each parameter behind its name.
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  gtest_discover_tests(
    ${name} TEST_PREFIX "${name}/" NO_PRETTY_VALUES
    DISCOVERY_TIMEOUT 60
    PROPERTIES ${properties})
endfunction()
