// The functions of a file for linkers, which place them in this order: lld's --symbol-ordering-file.
#include <algorithm>
#include <map>
#include <vector>

#include "tally/output/kinds/profile_forms.hpp"

namespace tally::output {

std::string profile_order(const result::Profile& profile, const ProfileStyle& style) {
  std::map<std::uint32_t, std::int64_t> executed;
  for (const result::ProfileRow& row : profile.rows)
    if (profile.functions[row.function].object == style.object) executed[row.function] += row.executions;
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [index, count] : executed) {
    const result::ProfileFunction& function = profile.functions[index];
    const std::string& name = function.linker_name.empty() ? function.name : function.linker_name;
    // Code outside of functions, and entries of the linkage table, are not the compiler's to place.
    if (count > 0 && !name.starts_with('[') && !name.ends_with("@plt")) order.emplace_back(-count, name);
  }
  std::sort(order.begin(), order.end());
  std::string text;
  for (const auto& [count, name] : order) text += name + "\n";
  return text;
}

}  // namespace tally::output
