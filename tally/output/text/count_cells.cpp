#include "tally/output/text/count_cells.hpp"

#include "tally/core/base/text.hpp"

namespace tally::output {

CountCells::CountCells(const result::Profile& profile)
    : profile_(profile), causes_(CauseColumns::find(profile.stat.events)) {}

std::vector<Column> CountCells::columns() const {
  std::vector<Column> columns;
  for (std::size_t e = 0; e < profile_.event_count(); ++e)
    if (!causes_ || !causes_->has(e)) columns.push_back({profile_.stat.events[e].total.name.text(), Align::right});
  if (causes_) columns.push_back({"main cause"});
  return columns;
}

std::vector<std::string> CountCells::cells(const std::vector<std::int64_t>* counts) const {
  std::vector<std::string> cells;
  for (std::size_t e = 0; e < profile_.event_count(); ++e)
    if (!causes_ || !causes_->has(e)) cells.push_back(counts == nullptr ? "" : thousands((*counts)[e]));
  if (causes_) cells.push_back(counts == nullptr ? "" : causes_->main_cause(*counts));
  return cells;
}

}  // namespace tally::output
