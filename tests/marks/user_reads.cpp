// Reads counters as libtally's regions do if the kernel permits it, on pages that the kernel did not make. Run under
// `tally stat --rdpmc -e far-branches`: then reads of the processor's counters return the engine's.
#include <unistd.h>

#include <cstdio>

#include "tally/linux/perf/user_counter.hpp"

extern "C" void known(long n);

using tally::linux::CounterPage;
using tally::linux::UserCounter;

namespace {

constexpr std::uint64_t may_be_read = 1u << 1 | 1u << 2;
constexpr std::uint32_t instructions = 0x40000000, first_event = 0;

// In the kernel's form for a counter that is in `selector`.
CounterPage page_of(std::uint32_t selector, std::uint16_t width, std::int64_t offset) {
  CounterPage page{};
  page.sequence = (std::uint64_t{selector} + 1) << 32 | 2;
  page.capabilities = may_be_read;
  page.width = width;
  page.offset = offset;
  return page;
}

std::int64_t value_of(UserCounter& counter) {
  std::int64_t value = 0;
  if (!counter.read(value)) std::puts("not read");
  return value;
}

std::int64_t counted(UserCounter& counter, long n) {
  const std::int64_t before = value_of(counter);
  known(n);
  return value_of(counter) - before;
}

}  // namespace

int main() {
  const CounterPage fixed = page_of(instructions, 48, 1'000'000'000'000);
  UserCounter count{.page = &fixed};
  counted(count, 1);  // the page is read once
  std::printf("%lld more instructions\n", static_cast<long long>(counted(count, 101) - counted(count, 1)));
  std::printf("above the offset: %d\n", value_of(count) > fixed.offset && value_of(count) < fixed.offset + 100'000'000);

  // System calls are the far branches; a read has none.
  const CounterPage whole = page_of(first_event, 48, 0), byte = page_of(first_event, 8, 1000);
  UserCounter wide{.page = &whole}, narrow{.page = &byte};
  while (value_of(wide) % 256 != 200) (void)getppid();
  std::printf("8 bits of 200: %lld\n", static_cast<long long>(value_of(narrow)));
  while (value_of(wide) % 256 != 100) (void)getppid();
  std::printf("8 bits of 100: %lld\n", static_cast<long long>(value_of(narrow)));

  // The counter is removed from the processor, and restored with another offset.
  CounterPage moving = page_of(first_event, 48, 0);
  UserCounter moved{.page = &moving};
  const std::int64_t before = value_of(moved);
  moving.sequence = 3;
  std::int64_t value = 0;
  std::printf("index 0: %d\n", moved.read(value));
  moving = page_of(first_event, 48, 7);
  moving.sequence += 2;
  // Two system calls may be between, of the printing.
  std::printf("back: %d\n", value_of(moved) - before >= 7 && value_of(moved) - before <= 9);
}
