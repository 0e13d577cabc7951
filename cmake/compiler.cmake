# What every target of ours is compiled with; the engine adds its own freestanding flags.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# Older compilers lack parts of C++20 that tally uses, and their errors do not name this reason.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "g++ ${CMAKE_CXX_COMPILER_VERSION} is too old: tally needs g++ 12 (package g++ of Debian 12)")
endif()
# The command is at the top of the build tree, its engine in libexec.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

add_library(tally_warnings INTERFACE)
target_compile_options(tally_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion)
# Off by default, because other compilers have other warnings. The default comes from the environment, so that CI can switch it
# on for every command of ./dev.
option(TALLY_WERROR "Treat warnings as errors" "$ENV{TALLY_WERROR}")
if(TALLY_WERROR)
  target_compile_options(tally_warnings INTERFACE -Werror)
endif()
# g++ 12 sees overlapping copies in std::string's own operator+ (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(tally_warnings INTERFACE -Wno-restrict)
  # With precompiled headers it also prints warnings for system headers.
  target_compile_options(tally_warnings INTERFACE -Wno-stringop-overflow -Wno-array-bounds)
endif()
# Run-time checks of our own directories and tests. Not in CMAKE_CXX_FLAGS and not for every target: the freestanding engine has
# no library to report them, and the programs that the tests measure must be the same in every preset.
add_library(tally_checks INTERFACE)
if(TALLY_ASSERTIONS)
  target_compile_definitions(tally_checks INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(TALLY_SANITIZE)
  target_compile_options(tally_checks INTERFACE "-fsanitize=${TALLY_SANITIZE}" -fno-sanitize-recover=all
                                                -fno-omit-frame-pointer)
  target_link_options(tally_checks INTERFACE "-fsanitize=${TALLY_SANITIZE}")
endif()
