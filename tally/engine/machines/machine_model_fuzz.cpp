// The libFuzzer target; ./dev fuzz runs it.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tally/engine/machines/machine_model.hpp"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void check_level(const tally::models::CacheShape& shape) {
  if (shape.sets == 0) return;
  require(shape.ways >= 1 && shape.ways <= tally::models::most_ways, "ways that a table can have");
  require(shape.line_bits >= 5 && shape.line_bits <= 30, "lines that a table can have");
  require(shape.size_bytes() <= std::uint64_t{1} << 50, "a size that does not overflow");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1000) return 0;  // longer texts exercise nothing new
  const auto machine = tally::machines::parse({reinterpret_cast<const char*>(data), size}, "fuzzer");
  if (!machine) {
    require(machine.error().code == tally::Code::bad_usage && !machine.error().message.empty() &&
                !machine.error().hint.empty(),
            "an error has words");
    return 0;
  }
  const auto again = tally::machines::parse(tally::machines::text_of(*machine), "again");
  require(again && *again == *machine, "a machine's text is it again");
  for (const auto& shape : {machine->caches.l1i, machine->caches.l1d, machine->caches.l2, machine->caches.llc,
                            machine->tlbs.itlb, machine->tlbs.dtlb, machine->tlbs.stlb})
    check_level(shape);
  return 0;
}
