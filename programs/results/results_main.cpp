// tally-results: becomes the command whose name is its first argument.
#include "programs/results/result_commands.hpp"
#include "tally/tools/command/program_main.hpp"

int main(int argc, char** argv) {
  using namespace tally::results;
  constexpr tally::command::Program commands[] = {
      {"report", describe_report, run_report},
      {"export", describe_report, run_export},
      {"history", describe_history, run_history},
      {"bench", describe_bench, run_bench},
  };
  return tally::command::run_program_of(commands, argc, argv);
}
