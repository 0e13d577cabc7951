# GoogleTest programs as tests of ctest.
#
# tally_test(NAME SOURCES … [LIBRARIES …] [LONG …] [CASES] [ALONE] [OPTIMISED])
# NAME is one test of ctest, because most programs need less time than 50 starts of them. With CASES ctest lists each case
# as NAME/CASE, so that long cases run side by side and fail one by one; cases that start programs belong there.
# LONG: patterns of cases that only `./dev test --all` runs; * is all. ALONE: runs while nothing else does. Tests are not
# optimised, which halves the compile time; OPTIMISED: this one is, because its own code runs for long.
#
# Time limits only stop tests that hang (tally_hang_s). `./dev test` limits the processor time of each process, which does
# not depend on what else the machine does.
tally_find(GTest libgtest-dev)
include(GoogleTest)
set(tally_hang_s 1800)
# GoogleTest's macros are an if without braces, and EXPECT_NEAR converts counts to double.
add_library(tally_test_warnings INTERFACE)
target_compile_options(tally_test_warnings INTERFACE $<TARGET_PROPERTY:tally_warnings,INTERFACE_COMPILE_OPTIONS>
                                                     -Wno-dangling-else -Wno-conversion)
# Nearly half of the tests read JSON: parsing its header takes as long as compiling such a test.
tally_precompiled_kind(test OPTIONS -O0 HEADERS <gtest/gtest.h> <nlohmann/json.hpp> LIBRARIES GTest::gtest nlohmann_json::nlohmann_json)

# tally_test_library(NAME SOURCES … [LIBRARIES …]): what several test programs share, compiled once.
function(tally_test_library name)
  cmake_parse_arguments(library "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${library_SOURCES})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE tally_test_warnings tally_checks GTest::gtest PUBLIC ${library_LIBRARIES})
  target_compile_options(${name} PRIVATE -O0)
  tally_precompiled(${name} test)
endfunction()

# Each test has its directory as a label, relative to the root (tests/cli), by which `./dev test DIRECTORY` selects;
# long:tests/cli if only `./dev test --all` runs it. The target tests-of-tests-cli builds what its tests need.
function(tally_test_directory out needed)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE directory)
  set(${out} "${directory}" PARENT_SCOPE)
  string(REPLACE "/" "-" target "tests-of-${directory}")
  if(NOT TARGET ${target})
    add_custom_target(${target})
    set_property(GLOBAL APPEND PROPERTY tally_tested_directories "${directory}")
  endif()
  add_dependencies(${target} ${needed})
endfunction()

# tally_script_test(NAME COMMAND … [LABELS …] [LONG] [PROPERTIES …]): a test that is any command. Exit code 77: skipped.
function(tally_script_test name)
  cmake_parse_arguments(test "LONG" "" "COMMAND;LABELS;PROPERTIES" ${ARGN})
  tally_test_directory(directory product)
  if(test_LONG)
    string(PREPEND directory "long:")
  endif()
  add_test(NAME ${name} COMMAND ${test_COMMAND})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${tally_hang_s} SKIP_RETURN_CODE 77 LABELS "${test_LABELS};${directory}"
                                          ${test_PROPERTIES})
endfunction()

function(tally_test name)
  cmake_parse_arguments(test "CASES;ALONE;OPTIMISED" "" "SOURCES;LIBRARIES;LONG" ${ARGN})
  add_executable(${name} ${test_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${test_LIBRARIES} tally_test_warnings tally_checks GTest::gtest_main)
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
  tally_test_directory(directory ${name})
  set(properties TIMEOUT ${tally_hang_s})
  if(test_ALONE)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  list(JOIN test_LONG ":" long)
  set(filter "*-${long}")
  set(suffix "")
  set(kinds directory)
  if(long STREQUAL "*")
    set(kinds long)
  elseif(long)
    list(APPEND kinds long)
  endif()
  foreach(kind IN LISTS kinds)
    if(kind STREQUAL "long")
      set(filter "${long}")
      if(NOT long STREQUAL "*")
        set(suffix /long)
      endif()
      string(PREPEND directory "long:")
    endif()
    if(test_CASES)
      # The cases of parameterised tests have names; pretty values would print each parameter after its name. One
      # label: the files that gtest_discover_tests writes lose all but the first.
      gtest_discover_tests(${name} TEST_PREFIX "${name}/" NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 TEST_FILTER "${filter}"
                           PROPERTIES ${properties} LABELS "${directory}")
    else()
      add_test(NAME ${name}${suffix} COMMAND ${name} "--gtest_filter=${filter}")
      set_tests_properties(${name}${suffix} PROPERTIES ${properties} LABELS "${directory}")
    endif()
  endforeach()
endfunction()
