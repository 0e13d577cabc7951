#include "tally/linux/gathering.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "tally/base/text.hpp"
#include "tally/linux/files.hpp"
#include "tally/linux/output.hpp"
#include "tally/linux/system.hpp"

namespace tally::linux {
namespace {

namespace fs = std::filesystem;

struct Ancestor {
  std::int64_t pid = 0, parent = 0;
  std::string started;  // in ticks since the machine's start
};

// Of proc_pid_stat(5); the second field may hold anything but its own closing bracket's last one.
std::optional<Ancestor> look_at(const std::string& pid) {
  const std::string text = content("/proc/" + pid + "/stat");
  const std::size_t behind = text.rfind(')');
  if (behind == std::string::npos) return std::nullopt;
  const auto fields = split(text.substr(behind + 2), ' ');
  constexpr std::size_t parent = 4 - 3, started = 22 - 3;
  if (fields.size() <= started) return std::nullopt;
  return Ancestor{parse_integer(text.substr(0, text.find(' '))).value_or(0), parse_integer(fields[parent]).value_or(0),
                  fields[started]};
}

// Not TMPDIR: a program may have another one than the command. And not /tmp: programs look at what lies there.
fs::path folder_of(const Ancestor& one) {
  return fmt::format("/dev/shm/tally-regions-{}-{}-{}", geteuid(), one.pid, one.started);
}

bool is_ours_alone(const fs::path& folder) {
  struct stat status {};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & 077) == 0;
}

}  // namespace

Result<Gathering> Gathering::open() {
  const auto self = look_at("self");
  if (!self) return fail(Code::cannot_measure, "the regions of programs are not gathered: /proc cannot be read");
  const fs::path folder = folder_of(*self);
  // It is there where this process has become another program, by exec.
  if (mkdir(folder.c_str(), 0700) != 0 && !(errno == EEXIST && is_ours_alone(folder))) {
    return system_failure(Code::cannot_measure,
                          fmt::format("the regions of programs are not gathered: cannot make '{}'", folder.string()));
  }
  return Gathering(folder);
}

Gathering::Gathering(Gathering&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}

Gathering::~Gathering() {
  std::error_code nobody_is_told;
  if (!folder_.empty()) fs::remove_all(folder_, nobody_is_told);
}

std::vector<std::string> Gathering::take() {
  std::vector<std::string> texts;
  for (const std::string& name : folder_entries(folder_)) {
    if (name.ends_with(".part")) continue;
    texts.push_back(content(folder_ / name));
    unlink((folder_ / name).c_str());
  }
  return texts;
}

std::optional<fs::path> gathered_in() {
  auto one = look_at("self");
  // The kernel's own bound of processes ends the row, should it ever run in a circle.
  for (int tries = 0; one && one->parent > 0 && tries < 1 << 22; ++tries) {
    one = look_at(std::to_string(one->parent));
    if (one && is_ours_alone(folder_of(*one))) return folder_of(*one);
  }
  return std::nullopt;
}

Result<void> hand_over(const fs::path& folder, std::string_view text) {
  const auto self = look_at("self");
  if (!self) return fail(Code::cannot_write, "cannot hand regions over: /proc cannot be read");
  // So that their order is that of the starts.
  const fs::path place = folder / fmt::format("{:0>20}-{:0>10}", self->started, self->pid);
  const fs::path part = place.string() + ".part";
  auto output = Output::open_file(part);
  if (!output) return fail(output.error());
  if (auto written = output->write(text); !written) return written;
  if (rename(part.c_str(), place.c_str()) != 0) {
    return system_failure(Code::cannot_write, fmt::format("cannot hand regions over in '{}'", folder.string()));
  }
  return {};
}

}  // namespace tally::linux
