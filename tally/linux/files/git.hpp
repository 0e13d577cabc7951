// Reads the commit that a git working directory is at, from its files. Starts no program: a repository of others can
// name programs in its configuration, which `git` would execute.
#pragma once

#include <string>

namespace tally::linux {

/// The hash of the commit that HEAD of the repository around `folder` is at, in hexadecimal. Supports linked worktrees,
/// submodules, packed refs and a detached HEAD. Empty outside a repository, before its first commit, and for refs in
/// the reftable format.
std::string git_commit(const std::string& folder);

}  // namespace tally::linux
