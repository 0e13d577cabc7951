// `tally stat --asm`: counts of one copy of some code, and the cycles that its instructions take.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "tally/core/base/full_run_testing.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

#if TALLY_HAS_ENGINE

using nlohmann::json;

// Counts of one copy by the events' full names, and dependency chains by theirs.
std::map<std::string, double> counts_of_copy(const std::string& code, const Words& options) {
  // The counts of a copy do not depend on the rounds, and CPUID is slow in a virtual machine.
  const std::string rounds = is_full_run() ? "1000" : "50";
  const Finished finished = tally(with(
      {"stat", "-q", "--model", "haswell", "--format", "json", "-o", "-", "--rounds", rounds, "--asm", code}, options));
  EXPECT_EQ(finished.code(), 0) << finished.err;
  std::map<std::string, double> values;
  const json result = json::parse(finished.out, nullptr, false);
  if (result.is_discarded()) return values;
  for (const json& event : result["events"]) {
    if (event["value"].is_number()) values[event["name"]] = event["value"].get<double>();
  }
  for (const json& chain : result["chains"]) {
    if (chain["cycles"].is_number()) values[chain["name"]] = chain["cycles"].get<double>();
  }
  return values;
}

// Between the two reads: three instructions that keep the first value, CPUID, the load of the index, and the second
// read.
constexpr const char* article = "shl rdx, 32; or rax, rdx; mov r10, rax; cpuid; mov ecx, 0x40000000; rdpmc";

TEST(Asm, counts_the_snippets_of_the_rdpmc_article) {
  const Words options{"--rdpmc", "-e", "instructions"};
  EXPECT_EQ(counts_of_copy(article, options)["instructions:u"], 6);
  EXPECT_EQ(counts_of_copy(std::string("nop; nop; ") + article, options)["instructions:u"], 8);
  // The factorial of 20, without CPUID: 102 instructions, and the two that set it up, which the article executes before
  // its first read.
  const char* factorial =
      "mov r11, 20; mov r12, 1; shl rdx, 32; or rax, rdx; mov r10, rax;"
      "1: cmp r11, 1; jle 2f; imul r12, r11; dec r11; jmp 1b; 2: mov ecx, 0x40000000; rdpmc";
  EXPECT_EQ(counts_of_copy(factorial, options)["instructions:u"], 102 + 2);
}

TEST(Asm, counts_the_cycles_of_the_articles_loop) {
  const auto round = counts_of_copy("imul r12, r11; dec r11; jnz 1f; 1:", {"-e", "cycles,instructions,branches"});
  EXPECT_EQ(round.at("cycles:u"), 3.0);
  EXPECT_EQ(round.at("instructions:u"), 3);
  EXPECT_EQ(round.at("branches:u"), 1);
  EXPECT_FALSE(round.contains("latency"));  // three instructions have none
}

TEST(Asm, counts_twenty_instructions_exactly) {
  const struct {
    const char* code;
    double loads, stores, branches;
  } cases[] = {{"nop", 0, 0, 0},
               {"add rax, rbx", 0, 0, 0},
               {"imul r12, r11", 0, 0, 0},
               {"lea rax, [rbx + rcx * 4 + 8]", 0, 0, 0},
               {"xchg rax, rbx", 0, 0, 0},
               {"mov rax, [r14]", 1, 0, 0},
               {"mov [r14 + 64], rax", 0, 1, 0},
               {"add qword ptr [r14 + 64], 1", 1, 1, 0},
               {"add rax, [r14]", 1, 0, 0},
               {"push qword ptr [r14]; pop rax", 2, 1, 0},
               {"movaps xmm0, [r14]", 1, 0, 0},
               {"movups [r14 + 128], xmm1", 0, 1, 0},
               {"addsd xmm0, xmm1", 0, 0, 0},
               {"mulps xmm0, [r14]", 1, 0, 0},
               {"jmp 1f; 1:", 0, 0, 1},
               {"jz 1f; 1:", 0, 0, 1},
               {"lea rdi, [r14 + 256]; mov ecx, 8; rep stosq", 0, 8, 0},
               {"lea rsi, [r14 + 256]; lodsq", 1, 0, 0},
               {"lock add qword ptr [r14 + 64], 1", 1, 1, 0},
               {"lfence", 0, 0, 0},
               {"cpuid", 0, 0, 0}};
  for (const auto& one : cases) {
    const auto counts = counts_of_copy(one.code, {"-e", "instructions,loads,stores,branches"});
    ASSERT_EQ(counts.size(), 4U) << one.code;
    // As many instructions as there are separators, except for labels: those end the text.
    const std::string code = one.code;
    const auto statements = 1 + std::count(code.begin(), code.end(), ';') - (holds(code, "1:") ? 1 : 0);
    EXPECT_EQ(counts.at("instructions:u"), static_cast<double>(statements)) << code;
    EXPECT_EQ(counts.at("loads:u"), one.loads) << code;
    EXPECT_EQ(counts.at("stores:u"), one.stores) << code;
    EXPECT_EQ(counts.at("branches:u"), one.branches) << code;
  }
}

