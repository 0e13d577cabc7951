#include "tally/linux/process/parallel_job.hpp"

#include <cstdlib>
#include <limits>
#include <span>

#include "tally/core/base/text.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/process/self.hpp"

namespace tally::linux {
namespace {

// A launcher that runs in another one's job sets its own variable; the more specific ones come first.
constexpr const char* rank_variables[] = {"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                          "SLURM_PROCID"};

std::optional<std::int32_t> rank_in(std::span<const char* const> variables) {
  for (const char* name : variables) {
    const char* const text = secure_getenv(name);
    const auto rank = text == nullptr ? std::nullopt : parse_integer(text);
    if (rank && *rank >= 0 && *rank <= std::numeric_limits<std::int32_t>::max())
      return static_cast<std::int32_t>(*rank);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int32_t> mpi_rank() { return rank_in(rank_variables); }

bool is_started_by_mpi() { return rank_in(std::span(rank_variables).first(4)).has_value(); }

std::string name_of_process(std::string_view pattern, std::int64_t pid) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char kind = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    switch (kind) {
      case 'h': name += host_name(); break;
      case 'r': name += std::to_string(mpi_rank().value_or(0)); break;
      case 'p': name += std::to_string(pid); break;
      default: name += pattern[i]; continue;
    }
    ++i;
  }
  return name;
}

std::string name_of_process(std::string_view pattern) { return name_of_process(pattern, process_number()); }

}  // namespace tally::linux
