#include "programs/results/results_page.hpp"

#include <type_traits>
#include <utility>
#include <variant>

#include "programs/memory_output/memory_format.hpp"
#include "programs/results/program_sections.hpp"
#include "programs/verify_output/verify_format.hpp"

namespace tally::results {

std::string results_html(std::vector<StoredResult> results) {
  std::vector<output::NamedMemory> memories;
  for (const StoredResult& stored : results)
    if (const auto* const memory = std::get_if<result::Memory>(&stored.result))
      memories.push_back({stored.name, memory});
  const std::string comparison = output::memory_comparison(memories);
  std::vector<output::NamedResult> shown;
  for (StoredResult& stored : results)
    std::visit(
        [&](auto& result) {
          if constexpr (requires { output::page_section(result); })
            shown.push_back({stored.name, output::page_section(result)});
          else if constexpr (!std::is_same_v<std::remove_reference_t<decltype(result)>, result::Profile>)
            shown.push_back({stored.name, std::move(result)});
        },
        stored.result);
  return output::html_page(shown, comparison);
}

}  // namespace tally::results
