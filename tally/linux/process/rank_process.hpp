// Keeps the results of a rank whose MPI launcher kills it.
#pragma once

#include <sys/types.h>

namespace tally::linux {

/// In a rank of an MPI job, continues in a child in a process group of its own: a SIGKILL for the rank and its group
/// does not reach it. This process passes signals on to the child and ends as it does; if it is killed first, the child
/// gets SIGTERM. Returns the rank's group, to which the measured program belongs; 0 if the caller continues in this
/// process: outside a job, in a terminal's foreground, or if the fork fails. Call it before any thread exists.
pid_t leave_group_of_rank();

}  // namespace tally::linux
