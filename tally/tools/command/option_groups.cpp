#include "tally/tools/command/option_groups.hpp"

#include <algorithm>

namespace tally::command {

constinit const OptionGroup running_group{
    .name = "running",
    .summary = "set how the program is run",
    .text =
        "Repeatable runs:\n"
        "  # The same count in every run\n"
        "  tally stat --repeatable -- ./prog\n"
        "  # The same count on every machine\n"
        "  tally stat --repeatable --environment fixed --clock counted --cpu-model x86-64-v2 -- ./prog\n"};

constinit const OptionGroup attaching_group{
    .name = "attaching",
    .summary = "count running processes, CPUs or control groups",
    .text =
        "With a PROGRAM, `tally stat` counts until it ends, and so does `tally profile`.\n"
        "\n"
        "Attaching:\n"
        "  tally stat -p 1234 -I 1000 -e instructions,cycles\n"
        "  tally stat -a --per-core -- sleep 5\n"
        "  tally profile -p 1234 --calls\n"};

constinit const OptionGroup models_group{
    .name = "models",
    .summary = "simulate caches, branch prediction and the core of a machine; what instructions and cycles do",
    .text =
        "The engine simulates the machine while it executes the program, for events that it cannot count: cycles, "
        "cache misses and branch misses. Their counts are modelled.\n"
        "\n"
        "Simulation:\n"
        "  tally stat --model haswell -e cycles,L1-dcache-load-misses -- ./prog\n"
        "  tally stat --topdown -- ./prog      # memory, branches or the core?\n"
        "  tally profile --model ./machine.ini -e cycles -- ./prog\n"
        "\n"
        "Instructions:\n"
        "  tally stat --mix -- ./prog          # loads, arithmetic, vectors, branches?\n"
        "  tally profile --roofline -- ./prog  # how far from the machine's limits?\n"};

constinit const OptionGroup results_group{
    .name = "results",
    .summary = "compare with stored results, limit the growth of counts (gates), and keep a history",
    .text =
        "Baseline:\n"
        "  tally stat -o base.json -- ./prog      # the main branch\n"
        "  tally stat --baseline base.json --fail-above instructions=1% -- ./prog\n"
        "\n"
        "Gates:\n"
        "  --fail-above instructions=1%         at most 1 % more instructions\n"
        "  --fail-above branch-misses@parse=5%  of the function or region parse\n"
        "  --fail-above page-faults=100         at most 100 more\n"
        "  --fail-above task-clock=5ms          at most 5 ms more (or s, us, ns)\n"
        "\n"
        "A gate asks whether one count grew by more than its limit. It passes if the whole 99 % interval of the growth "
        "is within the limit, fails if all of it is above, and is undecided otherwise. Exact and modelled counts "
        "decide "
        "with one run on each side if both were counted with --repeatable and the program has one thread, or with 4 "
        "runs that agree; other counts need 5 runs or more.\n"
        "\n"
        "With --baseline, a program that fails keeps its exit code. If it exits with 0: 1 a gate failed, 3 a gate is "
        "undecided, 125 the results are not comparable, 2 a gate is wrong or its event is missing. The key `gate` of "
        "the JSON result says which.\n"};

std::span<const OptionGroup* const> option_groups() {
  static constexpr const OptionGroup* all[] = {&running_group, &attaching_group, &models_group, &results_group};
  return all;
}

const OptionGroup* find_group(std::string_view name) {
  const auto groups = option_groups();
  const auto found = std::ranges::find(groups, name, &OptionGroup::name);
  return found == groups.end() ? nullptr : *found;
}

std::vector<std::string> topic_names() {
  std::vector<std::string> names;
  for (const OptionGroup* group : option_groups()) names.emplace_back(group->name);
  return names;
}

}  // namespace tally::command
