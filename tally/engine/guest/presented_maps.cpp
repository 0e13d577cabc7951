#include "tally/engine/guest/presented_maps.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "tally/engine/decimal.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/mapping_list.hpp"
#include "tally/engine/guest/presented_sizes.hpp"
#include "tally/engine/inherited.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/exec_regions.hpp"
#include "tally/engine/translate/watching.hpp"

namespace tally::engine::guest {
namespace {

constexpr s64 bad_address = -EFAULT;

struct ListFile {
  u64 device, inode;
  ListForm form;
};

/// The files that the program opened, under lock_code(); the oldest is replaced first. A thread's file is another one.
constexpr u32 file_limit = 256;
LARGE ListFile files[file_limit];
u32 file_count;
bool has_other_devices;  // than that of the first file: another /proc

/// The list that is being read, under lock_code(). It is kept for the next part, as far as a program reads in sequence.
struct {
  MappingList list;
  ListFile file;
  u64 first;    // the position of the first byte of the list
  u64 next;     // the position after the last part
  u32 changes;  // the number of changes of mappings before it was read
  bool is_complete;
} current_list;

u32 changes;

/// Blocks changes of the code caches and of protected pages.
struct ListGuard {
  ListGuard() { lock_code(); }
  ~ListGuard() { unlock_code(); }
  ListGuard(const ListGuard&) = delete;
  ListGuard& operator=(const ListGuard&) = delete;

