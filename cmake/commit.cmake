# The commit that tally is built from, for `tally --version`: from .git if the source directory has one, otherwise from
# commit.txt, which `git archive` fills. Empty if both are missing.
#
# Included, it defines tally_commit(TARGET), which adds a generated source to the target. As a script
# (`cmake -D source=… -D output=… -P commit.cmake`) it writes that source. Only the source is compiled again when HEAD
# moves, and it contains nothing but the hash, so that two builds of a commit are equal. safe.directory: root may build
# the sources of another user.
if(CMAKE_SCRIPT_MODE_FILE)
  set(commit "")
  if(EXISTS "${source}/.git")
    execute_process(COMMAND git -c safe.directory=* -C "${source}" rev-parse HEAD
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  else()
    file(STRINGS "${source}/cmake/commit.txt" commit LIMIT_COUNT 1)
  endif()
  # A fixed length: git's own short hashes depend on how many objects the clone has.
  if(commit MATCHES "^[0-9a-f]+$")
    string(SUBSTRING "${commit}" 0 12 commit)
  else()
    set(commit "")
  endif()
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT [[
#include "tally/cli/build_description.hpp"

namespace tally::cli {

std::string_view commit() { return "@commit@"; }

}  // namespace tally::cli
]])
  return()
endif()

function(tally_commit target)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/commit.cpp")
  # Files that git writes when HEAD moves. git prints their paths, because .git is a file in a worktree.
  set(moved "${PROJECT_SOURCE_DIR}/cmake/commit.txt")
  if(EXISTS "${PROJECT_SOURCE_DIR}/.git")
    foreach(name HEAD logs/HEAD)
      execute_process(COMMAND git -c safe.directory=* -C "${PROJECT_SOURCE_DIR}" rev-parse
                              --path-format=absolute --git-path "${name}"
                      OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
      if(path AND EXISTS "${path}")
        list(APPEND moved "${path}")
      endif()
    endforeach()
  endif()
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" -D "source=${PROJECT_SOURCE_DIR}" -D "output=${output}"
            -P "${PROJECT_SOURCE_DIR}/cmake/commit.cmake"
    DEPENDS ${moved} "${PROJECT_SOURCE_DIR}/cmake/commit.cmake"
    COMMENT "The commit that is built" VERBATIM)
  target_sources(${target} PRIVATE "${output}")
  set_source_files_properties("${output}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
