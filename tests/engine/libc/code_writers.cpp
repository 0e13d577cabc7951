// Writes code in all ways, one random way after the other, and calls it. The code of an area of some pages consists of
// small random functions, some of which cross pages. Exit code 0 means that each call returned what the last written
// code returns, and that code which cannot be executed faulted.
//
// usage: code_writers SEED ROUNDS [threads]      threads: other threads write, too
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/engine/torture/code.hpp"

namespace {

using torture::Function;
using torture::Random;
using Byte = unsigned char;

constexpr size_t page = 4096, pages = 4, step = Function::room + 5;
constexpr uint32_t functions = pages * page / step;
constexpr int both = PROT_READ | PROT_WRITE, run = PROT_READ | PROT_EXEC, all = both | PROT_EXEC;

[[noreturn]] void fail(int line) {
  fprintf(stderr, "failed in line %d\n", line);
  exit(1);
}
void check(bool holds, int line = __builtin_LINE()) {
  if (!holds) fail(line);
}

Byte* map(size_t bytes, int protection, int flags = MAP_PRIVATE | MAP_ANONYMOUS, int file = -1) {
  void* const at = mmap(nullptr, bytes, protection, flags, file, 0);
  check(at != MAP_FAILED);
  return static_cast<Byte*>(at);
}

sigjmp_buf after_fault;
void on_fault(int) { siglongjmp(after_fault, 1); }

bool faults(const Byte* code) {
  if (sigsetjmp(after_fault, 1) != 0) return true;
  torture::call(code, 1);
  return false;
}

/// Bytes to write at an address.
struct Change {
  Byte* to;
  const Byte* from;
  size_t bytes;
};

void* write_it(void* change) {
  const Change& c = *static_cast<Change*>(change);
  memcpy(c.to, c.from, c.bytes);
  return nullptr;
}

void write_by_thread(Change c) {
  pthread_t thread;
  check(pthread_create(&thread, nullptr, write_it, &c) == 0 && pthread_join(thread, nullptr) == 0);
}

void write_by_kernel(const Change& c) {
  int ends[2];
  check(pipe(ends) == 0 && write(ends[1], c.from, c.bytes) == static_cast<ssize_t>(c.bytes));
  check(read(ends[0], c.to, c.bytes) == static_cast<ssize_t>(c.bytes));
  close(ends[0]);
  close(ends[1]);
}

void write_by_vector(const Change& c) {
  const iovec from{const_cast<Byte*>(c.from), c.bytes}, to{c.to, c.bytes};
  check(process_vm_writev(getpid(), &from, 1, &to, 1, 0) == static_cast<ssize_t>(c.bytes));
}

/// An area of code, which may be visible at a second address, where it is always writable.
class Area {
 public:
  Area(Random& random, bool is_dual, bool has_threads) : random_(random), has_threads_(has_threads) {
    if (is_dual) {
      const int file = memfd_create("code", MFD_CLOEXEC);
      check(file >= 0 && ftruncate(file, pages * page) == 0);
      code_ = map(pages * page, run, MAP_SHARED, file);
      second_ = map(pages * page, both, MAP_SHARED, file);
      close(file);
    } else {
      code_ = map(pages * page, both);
      second_ = code_;
    }
    for (uint32_t i = 0; i < functions; ++i) {
      function_[i] = Function::random(random_);
      function_[i].write(second_ + i * step);
    }
    check(mprotect(code_, pages * page, run) == 0);
  }

  void change() {
    const uint32_t changed = random_.below(functions);
    // Every fourth change writes what is there.
    if (random_.below(4) != 0) function_[changed] = Function::random(random_);
    Byte text[Function::room];
    const auto bytes = static_cast<size_t>(function_[changed].write(text));
    const size_t at = changed * step;
    if (second_ != code_)
      write_somehow({second_ + at, text, bytes});
    else
      change_private(at, text, bytes);
    call_some();
    check(torture::call(code_ + at, 77) == function_[changed](77));
  }

  void call_some() {
    for (uint32_t i = 0, n = random_.below(12); i < n; ++i) {
      const uint32_t one = random_.below(functions), x = random_();
      check(torture::call(code_ + one * step, x) == function_[one](x));
    }
  }

 private:
  void write_somehow(const Change& c) {
    switch (random_.below(has_threads_ ? 5 : 4)) {
      case 0: return write_by_kernel(c);
      case 1: return write_by_vector(c);
      case 4: return write_by_thread(c);
      default: memcpy(c.to, c.from, c.bytes);
    }
  }

  void change_private(size_t at, const Byte* text, size_t bytes) {
    // The pages of the change, or all.
    const size_t low = random_.below(2) == 0 ? 0 : at / page * page;
    const size_t high = low == 0 ? pages * page : (at + bytes + page - 1) / page * page;
    Byte* const start = code_ + low;
    const Change c{code_ + at, text, bytes};
    switch (random_.below(8)) {
      case 0:  // writable and executable for a while
        check(mprotect(start, high - low, all) == 0);
        torture::call(c.to, 5);
        write_somehow(c);
        check(torture::call(c.to, 5) == called(text, bytes, 5));
        call_some();
        break;
      case 1: return replace(start, high - low, c, false);
      case 2: return replace(start, high - low, c, true);
      case 3:  // unmapped for a while, at the same addresses
        check(mprotect(start, high - low, both) == 0);
        write_somehow(c);
        check(mprotect(code_, pages * page, PROT_NONE) == 0 && faults(c.to));
        check(mprotect(code_, pages * page, run) == 0);
        return;
      case 4: {  // zeroed and written again
        Byte copy[pages * page];
        memcpy(copy, code_, sizeof copy);
        check(mprotect(start, high - low, both) == 0 && madvise(start, high - low, MADV_DONTNEED) == 0);
        memcpy(start, copy + low, high - low);
        write_somehow(c);
        break;
      }
      default:
        check(mprotect(start, high - low, both) == 0);
        if (random_.below(8) == 0) check(faults(c.to));
        write_somehow(c);
    }
    check(mprotect(start, high - low, run) == 0);
  }

  /// Puts changed copies of pages in their place.
  static void replace(Byte* start, size_t bytes, const Change& c, bool by_move) {
    Byte* const copy = map(bytes, both);
    memcpy(copy, start, bytes);
    memcpy(copy + (c.to - start), c.from, c.bytes);
    if (by_move) {
      check(mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, start) == start);
    } else {
      check(mmap(start, bytes, both, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == start);
      memcpy(start, copy, bytes);
      munmap(copy, bytes);
    }
    check(mprotect(start, bytes, run) == 0);
  }

  /// What this code returns, executed elsewhere.
  static uint32_t called(const Byte* text, size_t bytes, uint32_t x) {
    static Byte* const elsewhere = map(page, all);
    memcpy(elsewhere, text, bytes);
    return torture::call(elsewhere, x);
  }

  Random& random_;
  bool has_threads_;
  Byte *code_, *second_;
  Function function_[functions];
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  struct sigaction action = {};
  action.sa_handler = on_fault;
  sigaction(SIGSEGV, &action, nullptr);
  Random random(static_cast<uint64_t>(atoi(argv[1])));
  const bool has_threads = argc > 3;
  Area one(random, false, has_threads), other(random, false, has_threads), dual(random, true, has_threads);
  Area* const areas[] = {&one, &other, &dual};
  for (int round = 0, rounds = atoi(argv[2]); round < rounds; ++round) {
    areas[random.below(3)]->change();
    areas[random.below(3)]->call_some();
  }
  puts("no difference");
  return 0;
}
