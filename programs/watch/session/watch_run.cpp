#include "programs/watch/session/watch_run.hpp"

#include <fmt/format.h>

#include "programs/watch/live/beat.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/own_provenance.hpp"

namespace tally::session {
namespace {

// The output of tables.
class Stream {
 public:
  /// With a command, tables go to standard error, because standard output belongs to the command.
  static Result<Stream> open(const std::string& path, bool has_command) {
    Stream stream;
    stream.is_error_ = has_command && path.empty();
    if (path.empty() || path == "-") return stream;
    auto file = linux::Output::open_file(path);
    if (!file) return fail(file.error());
    stream.file_.emplace(*std::move(file));
    return stream;
  }

  /// Columns of the terminal; 0: it is not a terminal.
  std::size_t terminal() const {
    return file_ ? 0 : linux::terminal_columns(is_error_ ? linux::Stream::error : linux::Stream::output);
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

std::string head_of(const result::WatchHeader& header, const WatchOptions& options, std::size_t terminal) {
  return options.form->header == nullptr ? "" : options.form->header(header, terminal);
}

std::string text_of(const result::WatchTable& table, const WatchOptions& options, bool is_first, std::size_t terminal) {
  return options.form->write(table, {options.columns, options.asked.shown.filter, is_first, terminal});
}

}  // namespace

result::WatchHeader header_of(const watch::Watcher& watcher) {
  result::WatchHeader header = watcher.header();
  header.provenance = command::provenance();
  return header;
}

Result<ConcurrentCommand> ConcurrentCommand::start(const std::vector<std::string>& command, linux::Signals& signals) {
  ConcurrentCommand concurrent;
  if (command.empty()) return concurrent;
  auto program = linux::Program::start(command, signals);
  if (!program) return fail(program.error());
  if (auto executed = program->executed(); !executed) return fail(executed.error());
  concurrent.program_ = std::move(*program);
  return concurrent;
}

bool ConcurrentCommand::is_over(linux::Signals& signals) {
  for (;;) {
    const auto taken = signals.take(program_ ? program_->pid() : 0);
    if (taken == linux::Signals::Taken::nothing) break;
    // The command gets the signal too, and watching ends with it.
    if (taken == linux::Signals::Taken::give_up) return true;
    if (taken == linux::Signals::Taken::interrupted && !program_) return true;
  }
  if (!program_) return false;
  const auto ended = program_->ended();
  if (ended && !*ended) return false;
  code_ = ended ? linux::exit_of((*ended)->wait_status).code : command::exit_cannot_measure;
  return true;
}

int ConcurrentCommand::finish(linux::Signals& signals, bool is_over, const std::function<void()>& before) {
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
  return write(output::watch_header_json(header));
}

Result<void> Record::add(const result::WatchTable& table) {
  return is_open() ? write(output::watch_json(table)) : Result<void>{};
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
  if (!stream) return command::report_error(stream.error());
  auto written = stream->write(head_of(recording.header, options, stream->terminal()));
  std::int64_t done = 0;
  for (const result::WatchTable& table : recording.tables) {
    if (!written || (options.readings != 0 && done == options.readings)) break;
    written = stream->write(text_of(table, options, done++ == 0, stream->terminal()));
  }
  return written ? command::exit_ok : command::report_error(written.error());
}

int watch_in_batch(watch::Watcher& watcher, const WatchOptions& options) {
  auto stream = Stream::open(options.output, !options.command.empty());
  if (!stream) return command::report_error(stream.error());
  auto signals = linux::Signals::watch();
  if (!signals) return command::report_error(signals.error());
  auto concurrent = ConcurrentCommand::start(options.command, *signals);
  if (!concurrent) return command::report_error(concurrent.error());
  const result::WatchHeader header = header_of(watcher);
  auto written = stream->write(head_of(header, options, stream->terminal()));
  if (auto described = command::describe_csv(*options.form, options.output, output::watch_header_json(header));
      !described)
    return command::report_error(described.error());
  Record record;
  int failed = command::exit_ok;
  if (auto opened = record.open(options.record, header); !opened) {
    failed = command::report_error(opened.error());
    if (record.path().empty()) return failed;  // it could not be opened; otherwise the disk is full
  }

  const auto interval = std::chrono::milliseconds(options.interval_ms);
  Nanoseconds due = watcher.reading().time + interval;
  bool is_over = false, is_first = true;
  for (std::int64_t done = 0; written && !is_over && (options.readings == 0 || done < options.readings); ++done) {
    const int woken_by = signals->fd();
    while (!is_over && watch::wait_until(due, {&woken_by, 1}) == 0) is_over = concurrent->is_over(*signals);
    // Prints the last, shorter interval too, unless it is shorter than 10 ms.
    if (is_over && linux::now() - watcher.reading().time < std::chrono::milliseconds(10) && !is_first) break;
    const result::WatchTable table = watcher.next();
    written = stream->write(text_of(table, options, is_first, stream->terminal()));
    // The tables go on without the recording, which is closed now.
    if (const auto added = record.add(table); !added) failed = command::report_error(added.error());
    is_first = false;
    // If the machine is too busy, readings are skipped instead of being caught up.
    due = std::max(due + interval, linux::now());
  }
  if (!written) failed = command::report_error(written.error());
  const int code = concurrent->finish(*signals, is_over, options.at_end);
  return failed == command::exit_ok ? code : failed;
}

}  // namespace tally::session
