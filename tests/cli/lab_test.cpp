// `tally lab` as a user types it. The programs in examples/lab are golden tests: their output is in tests/golden/lab,
// and TALLY_REBASE=1 rewrites it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/lab.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

#if TALLY_HAS_LAB
// The words after "; tally lab" in the first line, and the file.
Words command_of(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  Words words;
  std::istringstream all(line);
  std::string word;
  all >> word >> word >> word;
  while (all >> word) words.push_back(word);
  words.push_back(file.string());
  return words;
}

std::vector<std::string> examples() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(TALLY_LAB_EXAMPLES)) {
    if (entry.path().extension() == ".asm" || entry.path().extension() == ".s") {
      names.push_back(entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class LabExamples : public testing::TestWithParam<std::string> {};

TEST_P(LabExamples, print_their_golden_output) {
  const fs::path file = fs::path(TALLY_LAB_EXAMPLES) / GetParam();
  if (file.extension() == ".s") {
    TALLY_NEEDS_ARM_ASSEMBLER();
  } else {
    TALLY_NEEDS_NASM();
  }
  const Finished finished = lab(command_of(file));
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  const fs::path golden = fs::path(TALLY_GOLDEN) / "lab" / (file.stem().string() + ".txt");
  if (std::getenv("TALLY_REBASE")) std::ofstream(golden) << finished.out;
  EXPECT_EQ(finished.out, TemporaryFile::read(golden.string()).value_or("")) << golden;
}

INSTANTIATE_TEST_SUITE_P(Lab, LabExamples, testing::ValuesIn(examples()), [](const auto& one) {
  std::string name = one.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

Json json_of(const std::string& example, Words options = {}) {
  options.push_back("--json");
  fs::path file = fs::path(TALLY_LAB_EXAMPLES) / example;
  if (file.extension() != ".asm") file += ".asm";
  const Words words = command_of(file);
  options.insert(options.end(), words.begin(), words.end());
  const Finished finished = lab(options);
  EXPECT_EQ(finished.code(), 0) << finished.err;
  Json run = Json::parse(finished.out);
  run.erase("provenance");  // differs between two equal runs
  return run;
}

int count_of(const Json& run, const std::string& kind) {
  return static_cast<int>(std::count_if(run["entries"].begin(), run["entries"].end(),
                                        [&](const Json& entry) { return entry["kind"] == kind; }));
}

TEST(LabNotes, e15_2a_c_the_function_is_counted_as_777_in_either_order) {
  TALLY_NEEDS_NASM();
  for (const char* name : {"15-2", "15-2-order"}) {
    const Json run = json_of(name);
    EXPECT_EQ(run["counters"]["IA32_PMC0"], 777) << name;
    EXPECT_TRUE(holds(output_of(run), "IA32_PMC0 = 0000000000000309H")) << name;
  }
  EXPECT_TRUE(holds(output_of(json_of("15-2")), "IA32_PMC0 = 0000000000000000H"));
}

TEST(LabNotes, e15_2b_from_the_call_to_after_the_return_are_773) {
  TALLY_NEEDS_NASM();
  // The call, and the instruction after it.
  const Json run = json_of("15-2", {"--break", "18", "--break", "20"});
  std::vector<int> at;
  for (const Json& entry : run["entries"]) {
    if (entry["kind"] == "breakpoint") at.push_back(entry["instruction"]);
  }
  ASSERT_EQ(at.size(), 2U);
  EXPECT_EQ(at[1] - at[0], 773);
}

TEST(LabNotes, e15_2b_time_and_step_show_it) {
  TALLY_NEEDS_NASM();
  const std::string file = std::string(TALLY_LAB_EXAMPLES) + "/15-2.asm";
  const Finished timed = lab({"--time", "18..20", file});
  EXPECT_TRUE(holds(timed.out, "from line 18 to line 20: 773 instructions, 773 time stamps")) << timed.out;
  EXPECT_FALSE(holds(timed.out, "breakpoint")) << timed.out;
  EXPECT_EQ(lab({"--time", "18", file}).code(), 2);
  EXPECT_EQ(lab({"--time", "18..nowhere", file}).code(), 2);
  const Finished stepped = lab_of("  mov eax, 5\n  inc eax\n  hlt\n", {"--step"});
  EXPECT_TRUE(holds(stepped.out, "line 1       mov eax, 0x05\n               EAX=5H\nline 2       inc eax\n"))
      << stepped.out;
}

TEST(LabNotes, e15_2d_counters_of_one_write_are_equal) {
  TALLY_NEEDS_NASM();
  const Json run = json_of("15-2-together");
  EXPECT_EQ(run["counters"]["IA32_PMC0"], run["counters"]["IA32_FIXED_CTR0"]);
  EXPECT_EQ(run["counters"]["IA32_PMC0"], 53);
}

TEST(LabNotes, e15_3_the_handler_sees_status_1_and_10033H_and_returns_to_the_next_instruction) {
  TALLY_NEEDS_NASM();
  const Json run = json_of("15-3");
  const std::string printed = output_of(run);
  EXPECT_TRUE(holds(printed, "LVT_PERFMON             = 0000000000010033H")) << printed;
  EXPECT_TRUE(holds(printed, "IA32_PERF_GLOBAL_STATUS = 0000000000000001H")) << printed;
  EXPECT_TRUE(holds(printed, "behind it: IA32_PERF_GLOBAL_STATUS = 0000000000000000H")) << printed;
  for (const Json& entry : run["entries"]) {
    if (entry["kind"] == "overflow") {
      EXPECT_EQ(entry["place"], "line 24");
    }
    if (entry["kind"] == "enter") {
      EXPECT_EQ(entry["place"], "line 25");
      EXPECT_EQ(entry["vector"], 0x33);
    }
  }
  EXPECT_EQ(count_of(run, "enter"), 1);
}

TEST(LabNotes, e15_3b_the_printed_macro_leaves_bit_34) {
  TALLY_NEEDS_NASM();
  const std::string printed = output_of(json_of("15-3-macro"));
  EXPECT_EQ(printed, "IA32_PERF_GLOBAL_STATUS = 0000000400000000H\nIA32_PERF_GLOBAL_STATUS = 0000000000000000H\n");
  EXPECT_TRUE(holds(lab({std::string(TALLY_LAB_EXAMPLES) + "/15-3-macro.asm"}).out,
                    "this write leaves bit 34 of IA32_PERF_GLOBAL_STATUS set"));
}

TEST(LabNotes, e15_3c_without_unmasking_one_interrupt_comes_of_two_overflows) {
  TALLY_NEEDS_NASM();
  const Json run = json_of("15-3-masked");
  EXPECT_EQ(count_of(run, "overflow"), 2);
  EXPECT_EQ(count_of(run, "enter"), 1);
}

TEST(LabNotes, e15_4_freezing_makes_both_reads_0) {
  TALLY_NEEDS_NASM();
  for (const char* name : {"15-4", "15-4-streamlined"}) {
    std::istringstream printed(output_of(json_of(name)));
    std::vector<std::uint64_t> counts;
    for (std::string line; std::getline(printed, line);) {
      if (line.starts_with("IA32_PMC0 = ")) counts.push_back(std::stoull(line.substr(12, 16), nullptr, 16));
    }
    ASSERT_EQ(counts.size(), 6U) << name;
    EXPECT_GT(counts[0], 0U) << name;
    EXPECT_GT(counts[1], counts[0]) << name;
    EXPECT_EQ(counts[2], 0U) << name;
    EXPECT_EQ(counts[3], 0U) << name;
    EXPECT_EQ(counts[4], 0U) << name << ": nothing counts until the freeze is ended";
    EXPECT_EQ(counts[5], 14U) << name;
  }
  EXPECT_TRUE(holds(output_of(json_of("15-4")), "IA32_PERF_GLOBAL_CTRL = 0000000000000000H"));
  const std::string streamlined = output_of(json_of("15-4-streamlined"));
  EXPECT_TRUE(holds(streamlined, "IA32_PERF_GLOBAL_CTRL = 000000000000000FH"));
  EXPECT_TRUE(holds(streamlined, "IA32_PERF_GLOBAL_STATUS = 0800000000000000H"));
}

// Numbers in the lines of the output, in order: " instructions 102".
std::vector<std::uint64_t> numbers_of(const std::string& text) {
  std::vector<std::uint64_t> numbers;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find_last_not_of("0123456789");
    if (at + 1 < line.size()) numbers.push_back(std::stoull(line.substr(at + 1)));
  }
  return numbers;
}

TEST(LabArticle, D1_D2_D3_between_two_reads_are_6_8_and_102) {
  TALLY_NEEDS_NASM();
  EXPECT_EQ(numbers_of(output_of(json_of("d1-d3"))), (std::vector<std::uint64_t>{6, 8, 102}));
}

TEST(LabArticle, D4_D5_the_loops_of_the_factorial) {
  TALLY_NEEDS_NASM();
  // As many rounds as fit a test; the formulas are those for the article's billion rounds.
  for (const std::uint64_t n : {20, 1000000}) {
    const Json run = json_of("d4", {"-D", "N=" + std::to_string(n), "--max-instructions", "1000000000"});
    const std::vector<std::uint64_t> all = numbers_of(output_of(run));
    ASSERT_EQ(all.size(), 15U);
    const std::uint64_t expected[] = {5 * n + 2, 4 * n + 1, 3 * n + 5, 8 * n - 1, 14 * n - 7};
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(all[3 * i], expected[i]) << n << " " << i;
  }
}

TEST(LabArticle, D6_four_wide_the_chain_of_products_is_what_takes_the_time) {
  TALLY_NEEDS_NASM();
  const std::vector<std::uint64_t> all = numbers_of(output_of(json_of("d6")));
  ASSERT_EQ(all.size(), 15U);
  const double n = 100000;
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(static_cast<double>(all[3 * i + 1]) / n, 3.0, 0.005) << i;
  EXPECT_NEAR(static_cast<double>(all[13]) / n, 3.5, 0.005);
}

TEST(LabArticle, D7_reference_cycles_follow_the_ratio_of_the_clocks) {
  TALLY_NEEDS_NASM();
  const Json run = json_of("d7", {"-D", "N=1000000", "--max-instructions", "1000000000"});
  const std::vector<std::uint64_t> all = numbers_of(output_of(run));
  ASSERT_EQ(all.size(), 15U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(static_cast<double>(all[3 * i + 2]) / static_cast<double>(all[3 * i + 1]), 35.0 / 12, 0.001);
  }
}

TEST(LabArticle, D8_in_halt_only_time_stamps_advance) {
  TALLY_NEEDS_NASM();
  const std::vector<std::uint64_t> all = numbers_of(output_of(json_of("d8")));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_GE(all[0], 3500000U);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_LT(all[i], 30U);
}

TEST(LabArticle, D9_user_mode_reads_counters_when_cr4_allows_it) {
  TALLY_NEEDS_NASM();
  EXPECT_EQ(output_of(json_of("d9")), "#GP: user mode may not read counters. Now it may\nread\n");
}

TEST(LabArticle, D10_misses_of_a_walk_follow_the_formula) {
  TALLY_NEEDS_NASM();
  std::istringstream lines(output_of(json_of("d10")));
  std::string line;
  const std::uint64_t size = 256 << 10;
  for (std::uint64_t stride = 1; stride <= 512; stride *= 2) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(line, "stride " + std::to_string(stride) + ": reads " + std::to_string(size) + ", misses " +
                        std::to_string(size / 64 * std::min<std::uint64_t>(stride, 64)));
  }
}

TEST(LabHpctool, H3_a_row_counts_the_code_between_the_traps_and_two) {
  TALLY_NEEDS_NASM();
  for (const int k : {1, 1000, 5000}) {
    EXPECT_EQ(output_of(json_of("hpctool-polling", {"-D", "K=" + std::to_string(k)}))
                  .substr(0, 12)
                  .find(std::to_string(k + 2) + ","),
              0U);
  }
}

TEST(LabHpctool, H4_a_million_instructions_are_20_rows_of_the_period_and_a_rest) {
  TALLY_NEEDS_NASM();
  for (const int skid : {0, 5}) {
    std::istringstream lines(output_of(json_of("hpctool-sampling", {"--skid", std::to_string(skid)})));
    std::vector<int> rows;
    for (std::string line; std::getline(lines, line);) rows.push_back(std::stoi(line));
    const int full = 1000000 / (50000 + skid);
    ASSERT_EQ(rows.size(), static_cast<std::size_t>(full) + 1) << skid;
    int sum = 0;
    for (int i = 0; i < full; ++i) EXPECT_EQ(rows[static_cast<std::size_t>(i)], 50000 + skid);
    for (const int row : rows) sum += row;
    EXPECT_EQ(sum, 1000000 + 2);
  }
}

TEST(LabHpctool, H10_a_handler_that_leaves_the_mask_sees_one_row) {
  TALLY_NEEDS_NASM();
  const Json run = json_of("hpctool-masked");
  EXPECT_EQ(count_of(run, "enter"), 3);  // two traps and one interrupt
}

TEST(LabHpctool, H9_twenty_loops_over_strings) {
  TALLY_NEEDS_NASM();
  std::istringstream lines(output_of(json_of("hpctool-strings")));
  int rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    const std::uint64_t counted = numbers_of(line + "\n").at(0);
    const bool two = line.find("movs") != std::string::npos || line.find("cmps") != std::string::npos;
    const bool rep = line.starts_with("rep");
    EXPECT_EQ(counted, (rep ? 8U : 2000007U) + (two ? 1 : 0)) << line;
  }
  EXPECT_EQ(rows, 20);
}

TEST(LabBlocks, all_examples_are_the_same_instruction_by_instruction) {
  TALLY_NEEDS_NASM();
  for (const std::string& name : examples()) {
    if (name == "hpctool-strings.asm") continue;  // takes long in single steps
    if (name.ends_with(".s")) continue;           // one by one in any case
    EXPECT_EQ(json_of(name), json_of(name, {"--single"})) << name;
  }
}

TEST(LabStatements, each_is_reported_with_what_it_counted) {
  TALLY_NEEDS_NASM();
  const Finished finished = lab({"-e", "wrmsr 0x186 0x5300c0; wrmsr 0x38f 1; run 100 nop; rdpmc 0"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_TRUE(holds(finished.out, "run 100 nop                         PMC0 +100\n")) << finished.out;
  EXPECT_TRUE(holds(finished.out, "IA32_PMC0 is 105 (69H)")) << finished.out;
  EXPECT_TRUE(holds(finished.out, "counts instructions retired, in user and kernel mode")) << finished.out;
}

TEST(LabStatements, a_prompt_prints_only_what_is_new_and_undoes_faults) {
  TALLY_NEEDS_NASM();
  Environment typed;
  typed.input = "help\nwrmsr 0x186 0x4300c0\nrun 10\nwrmsr 0x38f 0x100\nfoo\nfoo 1\nmov eax\nrdpmc 0\nquit\n";
  const Finished finished = tally({"lab", "-i"}, typed);
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_TRUE(holds(finished.out, "run 10                              PMC0 +10\n")) << finished.out;
  EXPECT_TRUE(holds(finished.out, "bit 8 of IA32_PERF_GLOBAL_CTRL is reserved")) << finished.out;
  EXPECT_TRUE(holds(finished.out, "IA32_PMC0 is 11 (BH)")) << finished.out;
  EXPECT_TRUE(holds(finished.out, "\n  run N INSTRUCTION ")) << finished.out;
  const std::string unknown = "tally: this is neither a statement nor an instruction\n           foo";
  EXPECT_TRUE(holds(finished.err, unknown + "\n       statements are: wrmsr REGISTER VALUE")) << finished.err;
  EXPECT_TRUE(holds(finished.err, unknown + " 1\n")) << finished.err;
  EXPECT_TRUE(holds(finished.err, "the instruction does not have these operands\n           mov eax\n"))
      << finished.err;
  const std::size_t first_report = finished.out.find("IA32_PERFEVTSEL0 = ");
  EXPECT_EQ(finished.out.find("IA32_PERFEVTSEL0 = ", first_report + 1), std::string::npos) << finished.out;
}

TEST(LabStatements, user_mode_may_not_read_counters_until_cr4_says_so) {
  TALLY_NEEDS_NASM();
  const Finished refused = lab({"-e", "user; rdpmc 0"});
  EXPECT_EQ(refused.code(), 1);
  EXPECT_TRUE(holds(refused.out, "#GP(0): RDPMC at CPL > 0 while CR4.PCE is 0")) << refused.out;
  const Finished allowed = lab({"-e", "mov rax, cr4; bts eax, 8; mov cr4, rax; user; rdpmc 0"});
  EXPECT_EQ(allowed.code(), 0) << allowed.out << allowed.err;
  EXPECT_TRUE(holds(allowed.out, "IA32_PMC0 is 0")) << allowed.out;
}

TEST(LabStatements, a_mistake_is_named) {
  TALLY_NEEDS_NASM();
  const Finished unknown = lab({"-e", "wrmsr IA32_PERFEVTSEL0:evnt=1"});
  EXPECT_EQ(unknown.code(), 2);
  EXPECT_TRUE(holds(unknown.err, "has no field 'evnt'")) << unknown.err;
  EXPECT_EQ(lab({}).code(), 2);
  EXPECT_EQ(lab({"-e", "nop", "x.asm"}).code(), 2);
  EXPECT_EQ(lab({"--model", "z80", "-e", "nop"}).code(), 2);
  const Finished missing = lab({"/no/such.asm"});
  EXPECT_EQ(missing.code(), 2);
  EXPECT_TRUE(holds(missing.err, "cannot read '/no/such.asm': No such file or directory\n       FILE is NASM assembly"))
      << missing.err;
  for (const char* const nothing : {"", " ", ";"}) {
    const Finished empty = lab({"-e", nothing});
    EXPECT_EQ(empty.code(), 2) << nothing;
    EXPECT_TRUE(holds(empty.err, "-e: the statements are empty")) << empty.err;
  }
}

TEST(LabFiles, a_multiboot_program_goes_to_64_bits_and_to_its_own_verdict) {
  TALLY_NEEDS_NASM();
  const TemporaryFile image("program.elf", "");
  const std::string source = std::string(TALLY_LAB_EXAMPLES) + "/../../tests/lab/multiboot.asm";
  ASSERT_EQ(Running({"/bin/sh", "-c", "nasm -f bin -o " + image.path() + " " + source}).finish().code(), 0);
  for (const char* const way : {"--quiet", "--single"}) {
    const Finished finished = lab({"--quiet", way, image.path()});
    EXPECT_EQ(finished.code(), 0) << finished.err;
    EXPECT_EQ(finished.out,
              "loader's magic\nmemory by loader and by firmware\na page at the end of all addresses\n"
              "and written there\nRDPMC of counter 64 faults\nthe x2APIC's registers\none interrupt\n");
  }
}

// A 64-bit ELF file whose multiboot header starts it in 32-bit mode, with the start code of kvm-unit-tests.
TEST(LabFiles, a_multiboot_program_in_a_64_bit_file_comes_to_its_own_verdict_on_every_model) {
  TALLY_NEEDS_NASM();
  const TemporaryFile image("pmu.elf", "");
  const std::string source = std::string(TALLY_LAB_EXAMPLES) + "/../../tests/lab/pmu_suite.asm";
  ASSERT_EQ(Running({"/bin/sh", "-c", "nasm -f bin -o " + image.path() + " " + source}).finish().code(), 0);
  for (const char* const model : {"haswell-v3", "nehalem-v3", "skylake-v4", "icelake-v5", "kvm-v2"}) {
    const Finished blocks = lab({"--quiet", "--model", model, image.path()});
    const Finished single = lab({"--quiet", "--single", "--model", model, image.path()});
    EXPECT_EQ(blocks.code(), 0) << model << blocks.err;
    EXPECT_TRUE(holds(blocks.out, "PASS: setup_idt") && holds(blocks.out, "SUMMARY: done\n")) << blocks.out;
    EXPECT_FALSE(holds(blocks.out, "FAIL")) << model << blocks.out;
    EXPECT_EQ(blocks.out, single.out) << model;
  }
}

// Programs with tables of their own, which print a line for each thing that is as the manual says, do the same in every
// way of running them.
TEST(LabFiles, exceptions_and_real_mode_are_the_same_in_blocks_one_by_one_and_traced) {
  TALLY_NEEDS_NASM();
  for (const std::string name : {"exceptions", "realmode"}) {
    const TemporaryFile image(name + ".elf", "");
    const std::string source = std::string(TALLY_LAB_EXAMPLES) + "/../../tests/lab/" + name + ".asm";
    ASSERT_EQ(Running({"/bin/sh", "-c", "nasm -f bin -o " + image.path() + " " + source}).finish().code(), 0);
    std::string first;
    for (const char* const way : {"--explain", "--single", "--trace"}) {
      const Finished finished = lab({"--quiet", way, "--max-instructions", "1000000", image.path()});
      EXPECT_EQ(finished.code(), 0) << name << way << finished.out << finished.err;
      if (first.empty()) first = finished.out;
      EXPECT_EQ(finished.out, first) << way;
    }
    EXPECT_GT(std::count(first.begin(), first.end(), '\n'), 20) << first;
  }
}

// What a program prints is shown at once, and a signal ends the run and keeps what it printed until then.
TEST(LabFiles, output_comes_as_it_is_printed_and_survives_a_signal) {
  TALLY_NEEDS_NASM();
  const TemporaryFile program("program.asm",
                              "%include \"lab.inc\"\n  mov esi, .text\n  call puts\n.forever:\n  inc eax\n"
                              "  jmp .forever\n.text: db 'a line', 10, 'half', 0\n");
  for (const int number : {SIGINT, SIGTERM}) {
    for (const char* const mode : {"--quiet", "--single"}) {
      Running running(tally_words({"lab", "--quiet", mode, "--max-instructions", "1000000000000000", program.path()}));
      ASSERT_TRUE(running.wait_for_output("a line\n"));
      running.signal(number);
      const Finished finished = running.finish();
      EXPECT_TRUE(finished.out.starts_with("a line\n")) << finished.out;
      EXPECT_EQ(finished.code(), -number);
    }
  }
}

// New code is slow, but the budget of a run of blocks is not; tally waits neither for a file nor for the assembler.
TEST(LabFiles, a_signal_ends_what_takes_long) {
  TALLY_NEEDS_NASM();
  const TemporaryFile zeros("zeros.bin", std::string(14 << 20, '\0')), loop("loop.asm", "  jmp $\n");
  const TemporaryFile pipe("pipe.asm", "");
  ASSERT_EQ(unlink(pipe.path().c_str()), 0);
  ASSERT_EQ(mkfifo(pipe.path().c_str(), 0600), 0);
  const TemporaryFile reader("reader.asm", "%include \"" + pipe.path() + "\"\n");
  const std::string endless = "1000000000000000";
  for (const std::string& file : {zeros.path(), loop.path(), pipe.path(), reader.path()}) {
    Running running(tally_words({"lab", "--quiet", "--max-instructions", endless, file}));
    usleep(300'000);  // wherever the run is then
    running.signal(SIGTERM);
    EXPECT_EQ(running.finish().code(), -SIGTERM) << file;
  }
}

TEST(LabFiles, any_name_of_a_file_will_do) {
  TALLY_NEEDS_NASM();
  for (const char* const name : {"a\"quote.asm", "a `tick`.asm", "a\nline.asm", "a\xff$byte.asm", "lab.inc"}) {
    const TemporaryFile program(name, "  nop\n  hlt\n");
    EXPECT_EQ(lab({"--quiet", program.path()}).code(), 0) << name;
  }
}

TEST(LabFiles, the_programs_name_controls_no_terminal) {
  TALLY_NEEDS_NASM();
  const TemporaryFile program("a\x1b[31m.asm", "  mov eax, \x1b[31m\xff\n");
  const Finished finished = lab({program.path()});
  EXPECT_EQ(finished.code(), 2);
  EXPECT_FALSE(holds(finished.err, "\x1b")) << finished.err;
  EXPECT_TRUE(holds(finished.err, "a\\x1b[31m.asm:1: ")) << finished.err;
  EXPECT_TRUE(holds(finished.err, "\\x1b[31m\uFFFD")) << finished.err;
}

TEST(LabFiles, a_label_in_other_case_is_named) {
  TALLY_NEEDS_NASM();
  const Finished finished = lab_of("  call foo\n  hlt\nFoo:\n  ret\n");
  EXPECT_EQ(finished.code(), 2);
  EXPECT_TRUE(holds(finished.err, "did you mean Foo?")) << finished.err;
}

// ldr w1, [x0]: a program for Arm that expects what firmware leaves.
TEST(LabFiles, a_program_for_arm_that_looks_for_a_device_tree_is_refused) {
  const TemporaryFile image("pmu.flat", std::string("\x01\x00\x40\xB9", 4));
  const Finished finished = lab({"--model", "armv8-pmuv3", image.path()});
  EXPECT_EQ(finished.code(), 1);
  EXPECT_TRUE(holds(finished.err, "device tree")) << finished.err;
}

// An ELF image of one segment: WRMSR of 186H, a NOP, HLT.
std::string elf(bool wide, std::uint64_t address) {
  const std::string code("\xB9\x86\x01\0\0\xB8\xC0\0\x43\0\x31\xD2\x0F\x30\x90\xF4", 16);
  std::string file(
      "\x7F"
      "ELF",
      4);
  const auto put = [&file](std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) file += static_cast<char>(value >> (8 * i));
  };
  const int word = wide ? 8 : 4;
  const std::uint64_t header = wide ? 64 : 52;
  const std::uint64_t segment = wide ? 56 : 32;
  put(wide ? 2 : 1, 1);
  put(1, 1);
  put(1, 1);
  file.resize(16);
  put(2, 2);
  put(wide ? 62 : 3, 2);
  put(1, 4);
  put(address, word);
  put(header, word);
  put(0, word);
  put(0, 4);
  put(header, 2);
  put(segment, 2);
  put(1, 2);
  file.resize(header);
  const std::uint64_t offset = header + segment;
  put(1, 4);
  if (wide) put(5, 4);
  for (const std::uint64_t value : {offset, address, address, std::uint64_t{code.size()}, std::uint64_t{code.size()}})
    put(value, word);
  file.resize(offset);
  return file + code;
}

TEST(LabImages, elf_files_of_both_widths_and_flat_ones_run) {
  for (const bool wide : {false, true}) {
    const TemporaryFile file("program.elf", elf(wide, 0x100000));
    const Finished finished = lab({file.path()});
    EXPECT_EQ(finished.code(), 0) << finished.err;
    EXPECT_TRUE(holds(finished.out, "IA32_PMC0                           2")) << finished.out;
  }
  const TemporaryFile flat("program.bin", std::string("\xB9\x86\x01\0\0\xB8\xC0\0\x43\0\x31\xD2\x0F\x30\x90\xF4", 16));
  EXPECT_TRUE(holds(lab({flat.path()}).out, "IA32_PMC0                           2"));
}

TEST(LabImages, what_cannot_be_loaded_is_refused) {
  const TemporaryFile low("program.elf", elf(true, 0x1000));
  const Finished tables = lab({low.path()});
  EXPECT_EQ(tables.code(), 2);
  EXPECT_TRUE(holds(tables.err, "where the lab keeps its tables")) << tables.err;
  const TemporaryFile high("program.elf", elf(true, 0x2000000));
  EXPECT_TRUE(holds(lab({high.path()}).err, "does not fit"));
  const TemporaryFile cut("program.elf", elf(true, 0x100000).substr(0, 100));
  EXPECT_EQ(lab({cut.path()}).code(), 2);
  EXPECT_EQ(lab({"/bin/true"}).code(), 2);
}

// Listing 15-7 of the perfmon notes, whose name lab.inc also defines, and a constant of the program.
TEST(LabNotes, e15_7_a_program_may_define_names_of_the_lab) {
  TALLY_NEEDS_NASM();
  const Finished finished = lab_of(
      "%include \"lab.inc\"\nEOI equ 0B4h\n  mov esi, IA32_PMC0\n  call write_counter_maximum\n  mov ecx, IA32_PMC0\n"
      "  rdmsr\n  call put_hex\n  call dump_pmc\n  mov al, EOI\n  out EXIT_PORT, al\n"
      "write_counter_maximum:\n  call support_full_write\n  mov edi, 0FFFFh\n  mov edx, 0\n  test eax, eax\n"
      "  cmovnz edx, edi\n  mov eax, 0FFFFFFFFh\n  mov ecx, esi\n  wrmsr\n  ret\ncounters: dd 0\n",
      {"--quiet", "--model", "nehalem-v3"});
  EXPECT_EQ(finished.code(), 0xB4) << finished.err;
  EXPECT_TRUE(holds(finished.out, "0000FFFFFFFFFFFFH")) << finished.out;
  EXPECT_TRUE(holds(finished.out, "IA32_PMC0 = 0000FFFFFFFFFFFFH")) << finished.out;
}

#else
TEST(Lab, says_what_to_install_when_it_is_not_built) {
  const Finished finished = tally({"lab", "-e", "nop"});
  EXPECT_EQ(finished.code(), 125);
  EXPECT_TRUE(holds(finished.err, "libunicorn-dev")) << finished.err;
}
#endif

}  // namespace
}  // namespace tally::test
