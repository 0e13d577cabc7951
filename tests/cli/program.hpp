// Starts the built command as a user would, and captures its output.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tally::test {

/// A wait that takes longer will never end. Less than the limit of ctest, so that a test can report what did not
/// happen.
inline constexpr std::chrono::minutes longest_wait{20};

/// Whether a statement is true that needs a program to have got somewhere after some time. It gets a factor for that
/// time: ten and a hundred times as long if it is false, because a busy machine runs the program late.
template <class Statement>
bool is_true_with_time(Statement statement) {
  for (const int factor : {1, 10, 100})
    if (statement(factor)) return true;
  return false;
}

using Words = std::vector<std::string>;

/// The words, followed by more.
inline Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// How a started command ended, and what it wrote.
struct Finished {
  int wait_status = 0;
  std::string out;
  std::string err;

  /// The exit code; −signal if a signal ended it.
  int code() const;
};

/// The environment of a command at its start.
struct Environment {
  std::string input;                  ///< its standard input
  bool closed_output = false;         ///< starts without standard output
  bool closed_error = false;          ///< starts without standard error
  bool ignored_hangup = false;        ///< SIGHUP ignored, as under nohup
  bool has_terminal = false;          ///< its standard input is a terminal, the command's session's own
  bool output_reader_closed = false;  ///< standard output is a pipe that nobody reads
};

/// A command that runs in a process group of its own.
class Running {
 public:
  explicit Running(const Words& words, const Environment& environment = {});
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running();

  pid_t pid() const { return pid_; }

  /// Its standard output so far.
  const std::string& output() const { return finished_.out; }

  /// Blocks until its standard output contains `text`; false if it ended before.
  bool wait_for_output(const std::string& text);

  /// Ctrl-C at its terminal: the kernel signals the whole group, with the terminal as the sender.
  void press_ctrl_c() const;

  /// Sends a signal to the command only.
  void signal(int number) const;
  /// Sends a signal to the command and everything it started, as a terminal does.
  void signal_group(int number) const;

  /// Reads everything it writes and waits for its end.
  Finished finish();

 private:
  bool read_some();

  pid_t pid_ = -1;
  int terminal_ = -1;
  int out_ = -1;
  int err_ = -1;
  Finished finished_;
};

/// `tally` with these arguments, from its start to its end.
Finished tally(const Words& arguments, const Environment& environment = {});

/// `tally` and arguments as one list, for Running.
Words tally_words(const Words& arguments);

/// A file in a new folder, which is removed with it at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name, const std::optional<std::string>& content = {}, int mode = 0644);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  const std::string& path() const { return path_; }
  const std::string& folder() const { return folder_; }
  /// The content of any file; nullopt if there is none.
  static std::optional<std::string> read(const std::string& path);

  /// Its current content; nullopt if there is no such file.
  std::optional<std::string> content() const;

 private:
  std::string folder_;
  std::string path_;
};

}  // namespace tally::test
