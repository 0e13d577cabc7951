#include "tally/linux/process/openmp.hpp"

#include <dlfcn.h>

#include "tally/linux/process/self.hpp"

namespace tally::linux {
namespace {

using Query = int (*)();
Query function_of_program(const char* name) { return reinterpret_cast<Query>(dlsym(RTLD_DEFAULT, name)); }

}  // namespace

std::optional<std::int32_t> openmp_number() {
  const Query number = function_of_program("omp_get_thread_num"), level = function_of_program("omp_get_level");
  if (number == nullptr || level == nullptr) return std::nullopt;
  // The runtime calls every thread that it does not know number 0.
  if (level() == 0 && thread_number() != process_number()) return std::nullopt;
  return number();
}

}  // namespace tally::linux
