#include "tally/linux/process/region_handoff.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

namespace fs = std::filesystem;

struct Ancestor {
  std::int64_t pid = 0, parent = 0;
  std::string state;
  std::string started;  // in ticks since boot
};

// Parses proc_pid_stat(5); the second field may contain any character, including ')'.
std::optional<Ancestor> read_ancestor(const std::string& pid) {
  const std::string text = content("/proc/" + pid + "/stat");
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  const auto fields = split(text.substr(name_end + 2), ' ');
  constexpr std::size_t parent = 4 - 3, started = 22 - 3;
  if (fields.size() <= started) return std::nullopt;
  return Ancestor{parse_integer(text.substr(0, text.find(' '))).value_or(0), parse_integer(fields[parent]).value_or(0),
                  fields[0], fields[started]};
}

// Not TMPDIR: a program may have another one than the command. Not /tmp: programs read what is in it.
constexpr const char* place = "/dev/shm";

std::string prefix() { return fmt::format("tally-regions-{}-", geteuid()); }

fs::path folder_of(const Ancestor& one) { return fmt::format("{}/{}{}-{}", place, prefix(), one.pid, one.started); }

constexpr const char* asked = "asked";
constexpr const char* part_suffix = ".part";
constexpr const char* memory_suffix = ".memory";

bool is_ours_alone(const fs::path& folder) {
  struct stat status {};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & 077) == 0;
}

/// Locks a directory; its owner holds the lock while it runs. Nothing if another process holds it, or if there is no
/// directory.
Descriptor hold(const fs::path& folder) {
  Descriptor held(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (held && flock(held.get(), LOCK_EX | LOCK_NB) != 0) return Descriptor();
  return held;
}

/// Whether the locked directory is still the one of that name.
bool is_there(const Descriptor& held, const fs::path& folder) {
  struct stat one {
  }, other{};
  return fstat(held.get(), &one) == 0 && lstat(folder.c_str(), &other) == 0 && one.st_ino == other.st_ino &&
         one.st_dev == other.st_dev;
}

/// Whether the process with this ID and start time has ended.
bool has_ended(std::int64_t pid, std::string_view started) {
  const auto one = read_ancestor(std::to_string(pid));
  return !one || one->started != started || one->state == "Z" || one->state == "X";
}

/// The same for the name of such a directory.
bool has_ended(std::string_view named) {
  const std::size_t dash = named.find('-');
  if (dash == std::string_view::npos) return false;
  const auto pid = parse_integer(named.substr(0, dash));
  return pid && has_ended(*pid, named.substr(dash + 1));
}

/// The name under which a process hands a text over. Sorts by start time. `image`: a process that executes another
/// program has several.
std::string handoff_name(const Ancestor& process, int image) {
  return fmt::format("{:0>20}-{:0>10}-{}", process.started, process.pid, image);
}

/// The same for the process in such a name.
bool has_process_ended(const std::string& handoff) {
  const auto parts = split(handoff, '-');
  if (parts.size() < 3) return false;
  const std::size_t digits = parts[0].find_first_not_of('0');
  const std::size_t pid_digits = parts[1].find_first_not_of('0');
  if (digits == std::string::npos || pid_digits == std::string::npos) return false;
  const auto pid = parse_integer(parts[1].substr(pid_digits));
  return pid && has_ended(*pid, parts[0].substr(digits));
}

Result<void> write_handoff(const fs::path& handoff, std::string_view text) {
  const fs::path part = handoff.string() + part_suffix;
  auto output = Output::open_file(part);
  if (!output) return fail(output.error());
  if (auto written = output->write(text); !written) return written;
  if (rename(part.c_str(), handoff.c_str()) != 0) {
    return system_failure(Code::cannot_write, fmt::format("cannot pass regions to tally as '{}'", handoff.string()));
  }
  return {};
}

/// Removes directories of commands that were killed. Processes of other PID namespaces are invisible, but their locks
/// are not.
void remove_left_over() {
  const std::string ours = prefix();
  for (const std::string& name : folder_entries(place)) {
    if (!name.starts_with(ours) || !has_ended(std::string_view(name).substr(ours.size()))) continue;
    const fs::path folder = fs::path(place) / name;
    std::error_code no_reader;
    if (is_ours_alone(folder) && hold(folder)) fs::remove_all(folder, no_reader);
  }
}

constexpr int most_handoffs_tried = 100;  // each fails only if another command has just taken this one for ended

}  // namespace

