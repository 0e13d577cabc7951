#include "tally/engine/guest/presented_pmu_files.hpp"

#include <fcntl.h>
#include <sys/vfs.h>

#include "tally/engine/decimal.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/inherited.hpp"
#include "tally/engine/translate/entry.hpp"

namespace tally::engine::guest {
namespace {

/// The directories whose files are in PresentedPmu::folder.
constexpr const char* presented_directories[] = {"/sys/bus/event_source/devices", "/sys/devices/cpu"};

/// Whether the first argument of a call is a descriptor that its path, the second one, is relative to.
bool is_relative_to_first(u64 call) {
  constexpr u64 openat2 = 437, faccessat2 = 439;
  return call == SYS_openat || call == openat2 || call == SYS_newfstatat || call == SYS_statx ||
         call == SYS_faccessat || call == faccessat2 || call == SYS_readlinkat;
}

/// Whether the path is one of a directory or of a file below it, however many slashes it has.
bool is_below(const char* path, const char* directory) {
  while (*directory != 0) {
    if (*path != *directory) return false;
    while (*path == '/' && (path[1] == '/' || (path[1] == '.' && path[2] == '/'))) path += path[1] == '/' ? 1 : 2;
    path++, directory++;
  }
  return *path == 0 || *path == '/';
}

/// Writes the path of a directory to `to`: the current one, or the one in /sys that a descriptor refers to. Returns its
/// length; 0: none.
u64 read_directory(u64 number, char* to, u64 room) {
  if (static_cast<s32>(number) == AT_FDCWD) {
    const s64 n = kernel(SYS_getcwd, reinterpret_cast<u64>(to), room);
    return failed(n) ? 0 : static_cast<u64>(n) - 1;
  }
  constexpr s64 of_sys = 0x62656572;  // SYSFS_MAGIC
  struct statfs s;
  if (failed(kernel(SYS_fstatfs, number, reinterpret_cast<u64>(&s))) || s.f_type != of_sys) return 0;
  char link[48] = "thread-self/fd/";
  *write_decimal(link + sizeof "thread-self/fd/" - 1, number & 0xffffffff) = 0;
  const s64 n = kernel(SYS_readlinkat, inherited(channel::inherited_proc), reinterpret_cast<u64>(link),
                       reinterpret_cast<u64>(to), room);
  return failed(n) ? 0 : static_cast<u64>(n);
}

}  // namespace

PmuPath::PmuPath(Thread* t) : thread_(t) {
  if (settings().pmu.folder[0] != 0) resolve();
}

void PmuPath::resolve() {
  const char* const folder = settings().pmu.folder;
  const u64 before = length(folder), room = sizeof text_ - 1;
  u64* const g = thread_->gpr;
  const bool has_directory = is_relative_to_first(g[rax]);
  u64& path = g[has_directory ? rsi : rdi];
  char* const own = text_ + before;
  char first = 0;
  if (get(&first, path, 1) != 0 || first == 0) return;
  u64 at = before;
  if (first != '/') {
    at += read_directory(has_directory ? g[rdi] : static_cast<u64>(s64{AT_FDCWD}), own, room - before);
    if (at == before) return;
    text_[at++] = '/';
  }
  if (at >= room) return;
  const u64 end = room - safe_copy(text_ + at, reinterpret_cast<const void*>(path), room - at);
  text_[end] = 0;
  // A longer path is not one of the PMU's.
  if (at + length(text_ + at) == room) return;
  bool is_presented = false;
  for (const char* const directory : presented_directories) is_presented = is_presented || is_below(own, directory);
  if (!is_presented) return;
  copy(text_, folder, before);
  register_ = &path;
  path_ = path;
  path = reinterpret_cast<u64>(text_);
}

PmuPath::~PmuPath() {
  if (register_ != nullptr) *register_ = path_;
}

}  // namespace tally::engine::guest
