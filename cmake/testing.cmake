# GoogleTest programs as tests of ctest.
#
# tally_test(NAME SOURCES … [LIBRARIES …] [LABELS …] [LONG …] [CASES] [ALONE] [OPTIMISED])
# NAME is one test of ctest, because most programs need less time than 50 starts of them. With CASES ctest lists each case
# as NAME/CASE, so that long cases run side by side and fail one by one; cases that start programs belong there.
# LONG: patterns of cases that have the label `long` instead: they run with `./dev test --all`. ALONE: runs while nothing
# else does. Tests are not optimised, which halves the compile time; OPTIMISED: this one is, because its own code runs
# for long.
#
# Time limits only stop tests that hang (tally_hang_s). `./dev test` limits the processor time of each process, which does
# not depend on what else the machine does.
tally_find(GTest libgtest-dev)
include(GoogleTest)
set(tally_hang_s 1800)
# Nearly half of the tests read JSON: parsing its header takes as long as compiling such a test.
tally_precompiled_kind(test OPTIONS -O0 HEADERS <gtest/gtest.h> <nlohmann/json.hpp> LIBRARIES GTest::gtest nlohmann_json::nlohmann_json)

# tally_test_library(NAME SOURCES … [LIBRARIES …]): what several test programs share, compiled once.
function(tally_test_library name)
  cmake_parse_arguments(library "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${library_SOURCES})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE tally_warnings tally_checks GTest::gtest PUBLIC ${library_LIBRARIES})
  target_compile_options(${name} PRIVATE -O0)
  tally_precompiled(${name} test)
endfunction()

function(tally_test name)
  cmake_parse_arguments(test "CASES;ALONE;OPTIMISED" "" "SOURCES;LIBRARIES;LABELS;LONG" ${ARGN})
  add_executable(${name} ${test_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${test_LIBRARIES} tally_warnings tally_checks GTest::gtest_main)
  if(NOT test_OPTIMISED)
    target_compile_options(${name} PRIVATE -O0)
    tally_precompiled(${name} test)
  endif()
  if(TALLY_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    target_link_libraries(${name} PRIVATE tally_unity_warnings)
  endif()
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(properties TIMEOUT ${tally_hang_s})
  if(test_ALONE)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  list(JOIN test_LONG ":" long)
  if(test_CASES)
    # The cases of our parameterised tests have names; pretty values would print each parameter after its name.
    set(how TEST_PREFIX "${name}/" NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
    set(labels)
    if(test_LABELS)
      set(labels LABELS "${test_LABELS}")
    endif()
    gtest_discover_tests(${name} TEST_FILTER "*-${long}" ${how} ${labels})
    if(long)
      gtest_discover_tests(${name} TEST_FILTER "${long}" ${how} LABELS long)
    endif()
  else()
    add_test(NAME ${name} COMMAND ${name} "--gtest_filter=*-${long}")
    set_tests_properties(${name} PROPERTIES ${properties} LABELS "${test_LABELS}")
    if(long)
      add_test(NAME ${name}/long COMMAND ${name} "--gtest_filter=${long}")
      set_tests_properties(${name}/long PROPERTIES ${properties} LABELS long)
    endif()
  endif()
endfunction()
