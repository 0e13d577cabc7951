// tally-watch: the options of `tally watch`, then the screen, the tables, or a recording.
#include "programs/settings/machine_settings.hpp"
#include "programs/watch/live/beat.hpp"
#include "programs/watch/output/watch_format.hpp"
#include "programs/watch/session/watch_options.hpp"
#include "programs/watch/session/watch_run.hpp"
#include "programs/watch/session/watch_screen.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/program_main.hpp"

namespace tally::watch {
namespace {

using command::print;
using command::report_error;
using command::say;

// The terminal for the screen; nothing if tables are printed instead.
std::optional<screen::Terminal> terminal_for(const session::WatchOptions& options) {
  if (options.batch || !options.output.empty() || !options.form->is_for_people) return std::nullopt;
  auto terminal = screen::Terminal::open();
  if (terminal) return std::move(*terminal);
  say({terminal.error().message + ": printing tables, as with --batch"});
  return std::nullopt;
}

int replay(const session::WatchOptions& options) {
  const auto text = linux::read_file(options.replay);
  if (!text) return report_error(text.error());
  auto recording = result::parse_recording(*text);
  if (!recording) {
    recording.error().message = options.replay + ": " + recording.error().message;
    return report_error(recording.error());
  }
  auto terminal = terminal_for(options);
  return terminal ? session::replay_on_screen(*recording, options, std::move(*terminal))
                  : session::print_recording(*recording, options);
}

void describe_watch(command::Page& page) {
  static session::WatchOptions unused;
  session::describe_watch_options(page, unused);
}

int run_watch(const std::vector<std::string>& arguments) {
  session::WatchOptions options;
  command::Page page;
  session::describe_watch_options(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (const auto understood = session::understand(page, options); !understood) return report_error(understood.error());
  if (!options.replay.empty()) return replay(options);
  auto watcher = Watcher::open(options.asked);
  if (!watcher) return report_error(watcher.error());
  if (options.legend) {
    // Some metrics are differences between two readings. A tenth of a second is enough to see whether they are
    // available.
    (void)wait_until(watcher->reading().time + std::chrono::milliseconds(100), {});
    const result::WatchTable table = watcher->next();
    return print(output::watch_legend_text(table) + "\n" + output::watch_reasons_text(table));
  }
  auto held = settings::apply_settings(options.settings, options.asked.root);
  if (!held) return report_error(held.error());
  options.at_end = [&held] { settings::restore_settings(*held); };
  auto terminal = terminal_for(options);
  const int code = terminal ? session::watch_on_screen(*watcher, options, std::move(*terminal))
                            : session::watch_in_batch(*watcher, options);
  options.at_end();
  return code;
}

}  // namespace
}  // namespace tally::watch

int main(int argc, char** argv) {
  constexpr tally::command::Program watch{"watch", tally::watch::describe_watch, tally::watch::run_watch};
  return tally::command::run_program(watch, argc, argv);
}
