#include "programs/settings/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <sstream>
#include <utility>

#include "programs/linux/daemon.hpp"
#include "programs/linux/run_folder.hpp"
#include "programs/settings/changes.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/process/self.hpp"

namespace tally::settings {
namespace {

constexpr std::string_view first_line = "tally-settings/1";
constexpr std::string_view last_line = "end";

struct Note {
  linux::ProcessIdentity holder;
  std::vector<Change> changes;
};

std::string folder_of(const std::string& root) { return (root == "/" ? "" : root) + "/run/tally-settings"; }

// One line per change: what, before and set, separated by tabs.
std::string text_of(const Note& note) {
  std::string text = fmt::format("{}\nholder {} {}\n", first_line, note.holder.number, note.holder.started);
  for (const Change& change : note.changes) text += fmt::format("{}\t{}\t{}\n", change.what, change.before, change.set);
  return text + std::string(last_line) + "\n";
}

std::optional<Note> note_of(const std::string& text) {
  const auto lines = split(trimmed(text), '\n');
  if (lines.size() < 3 || lines.front() != first_line || lines.back() != last_line) return std::nullopt;
  Note note;
  std::istringstream words(lines[1]);
  std::string word;
  if (!(words >> word >> note.holder.number >> note.holder.started) || word != "holder") return std::nullopt;
  for (std::size_t i = 2; i + 1 < lines.size(); ++i) {
    const auto parts = split(lines[i], '\t');
    if (parts.size() != 3) return std::nullopt;
    note.changes.push_back({parts[0], parts[1], parts[2]});
  }
  return note;
}

// Restores in reverse order. Returns whether nothing is left to restore.
bool undo(const std::vector<Change>& changes, const std::string& root, std::vector<std::string>& notices) {
  bool all = true;
  for (auto one = changes.rbegin(); one != changes.rend(); ++one) {
    const auto now = value_of(*one, root);
    if (now && *now == one->before) continue;
    if (now && *now != one->set) {
      notices.push_back(fmt::format("{}: it was {} before, but another program set {}: not restored", one->what,
                                    one->before, printable(*now)));
      continue;
    }
    const Result<void> done = now ? set_value(*one, one->before, root) : fail(now.error());
    if (done) continue;
    all = false;
    notices.push_back(fmt::format("{}; it was {} before", done.error().message, one->before));
  }
  return all;
}

// With the directory locked. Returns false if a running process holds changes, or a setting could not be restored.
bool repair_locked(const std::string& root, std::vector<std::string>& notices) {
  const std::string text = linux::run_note(folder_of(root));
  if (text.empty()) return true;
  const auto note = note_of(text);
  if (!note) {
    notices.push_back(
        fmt::format("{}/note was written by another version of tally: nothing is restored", folder_of(root)));
    return false;
  }
  if (linux::lives(note->holder)) {
    notices.push_back(
        fmt::format("process {} has changed settings of this machine and is still running", note->holder.number));
    return false;
  }
  notices.push_back(fmt::format("process {}, which had changed settings of this machine, has ended: they are restored",
                                note->holder.number));
  const bool all = undo(note->changes, root, notices);
  if (all) linux::remove_run_note(folder_of(root));
  return all;
}

}  // namespace

ScopedSettings::ScopedSettings(ScopedSettings&& other) noexcept
    : root_(other.root_), changes_(std::exchange(other.changes_, {})) {}

ScopedSettings::~ScopedSettings() { (void)put_back(); }

Result<ScopedSettings> ScopedSettings::change(const SettingsRequest& asked, const std::string& root) {
  auto folder = linux::RunFolder::enter(folder_of(root));
  if (!folder) {
    Error error = folder.error();
    if (error.os_errno == EACCES || error.os_errno == EPERM)
      error.hint = "only root can change settings of the machine";
    return fail(error);
  }
  std::vector<std::string> notices;
  if (!repair_locked(root, notices))
    return fail(Code::cannot_measure, notices.back(), "restore this first; tally has changed nothing");
  auto changes = changes_for(asked, root);
  if (!changes) return fail(changes.error());
  if (changes->empty()) return ScopedSettings(root, {});
  // Saved before anything is changed.
  const Note note{linux::identity_of(linux::process_number()), *changes};
  if (auto written = linux::write_run_note(folder_of(root), text_of(note)); !written) return fail(written.error());
  for (const Change& change : *changes) {
    const auto done = set_value(change, change.set, root);
    if (done) continue;
    if (undo(*changes, root, notices)) linux::remove_run_note(folder_of(root));
    return fail(done.error());
  }
  return ScopedSettings(root, *std::move(changes));
}

std::vector<std::string> ScopedSettings::put_back() {
  std::vector<std::string> notices;
  if (changes_.empty()) return notices;
  const auto folder = linux::RunFolder::enter(folder_of(root_));
  if (undo(std::exchange(changes_, {}), root_, notices)) linux::remove_run_note(folder_of(root_));
  return notices;
}

std::vector<std::string> repair(const std::string& root) {
  std::vector<std::string> notices;
  if (linux::run_note(folder_of(root)).empty()) return notices;
  const auto note = note_of(linux::run_note(folder_of(root)));
  if (note && linux::lives(note->holder)) return notices;
  const auto folder = linux::RunFolder::enter(folder_of(root));
  if (!folder)
    return {
        "settings of this machine were changed by a process that has ended: `sudo tally watch -n 1` "
        "restores them"};
  (void)repair_locked(root, notices);
  return notices;
}

}  // namespace tally::settings