// A. Fog, Instruction tables (2022), and uops.info, Haswell: cycles from the operand to the result.
TEST(Asm, has_the_published_latencies_of_haswell) {
  const struct {
    const char* code;
    double latency;
  } cases[] = {{"add rax, rbx", 1},
               {"imul r12, r11", 3},
               {"popcnt rax, rbx", 3},
               {"lea rax, [rbx + 8]", 1},
               {"addsd xmm0, xmm1", 3},
               {"mulsd xmm0, xmm1", 5},
               {"vfmadd231pd ymm0, ymm1, ymm2", 5},
               {"pmulld xmm0, xmm1", 10},
               {"aesenc xmm0, xmm1", 7},
               {"crc32 rax, rbx", 3},
               {"bsf rax, rbx", 3},
               {"paddd xmm0, xmm1", 1}};
  for (const auto& one : cases) {
    // The loop around the copies mispredicts its end.
    EXPECT_NEAR(counts_of_copy(one.code, {"-e", "cycles"})["latency"], one.latency, 0.001) << one.code;
  }
}

TEST(Asm, distinguishes_latency_from_throughput) {
  const auto multiply = counts_of_copy("imul r12, r11", {"-e", "cycles"});
  EXPECT_NEAR(multiply.at("latency"), 3, 0.001);
  EXPECT_NEAR(multiply.at("throughput"), 1, 0.001);
  const auto zero = counts_of_copy("xor eax, eax", {"-e", "cycles"});
  EXPECT_FALSE(zero.contains("latency"));
  EXPECT_NEAR(zero.at("throughput"), 0.25, 0.001);
}

// A condition, or a write of a part of a register, has to wait for the register's old value.
TEST(Asm, waits_for_what_an_instruction_may_keep) {
  for (const char* const code : {"cmovz rax, rcx", "mov al, bl", "mov ax, bx", "setz al", "sqrtss xmm0, xmm1",
                                 "cvtsi2sd xmm0, rax", "movlps xmm0, [r14]", "pinsrw xmm0, ecx, 1", "bsf rax, rbx"}) {
    EXPECT_GE(counts_of_copy(code, {"-e", "cycles"})["cycles:u"], 1.0) << code;
  }
  // DEC keeps the carry, which is stored apart from the other flags: nothing waits for the flags of the multiplication.
  EXPECT_NEAR(counts_of_copy("imul r12, r11; dec r11", {"-e", "cycles"})["cycles:u"], 3.0, 0.001);
}

TEST(Asm, has_no_cycles_where_an_instruction_has_no_timing) {
  for (const char* const code : {"clflush [r14]", "add rax, rbx; clflush [r14]"}) {
    const auto values = counts_of_copy(code, {"-e", "cycles,instructions"});
    EXPECT_FALSE(values.contains("cycles:u") || values.contains("latency") || values.contains("throughput")) << code;
    EXPECT_TRUE(values.contains("instructions:u")) << code;
  }
  const Finished finished = tally({"stat", "-q", "--model", "haswell", "-e", "cycles", "--asm", "clflush [r14]"});
  EXPECT_FALSE(holds(finished.out + finished.err, "cycles are a model's")) << finished.out << finished.err;
  EXPECT_TRUE(holds(finished.out + finished.err, "the core model has no timing for")) << finished.out << finished.err;
}

TEST(Asm, has_cycles_of_microcode_and_vectors_of_512_bits) {
  for (const char* const code :
       {"cpuid", "pause", "mfence", "lock add [r14], rax", "lea rdi, [r14]; mov ecx, 16; rep stosb"})
    EXPECT_GE(counts_of_copy(code, {"-e", "cycles"})["cycles:u"], 2.5) << code;
}

