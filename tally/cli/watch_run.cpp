#include "tally/cli/watch_run.hpp"

#include <fmt/format.h>

#include <ctime>

#include "tally/base/text.hpp"
#include "tally/cli/command.hpp"
#include "tally/linux/files/output.hpp"
#include "tally/linux/live/beat.hpp"
#include "tally/report/watch.hpp"

namespace tally::cli {
namespace {

// Where tables go, one after the other.
class Stream {
 public:
  /// A command's standard output is its own: beside one, tables go to standard error.
  static Result<Stream> open(const std::string& path, bool has_command) {
    Stream stream;
    stream.is_error_ = has_command && path.empty();
    if (path.empty() || path == "-") return stream;
    auto file = linux::Output::open_file(path);
    if (!file) return fail(file.error());
    stream.file_.emplace(*std::move(file));
    return stream;
  }

  Result<void> write(const std::string& text) {
    if (!file_) {
      return (is_error_ ? linux::Output::standard_error() : linux::Output::standard_output()).write(text);
    }
    auto added = file_->add(text);
    return added ? file_->publish() : added;
  }

 private:
  bool is_error_ = false;
  std::optional<linux::Output> file_;
};

std::string head_of(const result::WatchHeader& header, WatchForm form) {
  switch (form) {
    case WatchForm::table: return report::watch_header_text(header) + "\n";
    case WatchForm::json: return report::watch_header_json(header);
    case WatchForm::csv: return {};
  }
  return {};
}

// " 2026-11-25 21:30:05", as clocks here show it.
std::string moment_text(Nanoseconds since_1970) {
  const auto seconds = static_cast<std::time_t>(since_1970.count() / 1'000'000'000);
  std::tm parts{};
  char text[32] = "";
  if (!localtime_r(&seconds, &parts) || std::strftime(text, sizeof text, " %F %T\n", &parts) == 0) return {};
  return text;
}

std::string text_of(const result::WatchTable& table, const WatchOptions& options, bool is_first) {
  switch (options.form) {
    case WatchForm::csv: return (is_first ? report::watch_csv_header(table.columns) : "") + report::watch_csv(table);
    case WatchForm::json: return report::watch_json(table);
    case WatchForm::table: break;
  }
  // Why cells are empty is the same every time: said once.
  return (is_first ? "" : "\n") + moment_text(table.time) + report::watch_text(table, options.columns) +
         (table.rows.empty() ? " No row fits --filter " + printable(options.asked.shown.filter) + ".\n" : "") +
         (is_first ? "\n" + report::watch_reasons_text(table, 80, options.columns) : "");
}

}  // namespace

Result<Beside> Beside::start(const std::vector<std::string>& command, linux::Signals& signals) {
  Beside beside;
  if (command.empty()) return beside;
  auto program = linux::Program::start(command, signals);
  if (!program) return fail(program.error());
  if (auto executed = program->executed(); !executed) return fail(executed.error());
  beside.program_ = std::move(*program);
  return beside;
}

bool Beside::is_over(linux::Signals& signals) {
  for (;;) {
    const auto taken = signals.take(program_ ? program_->pid() : 0);
    if (taken == linux::Signals::Taken::nothing) break;
    // A command gets the signal as well, and watching ends with it.
    if (taken == linux::Signals::Taken::give_up) return true;
    if (taken == linux::Signals::Taken::interrupted && !program_) return true;
  }
  if (!program_) return false;
  const auto ended = program_->ended();
  if (ended && !*ended) return false;
  code_ = ended ? linux::exit_of((*ended)->wait_status).code : exit_cannot_measure;
  return true;
}

int Beside::finish(linux::Signals& signals, bool is_over, const std::function<void()>& before) {
  while (program_ && !is_over) {
    signals.wait();
    is_over = this->is_over(signals);
  }
  if (const auto signal = signals.interrupted_by(); signal && !program_) {
    before();
    linux::die_of(*signal);
  }
  return code_;
}

Result<void> Record::open(const std::string& path, const result::WatchHeader& header) {
  if (path.empty()) return {};
  auto file = linux::Output::open_file(path);
  if (!file) return fail(file.error());
  path_ = path;
  file_.emplace(*std::move(file));
  return write(report::watch_header_json(header));
}

Result<void> Record::add(const result::WatchTable& table) {
  return is_open() ? write(report::watch_json(table)) : Result<void>{};
}

void Record::close() { file_.reset(); }

Result<void> Record::write(const std::string& text) {
  auto written = file_->add(text);
  if (written) written = file_->publish();
  if (!written) file_.reset();
  return written;
}

int print_recording(const result::Recording& recording, const WatchOptions& options) {
  auto stream = Stream::open(options.output, false);
  if (!stream) return report_error(stream.error());
  auto written = stream->write(head_of(recording.header, options.form));
  std::int64_t done = 0;
  for (const result::WatchTable& table : recording.tables) {
    if (!written || (options.readings != 0 && done == options.readings)) break;
    written = stream->write(text_of(table, options, done++ == 0));
  }
  return written ? exit_ok : report_error(written.error());
}

int watch_in_batch(watch::Watcher& watcher, const WatchOptions& options) {
  auto stream = Stream::open(options.output, !options.command.empty());
  if (!stream) return report_error(stream.error());
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());
  auto beside = Beside::start(options.command, *signals);
  if (!beside) return report_error(beside.error());
  if (auto written = stream->write(head_of(watcher.header(), options.form)); !written)
    return report_error(written.error());
  Record record;
  if (auto opened = record.open(options.record, watcher.header()); !opened) return report_error(opened.error());

  const auto interval = std::chrono::milliseconds(options.interval_ms);
  Nanoseconds due = watcher.reading().time + interval;
  bool is_over = false, is_first = true;
  for (std::int64_t done = 0; !is_over && (options.readings == 0 || done < options.readings); ++done) {
    const int woken_by = signals->fd();
    while (!is_over && linux::wait_until(due, {&woken_by, 1}) == 0) is_over = beside->is_over(*signals);
    // What was until then is told, too, where it is worth the name of an interval.
    if (is_over && linux::now() - watcher.reading().time < std::chrono::milliseconds(10) && !is_first) break;
    const result::WatchTable table = watcher.next();
    auto written = stream->write(text_of(table, options, is_first));
    if (written) written = record.add(table);
    if (!written) return report_error(written.error());
    is_first = false;
    // A machine that is too busy to be read in time loses beats; it does not catch up on them.
    due = std::max(due + interval, linux::now());
  }
  return beside->finish(*signals, is_over, options.at_end);
}

}  // namespace tally::cli
