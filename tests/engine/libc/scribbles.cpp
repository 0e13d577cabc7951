// Writes over the memory that the engine shares with the command, as a stray pointer may. Natively there is none. The
// argument selects what is written: over counters, over the records of processes and threads, or zeroes over these.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace {

char maps[1 << 20];

bool read_maps() {
  // The process does not see the engine's mappings in its own list, but another process does.
  char command[64];
  snprintf(command, sizeof command, "cat /proc/%d/maps", getpid());
  FILE* const list = popen(command, "r");
  const size_t bytes = list != nullptr ? fread(maps, 1, sizeof maps - 1, list) : 0;
  return bytes > 0 && pclose(list) == 0;
}

void write_over(char* at, uint64_t bytes, const char* how) {
  constexpr uint64_t most = 128 << 10;
  const uint64_t n = bytes < most ? bytes : most;
  if (strcmp(how, "zeroes") == 0) {
    memset(at, 0, n);
  } else if (strcmp(how, "records") == 0) {
    memset(at, 0xff, n);
  } else {
    for (uint64_t i = 0; i < n / 8; ++i) reinterpret_cast<uint64_t*>(at)[i] ^= (i + 1) * 0x9E3779B97F4A7C15u >> 2;
  }
}

/// The offsets of the records of threads and of processes.
constexpr uint64_t header_bytes = 64 << 10, processes_bytes = 256 << 20;

}  // namespace

int main(int, char** words) {
  if (!read_maps()) return 1;
  const bool counters = strcmp(words[1], "counters") == 0;
  for (char* line = maps; *line != 0;) {
    char* const end = strchr(line, '\n');
    *end = 0;
    uint64_t from = 0, to = 0, offset = 0;
    char rights[8] = {};
    const bool is_channel = strstr(line, "/memfd:tally (deleted)") != nullptr &&
                            sscanf(line, "%lx-%lx %7s %lx", &from, &to, rights, &offset) == 4 && rights[1] == 'w';
    if (is_channel && counters == (offset != 0)) {
      char* const at = reinterpret_cast<char*>(from);
      if (offset != 0) write_over(at, to - from, words[1]);
      if (offset == 0) write_over(at + header_bytes, processes_bytes, words[1]);
      if (offset == 0) write_over(at + header_bytes + processes_bytes, processes_bytes, words[1]);
    }
    line = end + 1;
  }
  puts("still here");
  return 3;
}
