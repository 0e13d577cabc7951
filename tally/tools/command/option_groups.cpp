#include "tally/tools/command/option_groups.hpp"

#include <algorithm>

namespace tally::command {

constinit const OptionGroup running_group{.name = "running",
                                          .summary = "set how the program is run",
                                          .text =
                                              "Repeatable runs:\n"
                                              "  # The same count in every run of a program with one thread\n"
                                              "  tally stat --repeatable -- ./prog\n"
                                              "  # The same count on every machine\n"
                                              "  tally stat --repeatable --environment fixed --clock counted \\\n"
                                              "    --cpu-model x86-64-v2 -- ./prog\n"};

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
        "cache misses and branch misses. Their counts are modelled. A note names the model: caches by size and ways, "
        "TLBs by entries, prefetchers.\n"
        "\n"
        "Cycles are the time of instructions on a core, of misses of caches and TLBs, and of mispredictions. Their "
        "error is that of 20 programs, measured on the processor that the note names; --native estimates that of "
        "yours. "
        "Instructions without timing data have no latency. Other programs may use the last level, too: after `tally "
        "memory`, --model host has the latencies and the part of the last level that programs get here.\n"
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

constinit const OptionGroup counting_group{
    .name = "counting",
    .summary = "choose events, and how they are counted",
    .text =
        "EVENTS are names listed by `tally events` (instructions, branches, loads, page-faults), names of perf (cs, "
        "LLC-loads), of libpfm4 (hsw::BR_INST_RETIRED:CONDITIONAL) or of the kernel (cpu/event=0xc4,umask=0x1/), or "
        "codes (r01c4, 0x4101C4). :u counts user mode (the default), :k the kernel, :uk both. {a,b} is a group: its "
        "events are counted at the same time. `tally event NAME` explains an event.\n"};

constinit const OptionGroup regions_group{
    .name = "regions",
    .summary = "count functions and regions of the program",
    .text =
        "LOCATION is a function, function+0x10, or an address in the program file (0x...). FILE: before it names a "
        "library.\n"
        "\n"
        "Regions:\n"
        "  tally stat --function parse -- ./prog\n"
        "  tally stat --from parse+0x10 --to parse+0x80 -- ./prog\n"
        "  tally sample --every 10k --start-at main -- ./prog\n"};

constinit const OptionGroup code_group{.name = "code",
                                       .summary = "count instructions that you write, instead of a program",
                                       .text =
                                           "Code:\n"
                                           "  tally stat --model haswell --asm 'imul r12, r11'\n"
                                           "  tally stat --asm 'mov rax, [r14]' --init 'mov [r14], r14' -e loads\n"};

constinit const OptionGroup output_group{
    .name = "output",
    .summary = "choose what a result contains, and where it is written",
    .text =
        "The suffix of the -o file selects a format. Each command has its own formats: `tally help COMMAND` lists "
        "them. `tally report` converts stored results to another format.\n"
        "\n"
        "Results:\n"
        "  tally stat --format csv -o result.csv -- make -j4\n"
        "  tally stat --format csv --append -o series.csv -- ./prog\n"
        "  tally report result.json --format csv\n"};

constinit const OptionGroup files_group{
    .name = "formats",
    .summary = "set what some formats of a profile contain",
    .text =
        "Profiles for other programs:\n"
        "  # KCachegrind; genhtml\n"
        "  tally profile --format callgrind --asm -o callgrind.out -- ./prog\n"
        "  tally profile -o prog.info --include 'src/*' --fail-under 80% -- ./prog\n"};

constinit const OptionGroup trust_topic{
    .name = "trust",
    .summary = "how reliable a count is: exact, counted, partial and others",
    .text =
        "Every count has a trust grade, and a reason if something limits it. What was not counted is absent, never "
        "0.\n"
        "\n"
        "Grades:\n"
        "  exact      proved by construction: the engine counts executed instructions\n"
        "  counted    counted by the processor's counters or by the kernel\n"
        "  scaled     extrapolated: events shared the counters in turns\n"
        "  sampled    estimated from samples, with a confidence interval\n"
        "  estimated  computed from measured values: time multiplied by frequency\n"
        "  modelled   computed by a named model of a machine (--model)\n"
        "  partial    something is missing or included that should not be\n"
        "  absent     no number; the reason says why\n"
        "\n"
        "`tally verify` checks the grades on this machine with programs whose counts are known. `tally doctor` says "
        "why an event cannot be counted, and how to fix it.\n"};

constinit const OptionGroup exit_topic{
    .name = "exit",
    .summary = "exit codes of tally",
    .text =
        "The exit code is that of the measured program, or 128+N if signal N killed it. Errors of tally itself: 2 bad "
        "usage, 125 tally could not measure or write, 126 the program cannot be executed, 127 the program was not "
        "found. Commands that answer a question return 1 for no.\n"
        "\n"
        "Gates (--fail-above), of `tally stat`, `compare` and `bench`:\n"
        "  0    every gate passed\n"
        "  1    a count grew by more than its limit\n"
        "  3    undecided (compare: or not comparable)\n"
        "\n"
        "`tally help COMMAND` lists the codes of a command that has others.\n"};

std::span<const OptionGroup* const> option_groups() {
  static constexpr const OptionGroup* all[] = {&running_group, &attaching_group, &counting_group, &regions_group,
                                               &code_group,    &models_group,    &results_group,  &output_group,
                                               &files_group,   &trust_topic,     &exit_topic};
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
