#include "tally/engine/translate/file_identity.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "tally/engine/translate/absent_code.hpp"

namespace tally::engine::translate {
namespace {

constexpr u64 to_read = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
constexpr u64 current_directory = static_cast<u64>(AT_FDCWD);
constexpr char deleted[] = " (deleted)";

LARGE alignas(8) u8 bytes_of_file[65536];

/// Reads at most sizeof bytes_of_file. Returns 0 if no bytes can be read.
u64 read_file(s64 fd, u64 offset, u64 bytes) {
  if (bytes > sizeof bytes_of_file) bytes = sizeof bytes_of_file;
  const s64 n = kernel(SYS_pread64, static_cast<u64>(fd), reinterpret_cast<u64>(bytes_of_file), bytes, offset);
  return n > 0 ? static_cast<u64>(n) : 0;
}

bool are_same(const void* a, const void* b, u64 n) {
  for (u64 i = 0; i < n; i++)
    if (static_cast<const u8*>(a)[i] != static_cast<const u8*>(b)[i]) return false;
  return true;
}

/// Appends a number in hexadecimal, in the format of the names in map_files.
char* put_hex(char* to, u64 n) {
  int shift = 60;
  while (shift > 0 && (n >> shift) == 0) shift -= 4;
  for (; shift >= 0; shift -= 4) *to++ = "0123456789abcdef"[n >> shift & 15];
  return to;
}

void set_identity(channel::FileIdentity& id, const struct stat& s) {
  id.device = s.st_dev;
  id.inode = s.st_ino;
  id.bytes = static_cast<u64>(s.st_size);
  id.modified_s = s.st_mtim.tv_sec;
  id.modified_ns = static_cast<u32>(s.st_mtim.tv_nsec);
}

bool is_mapped(const struct stat& s, const ListedMapping& m) { return S_ISREG(s.st_mode) && s.st_ino == m.inode; }

/// Finds the build id in `bytes` of ELF notes.
void find_build_id(const u8* notes, u64 bytes, channel::FileIdentity& id) {
  constexpr u64 name_bytes = 4;  // "GNU" with its zero
  for (u64 at = 0; at + sizeof(Elf64_Nhdr) + name_bytes <= bytes;) {
    Elf64_Nhdr head;
    copy(&head, notes + at, sizeof head);
    const u64 name = at + sizeof head, text = name + ((u64{head.n_namesz} + 3) & ~u64{3});
    if (text > bytes || head.n_descsz > bytes - text) return;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == name_bytes && are_same(notes + name, "GNU", name_bytes) &&
        head.n_descsz <= sizeof id.build_id) {
      id.build_id_bytes = head.n_descsz;
      copy(id.build_id, notes + text, head.n_descsz);
      return;
    }
    at = text + ((u64{head.n_descsz} + 3) & ~u64{3});
  }
}

void read_build_id(s64 fd, channel::FileIdentity& id) {
  constexpr u64 head_bytes = 4096;
  constexpr u32 segment_limit = 64;
  static Elf64_Phdr segments[segment_limit];
  const u64 n = read_file(fd, 0, head_bytes);
  Elf64_Ehdr head;
  if (n < sizeof head) return;
  copy(&head, bytes_of_file, sizeof head);
  if (!are_same(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > segment_limit)
    return;
  const u64 table_bytes = u64{head.e_phnum} * sizeof(Elf64_Phdr);
  if (head.e_phoff > n || table_bytes > n - head.e_phoff) return;
  copy(segments, bytes_of_file + head.e_phoff, table_bytes);
  for (u32 i = 0; i < head.e_phnum && id.build_id_bytes == 0; i++)
    if (segments[i].p_type == PT_NOTE)
      find_build_id(bytes_of_file, read_file(fd, segments[i].p_offset, segments[i].p_filesz), id);
}

}  // namespace

MappedFile::MappedFile(const ListedMapping& m) {
  if (m.inode == 0) return;
  struct stat s;
  const auto adopt = [&](s64 fd) {
    if (failed(fd)) return false;
    if (kernel(SYS_fstat, static_cast<u64>(fd), reinterpret_cast<u64>(&s)) != 0 || !S_ISREG(s.st_mode)) {
      kernel(SYS_close, static_cast<u64>(fd));
      return false;
    }
    fd_ = fd;
    return true;
  };
  // The most reliable way, which requires privileges.
  char link[64] = "self/map_files/";
  char* end = put_hex(link + sizeof "self/map_files/" - 1, m.start);
  *end++ = '-';
  *put_hex(end, m.end) = 0;
  LARGE static char path[sizeof m.path + 1];
  copy(path, m.path, m.path_bytes);
  path[m.path_bytes] = 0;
  // Another file may have the path of a deleted one, and even its inode.
  constexpr u32 suffix_bytes = sizeof deleted - 1;
  const bool is_deleted =
      m.path_bytes > suffix_bytes && are_same(path + m.path_bytes - suffix_bytes, deleted, suffix_bytes);
  if (adopt(open_own(link))) {
    set_identity(identity_, s);
  } else if (!is_deleted &&
             kernel(SYS_newfstatat, current_directory, reinterpret_cast<u64>(path), reinterpret_cast<u64>(&s), 0) ==
                 0 &&
             is_mapped(s, m)) {
    set_identity(identity_, s);
    // A user may be allowed to execute the file but not to read it.
    if (adopt(kernel(SYS_openat, current_directory, reinterpret_cast<u64>(path), to_read))) set_identity(identity_, s);
  } else if (adopt(open_own("self/exe"))) {
    if (is_mapped(s, m)) {
      set_identity(identity_, s);
    } else {
      kernel(SYS_close, static_cast<u64>(fd_));
      fd_ = -1;
    }
  }
  if (fd_ >= 0) read_build_id(fd_, identity_);
}

MappedFile::~MappedFile() {
  if (fd_ >= 0) kernel(SYS_close, static_cast<u64>(fd_));
}

bool find_same_bytes(s64 fd, u64 address, u64& start, u64& end, u64& offset) {
  constexpr u64 step = sizeof bytes_of_file;
  const auto is_same = [&](u64 from, u64 n) {
    return n > 0 && read_file(fd, offset + (from - start), n) == n && compare_code(bytes_of_file, from, n) == 0;
  };
  const auto bytes_at = [&](u64 from) { return end - from < step ? end - from : step; };
  u64 low = start + (address - start) / step * step, high = low + bytes_at(low);
  if (!is_same(low, bytes_at(low))) return false;
  while (low > start && is_same(low - step, step)) low -= step;
  while (high < end && is_same(high, bytes_at(high))) high += bytes_at(high);
  offset += low - start;
  start = low;
  end = high;
  return true;
}

}  // namespace tally::engine::translate