TEST(Asm, repeats_to_the_bit) {
  const Words words{"stat", "-q", "--model", "haswell", "--format", "csv", "-o", "-", "--asm", "crc32 rax, rbx"};
  EXPECT_EQ(tally(words).out, tally(words).out);
}

TEST(Asm, that_crashes_or_ends_early_is_reported) {
  const Finished crashed = tally({"stat", "-q", "--asm", "mov rax, [rbx]", "-e", "instructions"});
  EXPECT_EQ(crashed.code(), 125);
  EXPECT_TRUE(holds(crashed.err, "the code was killed by SIGSEGV")) << crashed.err;
  EXPECT_TRUE(holds(crashed.err, "--init")) << crashed.err;
  const Finished trapped = tally({"stat", "-q", "--asm", "ud2", "-e", "instructions"});
  EXPECT_TRUE(holds(trapped.err, "killed by SIGILL")) << trapped.err;
  EXPECT_FALSE(holds(trapped.err, "--init")) << trapped.err;
  const Finished cured = tally({"stat", "-q", "--asm", "mov rax, [rbx]", "--init", "mov rbx, r14", "-e", "loads"});
  EXPECT_EQ(cured.code(), 0) << cured.err;
}

TEST(Asm, that_never_ends_is_stopped_at_its_limit) {
  for (const char* const backend : {"auto", "none"}) {
    const Finished endless =
        tally({"stat", "-q", "--backend", backend, "--timeout", "50", "-e", "task-clock", "--asm", "1: jmp 1b"});
    EXPECT_EQ(endless.code(), 125) << endless.err;
    EXPECT_TRUE(holds(endless.err, "the code did not end within 50.00 ms")) << endless.err;
    EXPECT_TRUE(holds(endless.err, "--timeout MS")) << endless.err;
  }
}

TEST(Asm, that_never_ends_is_stopped_by_ctrl_c) {
  for (const bool terminal : {false, true}) {
    TemporaryFile started("started");
    // Code that creates a file of this name when it runs.
    const std::string init =
        "mov eax, 85; lea rdi, [rip + 9f]; mov esi, 0x180; syscall; jmp 8f; 9: .asciz \"" + started.path() + "\"; 8:";
    Running running(tally_words({"stat", "-q", "-e", "instructions", "--init", init, "--asm", "1: jmp 1b"}));
    while (!std::filesystem::exists(started.path())) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (terminal) {
      running.signal_group(SIGINT);
    } else {
      running.signal(SIGINT);
    }
    EXPECT_EQ(running.finish().code(), -SIGINT);
  }
}

// A timer enforces the limit, and the code must not find the timer in its registers.
TEST(Asm, finds_zeroes_in_its_registers) {
  std::string init;
  for (const char* const name :
       {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "r8", "r9", "r10", "r11", "r12", "r13", "r15"})
    init += std::string("test ") + name + ", " + name + "; jnz 1f; ";
  const Finished finished =
      tally({"stat", "-q", "-e", "instructions", "--init", init + "jmp 2f; 1: ud2; 2:", "--asm", "nop"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
}

#endif

TEST(Asm, mistakes_are_reported_in_the_assemblers_words) {
  const Finished finished = tally({"stat", "-q", "--asm", "nop; frobnicate rax"});
  if (holds(finished.err, "install it")) GTEST_SKIP() << "as is not installed (package binutils)";
  EXPECT_EQ(finished.code(), 2);
  EXPECT_TRUE(holds(finished.err, "--asm cannot be assembled: no such instruction")) << finished.err;
}

TEST(Asm, replaces_a_command) {
  EXPECT_EQ(tally({"stat", "--asm", "nop", "--", "true"}).code(), 2);
  EXPECT_EQ(tally({"stat", "--unroll", "3", "--", "true"}).code(), 2);
  EXPECT_EQ(tally({"stat", "--asm", "again: jmp again"}).code(), 2);
  EXPECT_EQ(tally({"stat", "--asm", "/no/such.s"}).code(), 2);
  EXPECT_EQ(tally({"stat", "--asm", "nop", "--format", "hpctool"}).code(), 2);
}

}  // namespace
}  // namespace tally::test
