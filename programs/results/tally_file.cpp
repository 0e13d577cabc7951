#include "programs/results/tally_file.hpp"

#include "tally/linux/files/memory_file.hpp"

namespace tally::results {

std::string tally_file() {
  const std::string folder = linux::own_folder(), built = folder + "/tally";
  return linux::exists(built) ? built : folder + "/" TALLY_COMMAND_FOLDER "/tally";
}

}  // namespace tally::results
