// Opens directories that only this user and root can change.
#pragma once

#include <string>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Opens the directory with this absolute path, if it belongs to this user, all directories above it belong to this
/// user or root, and others can write none of them. Exception: others may write a directory above it in which they
/// cannot rename files of others, such as /tmp. A link above it is followed if it belongs to this user or root; the
/// directory itself must not be a link. With `make`, creates the directory and the one above it if they are missing.
/// Errors: not_found if it is missing; cannot_measure with the reason.
Result<Descriptor> open_trusted_folder(const std::string& path, bool make);

}  // namespace tally::linux
