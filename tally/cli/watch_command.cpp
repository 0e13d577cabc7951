#include "tally/cli/command.hpp"
#include "tally/cli/page.hpp"
#include "tally/cli/watch_options.hpp"
#include "tally/cli/watch_run.hpp"
#include "tally/linux/live/beat.hpp"
#include "tally/report/watch.hpp"

namespace tally::cli {

void describe_watch(Page& page) {
  static WatchOptions unused;
  describe_watch_options(page, unused);
}

int run_watch(const std::vector<std::string>& arguments) {
  WatchOptions options;
  Page page;
  describe_watch_options(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (const auto understood = understand(page, options); !understood) return report_error(understood.error());
  auto watcher = watch::Watcher::open(options.asked);
  if (!watcher) return report_error(watcher.error());
  if (options.legend) {
    // Some figures are what changed: a tenth of a second is enough to see whether they are told at all.
    (void)linux::wait_until(watcher->reading().time + std::chrono::milliseconds(100), {});
    const result::WatchTable table = watcher->next();
    return print(report::watch_legend_text(table) + "\n" + report::watch_reasons_text(table));
  }
  return watch_in_batch(*watcher, options);
}

}  // namespace tally::cli
