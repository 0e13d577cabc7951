/// Files that describe the machine, and what programs read in them instead (Settings::repeatable).
///
/// Freestanding: included by channel.hpp.
#pragma once
#include <stdint.h>

namespace tally::channel {

/// A list of files. The content of each follows its path.
struct PresentedFiles {
  struct Head {
    uint32_t path_bytes;  ///< with a zero at the end
    uint32_t content_bytes;
  };
  struct Content {
    const char* text;  ///< null: programs read the real file
    uint32_t bytes;
  };

  uint32_t bytes;  ///< of the list
  char list[16380];

  /// Adds a file; a full list stays as it is, and programs then read the real one. `path_bytes`: with the final zero.
  void add(const char* path, uint32_t path_bytes, const char* content, uint32_t content_bytes) {
    if (sizeof(Head) + uint64_t{path_bytes} + content_bytes > sizeof list - bytes) return;
    const Head head{path_bytes, content_bytes};
    append(&head, sizeof head);
    append(path, path_bytes);
    append(content, content_bytes);
  }

  Content find(const char* path) const {
    Head head;
    for (uint64_t at = 0, end = bytes < sizeof list ? bytes : 0; at + sizeof head <= end;
         at += sizeof head + uint64_t{head.path_bytes} + head.content_bytes) {
      __builtin_memcpy(&head, list + at, sizeof head);
      if (uint64_t{head.path_bytes} + head.content_bytes > end - at - sizeof head) break;
      const char* const known = list + at + sizeof head;
      uint32_t i = 0;
      while (i < head.path_bytes && known[i] == path[i] && path[i] != 0) i++;
      if (i + 1 == head.path_bytes && path[i] == 0) return {known + head.path_bytes, head.content_bytes};
    }
    return {nullptr, 0};
  }

 private:
  void append(const void* from, uint32_t n) {
    __builtin_memcpy(list + bytes, from, n);
    bytes += n;
  }
};

/// The names of the presented machine. Programs that check the kernel's release use nothing newer; nothing depends on
/// the build of the real kernel.
inline constexpr char presented_host[] = "localhost", presented_domain[] = "(none)", presented_release[] = "5.10.0",
                      presented_version[] = "#1 SMP";

/// The memory of the presented machine, in bytes.
inline constexpr uint64_t presented_memory = uint64_t{4} << 30, presented_free_memory = presented_memory / 2;

}  // namespace tally::channel
