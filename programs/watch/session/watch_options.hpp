// The options of `tally watch`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "programs/settings/machine_settings.hpp"
#include "programs/watch/output/watch_format.hpp"
#include "programs/watch/watcher.hpp"
#include "tally/core/base/result.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::session {

struct WatchOptions {
  bool batch = false;
  std::int64_t readings = 0;  ///< 0: no limit
  int interval_ms = 1000;
  std::string per = "core,socket,system";
  std::string processors, sort = "UTIL", format, output, record, replay;
  bool legend = false;
  settings::SettingOptions settings;
  std::function<void()> at_end = [] {};  ///< called before a signal ends tally
  std::string column_names;
  std::vector<std::size_t> columns;  ///< empty: all
  watch::WatchRequest asked;
  const output::WatchFormat* form = nullptr;  ///< set by understand()
  std::vector<std::string> command;
};

/// Adds the options to the page; they are stored in `options`. The arguments after them are the command.
void describe_watch_options(command::Page& page, WatchOptions& options);

/// Converts the options as given to their meaning. Errors: bad_usage.
Result<void> understand(const command::Page& page, WatchOptions& options);

}  // namespace tally::session
