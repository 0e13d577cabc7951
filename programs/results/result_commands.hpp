// The commands of tally-results, which work on stored results.
#pragma once

#include <string>
#include <vector>

namespace tally::command {
class Page;
}
namespace tally::comparison {}
namespace tally::launch {}
namespace tally::output {}
namespace tally::report {}

namespace tally::results {

// Written in the words of the directories below: Page, Grid, StoredFile.
using namespace command;
using namespace comparison;
using namespace launch;
using namespace output;
using namespace report;

// run_NAME and describe_NAME of each.
int run_report(const std::vector<std::string>& arguments);
void describe_report(Page& page);
/// `tally export`: the same as `report`, with CSV as the default format. Not listed: it was a command of its own.
int run_export(const std::vector<std::string>& arguments);
int run_history(const std::vector<std::string>& arguments);
void describe_history(Page& page);
int run_bench(const std::vector<std::string>& arguments);
void describe_bench(Page& page);

}  // namespace tally::results
