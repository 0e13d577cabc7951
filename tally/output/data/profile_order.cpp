// The functions of a file for linkers, which place them in this order: lld's --symbol-ordering-file.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/output/kinds/profile_forms.hpp"

namespace tally::output {
namespace {

struct Ordered {
  std::uint64_t first = 0;
  std::int64_t executed = 0;
  std::uint32_t function = 0;
  std::string name;
};

/// The functions that the compiler has placed, and that were executed.
std::vector<Ordered> order_of(const result::Profile& profile, const ProfileStyle& style) {
  std::map<std::uint32_t, std::int64_t> executed;
  for (const result::ProfileRow& row : profile.rows)
    if (profile.functions[row.function].object == style.object) executed[row.function] += row.executions;
  std::vector<Ordered> order;
  for (const auto& [index, count] : executed) {
    const result::ProfileFunction& function = profile.functions[index];
    const std::string& name = function.linker_name.empty() ? function.name : function.linker_name;
    // Code outside of functions, and entries of the linkage table, are not the compiler's to place. The format cannot
    // express a line break.
    if (count > 0 && !name.starts_with('[') && !name.ends_with("@plt") && name.find('\n') == std::string::npos)
      order.push_back({style.by_first ? function.first : 0, count, index, name});
  }
  std::sort(order.begin(), order.end(), [](const Ordered& a, const Ordered& b) {
    return std::tie(a.first, b.executed, a.name) < std::tie(b.first, a.executed, b.name);
  });
  return order;
}

}  // namespace

std::string profile_order(const result::Profile& profile, const ProfileStyle& style) {
  std::string text;
  for (const Ordered& ordered : order_of(profile, style)) text += ordered.name + "\n";
  return text;
}

std::string pages_of_order(const result::Profile& profile, const ProfileStyle& style) {
  constexpr std::uint64_t page = 4096, alignment = 16;
  std::map<std::uint64_t, std::uint64_t> sizes;
  for (const result::LinkedFunction& function : profile.objects[style.object].linked)
    sizes.emplace(function.address, function.bytes);
  std::map<std::uint32_t, std::uint64_t> moved;  // by function: its new address
  std::uint64_t end = 0;
  const std::vector<Ordered> order = order_of(profile, style);
  for (const Ordered& ordered : order) {
    const auto size = sizes.find(profile.functions[ordered.function].address);
    moved.emplace(ordered.function, end);
    end = (end + (size == sizes.end() ? 0 : size->second) + alignment - 1) / alignment * alignment;
  }
  std::set<std::uint64_t> now, then;
  for (const result::ProfileRow& row : profile.rows) {
    const auto to = moved.find(row.function);
    if (to == moved.end()) continue;
    now.insert(row.address / page);
    then.insert((to->second + row.address - profile.functions[row.function].address) / page);
  }
  return fmt::format(
      "pages of 4 KiB that the {} executed functions of {} touch: {}; one after the other in this order: {}",
      order.size(), profile.objects[style.object].name, now.size(), then.size());
}

}  // namespace tally::output