Result<Gathering> Gathering::open() {
  const auto self = read_ancestor("self");
  if (!self) return fail(Code::cannot_measure, "cannot collect the regions of programs: /proc cannot be read");
  remove_left_over();
  const fs::path folder = folder_of(*self);
  for (int tries = 0; tries < most_handoffs_tried; ++tries) {
    // The directory exists if this process has executed another program.
    if (mkdir(folder.c_str(), 0700) != 0 && !(errno == EEXIST && is_ours_alone(folder))) break;
    Descriptor held = hold(folder);
    if (held && is_there(held, folder)) return Gathering(folder, std::move(held));
  }
  return system_failure(Code::cannot_measure,
                        fmt::format("cannot collect the regions of programs: cannot create '{}'", folder.string()));
}

Gathering::Gathering(Gathering&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), held_(std::move(other.held_)) {}

Gathering::~Gathering() {
  std::error_code no_reader;
  // Usually it is empty.
  if (!folder_.empty() && rmdir(folder_.c_str()) != 0) fs::remove_all(folder_, no_reader);
}

Result<void> Gathering::ask(std::string_view text) const {
  auto output = Output::open_file(folder_ / asked);
  return output ? output->write(text) : fail(output.error());
}

std::string asked_in(const fs::path& folder) { return content(folder / asked); }

std::vector<std::string> Gathering::take() {
  constexpr std::size_t whole = std::numeric_limits<std::size_t>::max() - 1;  // with its trailing white space
  std::vector<std::string> texts;
  const std::vector<std::string> names = folder_entries(folder_);
  for (const std::string& name : names) {
    if (name.ends_with(part_suffix) || name == asked) continue;
    if (name.ends_with(memory_suffix)) {
      const std::string handoff = name.substr(0, name.size() - std::strlen(memory_suffix));
      // A process that has not ended may still hand over.
      if (!has_process_ended(handoff)) continue;
      const bool is_handed_over = std::binary_search(names.begin(), names.end(), handoff);
      std::string memory = is_handed_over ? "" : content(folder_ / name, whole);
      if (!memory.empty()) texts.push_back(std::move(memory));
    } else {
      texts.push_back(content(folder_ / name));
    }
    unlink((folder_ / name).c_str());
  }
  return texts;
}

std::optional<fs::path> gathered_in() {
  auto one = read_ancestor("self");
  // The kernel's limit on processes ends the loop, should the parents ever form a cycle.
  for (int tries = 0; one && one->parent > 0 && tries < 1 << 22; ++tries) {
    one = read_ancestor(std::to_string(one->parent));
    if (one && is_ours_alone(folder_of(*one))) return folder_of(*one);
  }
  return std::nullopt;
}

Result<void> hand_over(const fs::path& folder, std::string_view text) {
  const auto self = read_ancestor("self");
  if (!self) return fail(Code::cannot_write, "cannot pass regions to tally: /proc cannot be read");
  return write_handoff(folder / handoff_name(*self, 0), text);
}

fs::path SharedMemory::file() const { return handoff_.string() + memory_suffix; }

std::optional<SharedMemory> SharedMemory::create(const fs::path& folder) {
  const auto self = read_ancestor("self");
  constexpr int most_images = 10'000;
  for (int image = 1; self && image < most_images; ++image) {
    SharedMemory memory(folder / handoff_name(*self, image));
    const Descriptor created(open(memory.file().c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (created) return memory;
    if (errno != EEXIST) break;
  }
  return std::nullopt;
}

std::uint8_t* SharedMemory::append(std::size_t bytes) {
  // Beyond the limit on files the kernel sends SIGXFSZ, and a page without memory is SIGBUS.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < bytes_ + bytes) return nullptr;
  const Descriptor opened(open(file().c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!opened || fallocate(opened.get(), 0, static_cast<off_t>(bytes_), static_cast<off_t>(bytes)) != 0) return nullptr;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, opened.get(), static_cast<off_t>(bytes_));
  if (memory == MAP_FAILED) return nullptr;
  bytes_ += bytes;
  return static_cast<std::uint8_t*>(memory);
}

void SharedMemory::make_private(std::uint8_t* memory, std::size_t bytes, std::size_t used) {
  const std::vector<std::uint8_t> content(memory, memory + used);
  const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  if (mmap(memory, bytes, PROT_READ | PROT_WRITE, how, -1, 0) != MAP_FAILED)
    std::copy(content.begin(), content.end(), memory);
}

Result<void> SharedMemory::hand_over(std::string_view text) const {
  auto written = write_handoff(handoff_, text);
  if (written) unlink(file().c_str());
  return written;
}

}  // namespace tally::linux