 private:
  Guard cache_{cache_lock};
};

/// Appends `text`, or a number, to a path.
char* append(char* to, const char* text) {
  while (*text != 0) *to++ = *text++;
  *to = 0;
  return to;
}
char* append(char* to, u64 number) {
  to = write_decimal(to, number);
  *to = 0;
  return to;
}

/// Whether [text, end) ends in `name`; if so, removes it.
bool cut(const char* text, const char*& end, const char* name) {
  const u64 n = length(name);
  if (static_cast<u64>(end - text) < n) return false;
  for (u64 i = 0; i < n; i++)
    if (end[static_cast<s64>(i) - static_cast<s64>(n)] != name[i]) return false;
  end -= n;
  return true;
}

/// Reads which process or thread the file of /proc is about from its name. Returns false if it is not a list.
bool parse_name(const char* name, u64 bytes, ListForm& form, u64& number) {
  const char* end = name + bytes;
  if (cut(name, end, "/maps"))
    form = ListForm::maps;
  else if (cut(name, end, "/smaps"))
    form = ListForm::smaps;
  else if (cut(name, end, "/numa_maps"))
    form = ListForm::numa_maps;
  else if (cut(name, end, "/status"))
    form = ListForm::status;
  else if (cut(name, end, "/statm"))
    form = ListForm::statm;
  else if (cut(name, end, "/stat"))
    form = ListForm::stat;
  else
    return false;
  const char* const last = end;
  number = 0;
  for (u64 unit = 1; end > name && end[-1] >= '0' && end[-1] <= '9'; end--, unit *= 10)
    number += static_cast<u64>(end[-1] - '0') * unit;
  return end < last;
}

/// Whether this number is that of a thread of the process, in the process numbers of the /proc that the file is in.
bool is_own_number(const struct stat& file, u64 number) {
  const u64 proc = inherited(channel::inherited_proc);
  struct stat own;
  char path[48];
  append(append(path, "self/task/"), number);
  const auto find = [&](const char* name) {
    return kernel(SYS_newfstatat, proc, reinterpret_cast<u64>(name), reinterpret_cast<u64>(&own), 0) == 0;
  };
  if (find("self") && own.st_dev == file.st_dev) return find(path);
  return kernel(SYS_tgkill, static_cast<u64>(kernel(SYS_getpid)), number, 0) == 0;
}

/// The entry of a file, or null. The caller must hold lock_code().
ListFile* entry_of(u64 device, u64 inode) {
  const u32 n = file_count < file_limit ? file_count : file_limit;
  for (u32 i = 0; i < n; i++)
    if (files[i].inode == inode && files[i].device == device) return &files[i];
  return nullptr;
}

bool find_file(u64 fd, ListFile& found) {
  struct stat s;
  // Most files are on other devices, which needs no lock.
  if (kernel(SYS_fstat, fd, reinterpret_cast<u64>(&s)) != 0 ||
      (s.st_dev != __atomic_load_n(&files[0].device, __ATOMIC_RELAXED) && !has_other_devices))
    return false;
  lock_code();
  const ListFile* const entry = entry_of(s.st_dev, s.st_ino);
  if (entry != nullptr) found = *entry;
  unlock_code();
  return entry != nullptr;
}

/// Whether the current list is that of this file, and the program continues to read it here.
bool continues(const ListFile& file, u64 at) {
  return current_list.is_complete && at != 0 && at == current_list.next && file.device == current_list.file.device &&
         file.inode == current_list.file.inode;
}

/// Returns where a read of `wanted` bytes at `at` ends. As in the kernel, it ends with the mapping of which a part was
/// read before, plus as many whole mappings as fit into a page, cut at the number of bytes wanted.
u64 end_of_read(const MappingList& list, u64 at, u64 wanted) {
  if (at >= list.bytes) return at;
  const u64 limit = at + wanted;
  u64 end = list.starts_mapping(at) ? at : list.end_of_mapping(at);
  if (end >= limit) return limit;
  if (!lists_mappings(list.form)) return list.bytes < limit ? list.bytes : limit;
  u64 room = page_bytes;
  for (const u64 start = end; end < list.bytes && end < limit;) {
    const u64 next = list.end_of_mapping(end);
    while (end == start && next - start >= room) room *= 2;
    if (next - start >= room) break;
    end = next;
  }
  return end < limit ? end : limit;
}

/// Makes the current list that of the file, for a part at this position. Returns false if it cannot be read.
bool prepare_list(u64 fd, const ListFile& file, u64 at) {
  const u32 now = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
  const bool goes_on = continues(file, at);
  if (goes_on && current_list.changes == now) return true;
  // As in the kernel, the rest of a mapping stays as it was, and the mappings at higher addresses are those of now.
  const bool is_list = lists_mappings(file.form);
  const bool has_rest = goes_on && is_list && keep_rest(current_list.list, at - current_list.first);
  current_list.is_complete = false;
  if (!(is_list ? read_mapping_list(fd, file.form, current_list.list) : read_sizes(fd, file.form, current_list.list)))
    return false;
  current_list.file = file;
  current_list.first = has_rest ? at - put_rest_first(current_list.list) : 0;
  current_list.changes = now;
  current_list.is_complete = true;
  return true;
}

/// The program's position in the file moves by `bytes`. Reading on is cheap for the kernel, while a seek lists all
/// mappings up to there. The kernel's list is at least as long.
void advance(u64 fd, u64 bytes) {
  static char part[page_bytes];
  while (bytes > 0) {
    const s64 n = kernel(SYS_read, fd, reinterpret_cast<u64>(part), bytes < sizeof part ? bytes : sizeof part);
    if (failed(n) || n == 0) break;
    bytes -= static_cast<u64>(n);
  }
  if (bytes > 0) kernel(SYS_lseek, fd, bytes, SEEK_CUR);
}

/// Reads at most `bytes` bytes to `to`. `at`: null for the file's own position.
s64 read_part(u64 fd, const ListFile& file, u64 to, u64 bytes, const u64* at) {
  char text[2 * page_bytes];
  u64 n = 0;
  {
    ListGuard guard;
    const s64 position = at != nullptr ? static_cast<s64>(*at) : kernel(SYS_lseek, fd, 0, SEEK_CUR);
    if (failed(position)) return position;
    const u64 from = static_cast<u64>(position);
    if (!prepare_list(fd, file, from)) return not_a_list;
    const u64 offset = from - current_list.first;
    n = end_of_read(current_list.list, offset, bytes < sizeof text ? bytes : sizeof text) - offset;
    copy(text, current_list.list.text + offset, n);
    current_list.next = from + n;
  }
  if (n == 0) return 0;
  if (anything_watched()) open_for_kernel(to, n);
  if (put(to, text, n) != 0) return bad_address;
  if (at == nullptr) {
    ListGuard guard;
    advance(fd, n);
  }
  return static_cast<s64>(n);
}

}  // namespace

void note_changed_mappings() { __atomic_add_fetch(&changes, 1, __ATOMIC_ACQ_REL); }

void note_opened_file(u64 fd, u64 flags) {
  struct statfs file_system;
  constexpr s64 of_proc = 0x9fa0;
  if ((flags & (O_PATH | O_DIRECTORY)) != 0) return;
  if (kernel(SYS_fstatfs, fd, reinterpret_cast<u64>(&file_system)) != 0 || file_system.f_type != of_proc) return;
  char link[48], name[4096];
  append(append(link, "thread-self/fd/"), fd);
  const s64 bytes = kernel(SYS_readlinkat, inherited(channel::inherited_proc), reinterpret_cast<u64>(link),
                           reinterpret_cast<u64>(name), sizeof name);
  ListFile file{};
  u64 number = 0;
  struct stat s;
  if (failed(bytes) || !parse_name(name, static_cast<u64>(bytes), file.form, number)) return;
  if (kernel(SYS_fstat, fd, reinterpret_cast<u64>(&s)) != 0 || !is_own_number(s, number)) return;
  file.device = s.st_dev;
  file.inode = s.st_ino;
  lock_code();
  if (ListFile* const entry = entry_of(file.device, file.inode)) {
    *entry = file;
  } else {
    if (file_count != 0 && file.device != files[0].device) has_other_devices = true;
    files[file_count % file_limit] = file;
    __atomic_store_n(&file_count, file_count + 1, __ATOMIC_RELEASE);
  }
  unlock_code();
}

s64 read_presented_maps(Thread* t) {
  const u64* const g = t->gpr;
  const u64 number = g[rax], fd = g[rdi];
  constexpr u64 most_vectors = 1024;
  ListFile file;
  if (__atomic_load_n(&file_count, __ATOMIC_ACQUIRE) == 0 || !find_file(fd, file)) return not_a_list;
  if (number == SYS_read) return read_part(fd, file, g[rsi], g[rdx], nullptr);
  u64 at = g[r10];
  if (number == SYS_preadv2 && g[r9] != 0) return not_a_list;
  const bool has_offset = number != SYS_readv && !(number == SYS_preadv2 && at == ~u64{0});
  // The kernel refuses these.
  if ((has_offset && static_cast<s64>(at) < 0) || (number != SYS_pread64 && g[rdx] > most_vectors)) return not_a_list;
  const u64* const offset = has_offset ? &at : nullptr;
  if (number == SYS_pread64) return read_part(fd, file, g[rsi], g[rdx], offset);
  u64 sum = 0, vector[2];  // struct iovec
  for (u64 i = 0; i < g[rdx]; i++) {
    if (get(vector, g[rsi] + i * sizeof vector, sizeof vector) != 0)
      return sum != 0 ? static_cast<s64>(sum) : bad_address;
    if (vector[1] == 0) continue;
    const s64 n = read_part(fd, file, vector[0], vector[1], offset);
    if ((n == not_a_list || failed(n)) && sum == 0) return n;
    if (n == not_a_list || failed(n)) break;
    at += static_cast<u64>(n);
    sum += static_cast<u64>(n);
    if (static_cast<u64>(n) < vector[1]) break;
  }
  return static_cast<s64>(sum);
}

}  // namespace tally::engine::guest
