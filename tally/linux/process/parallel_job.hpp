// The place of this process in a parallel job, and names of files that contain it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tally::linux {

/// Returns the MPI rank of this process, as the job's launcher passes it in the environment (Open MPI, MPICH and other
/// launchers with PMI or PMIx, MVAPICH2, Slurm); nothing outside a job. Steps of Slurm have a rank even if the program
/// does not use MPI.
std::optional<std::int32_t> mpi_rank();

/// Whether a launcher of MPI started this process. Slurm alone is not one: its steps also run other programs.
bool is_started_by_mpi();

/// Replaces %h by the host's name, %r by the MPI rank (0 outside a job) and %p by `pid`. The rest of the name is
/// unchanged.
std::string name_of_process(std::string_view pattern, std::int64_t pid);

/// The same for this process.
std::string name_of_process(std::string_view pattern);

}  // namespace tally::linux
