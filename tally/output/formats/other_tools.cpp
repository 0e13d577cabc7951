#include "tally/output/formats/other_tools.hpp"

namespace tally::report {

std::span<const OtherTool> other_tools() {
  static constexpr OtherTool tools[] = {
      {"google-benchmark --benchmark_format=json", is_google_benchmark, read_google_benchmark},
      {"hyperfine --export-json", is_hyperfine, read_hyperfine},
      {"perf stat -j", is_perf_json, read_perf_json},
      {"valgrind --tool=callgrind", is_callgrind, read_callgrind},
  };
  return tools;
}

}  // namespace tally::report
