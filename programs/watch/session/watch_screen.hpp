// `tally watch` on a terminal.
#pragma once

#include "programs/watch/session/watch_run.hpp"

namespace tally::session {

/// Shows tables on the terminal until the user quits or the command ends. Returns tally's exit code.
int watch_on_screen(watch::Watcher& watcher, const WatchOptions& options, screen::Terminal terminal);
int replay_on_screen(const result::Recording& recording, const WatchOptions& options, screen::Terminal terminal);

}  // namespace tally::session
