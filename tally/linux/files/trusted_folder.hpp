// Folders that nobody but this user and root can change.
#pragma once

#include <string>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Opens the folder with this absolute path, if it belongs to this user, all folders above it belong to this user or
/// to root, and others can write none of them. Others may write a folder above it only where they cannot rename what is
/// in there, as in /tmp. A link above it is followed where it belongs to this user or to root; the folder itself is
/// none. With `make` the folder, and the one above it, are made if need be. Errors: not_found where there is none;
/// cannot_measure with what is wrong.
Result<Descriptor> open_trusted_folder(const std::string& path, bool make);

}  // namespace tally::linux
