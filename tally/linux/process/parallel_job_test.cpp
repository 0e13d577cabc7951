#include "tally/linux/process/parallel_job.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "tally/linux/machine/host_machine.hpp"

namespace tally::linux {
namespace {

// Sets a variable of the environment during a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(ParallelJob, RankOfEveryLauncher) {
  EXPECT_FALSE(mpi_rank());
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const Variable variable(name, "12");
    EXPECT_EQ(mpi_rank(), 12) << name;
  }
  // mpirun within a step of Slurm: its own rank is the process's.
  const Variable step("SLURM_PROCID", "0"), rank("OMPI_COMM_WORLD_RANK", "3");
  EXPECT_EQ(mpi_rank(), 3);
}

TEST(ParallelJob, ValuesThatAreNoRank) {
  for (const char* value : {"", "one", "-1", "99999999999999"}) {
    const Variable variable("PMI_RANK", value);
    EXPECT_FALSE(mpi_rank()) << value;
  }
}

TEST(ParallelJob, NamesOfProcesses) {
  EXPECT_EQ(name_of_process("a.json", 7), "a.json");
  EXPECT_EQ(name_of_process("%p-%p.json", 7), "7-7.json");
  EXPECT_EQ(name_of_process("%r.json", 7), "0.json");
  EXPECT_EQ(name_of_process("100%", 7), "100%");
  EXPECT_EQ(name_of_process("%d%%p", 7), "%d%7") << "other letters are not replaced";
  EXPECT_EQ(name_of_process("%p"), std::to_string(getpid()));
  const Variable rank("OMPI_COMM_WORLD_RANK", "3");
  EXPECT_EQ(name_of_process("%h.%r.%p.json", 7), host_name() + ".3.7.json");
}

}  // namespace
}  // namespace tally::linux
