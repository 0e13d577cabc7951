// Programs that see another processor than the real one (--cpu-model).
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tally/engine/cpus/cpu_model.hpp"
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

std::string seen_program() { return std::string(LIBC_PROGRAMS) + "/cpu_models_dynamic"; }

Command seeing(std::string_view model, std::vector<std::string> words) {
  Command command;
  command.words = std::move(words);
  command.options = {"--cpu-model", std::string(model)};
  return command;
}

bool is_possible(const cpus::CpuModel& model) { return cpus::missing_features(model, cpus::host_features()).empty(); }

std::string name_of_model(const testing::TestParamInfo<std::string>& one) {
  std::string name = one.param;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
}

std::vector<std::string> names_of_models() {
  std::vector<std::string> names;
  for (const cpus::CpuModel& model : cpus::models()) names.emplace_back(model.name);
  return names;
}

class CpuModelTest : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(engine, CpuModelTest, testing::ValuesIn(names_of_models()), name_of_model);

TEST_P(CpuModelTest, is_what_the_program_sees) {
  const cpus::CpuModel& model = **cpus::named(GetParam());
  const Counted counted = run_counted(seeing(model.name, {seen_program()}));
  if (!is_possible(model)) {
    EXPECT_EQ(counted.outcome.code, 125);
    EXPECT_NE(counted.outcome.err.find("this processor lacks"), std::string::npos) << counted.outcome.err;
    EXPECT_EQ(counted.outcome.out, "") << "the program ran";
    return;
  }
  const channel::PresentedCpu cpu = cpus::present(model, cpus::host_state_layout());
  const bool has_state = model.features.has(cpus::Feature::xsave);
  const int level = model.features.has(cpus::Feature::avx512vl) ? 4
                    : model.features.has(cpus::Feature::avx2)   ? 3
                    : model.features.has(cpus::Feature::sse4_2) ? 2
                                                                : 1;
  std::string expected =
      fmt::format("{}\nsignature {:x} level {} hypervisor 0\n", model.brand, answer_cpuid(cpu, 1, 0).eax, level);
  const std::uint64_t frame = has_state ? cpu.state_bytes + 4 : 512;
  expected += fmt::format("hwcap2 {} least stack {}\n", model.features.has(cpus::Feature::fsgsbase) ? 2 : 0,
                          (frame + 940 + 15) / 16 * 16);
  if (has_state) expected += fmt::format("xcr0 {:x} bytes {}\nby the selection: 1\n", cpu.components, cpu.state_bytes);
  expected += fmt::format("frame {} components {:x}\n", has_state ? frame : 0, has_state ? cpu.components : 0);
  EXPECT_EQ(counted.outcome.out, expected);
  EXPECT_EQ(counted.outcome.code, 0);
  expect_exact(counted);
}

/// Every part of the translation: blocks of one instruction, reoptimized code, code of an earlier run of another model.
TEST(CpuModels, are_seen_by_every_kind_of_translation) {
  const Counted first = run_counted(seeing("x86-64", {seen_program()}));
  for (const int size : block_sizes()) {
    const Counted counted = run_counted(seeing("x86-64", {seen_program()}), size);
    expect_same(counted.outcome, first.outcome);
    EXPECT_EQ(counted.outcome.code, 0);
    expect_counts(counted.counts, first.counts);
    EXPECT_NE(run_counted(seeing("host", {seen_program()}), size).outcome.out, first.outcome.out);
  }
}

TEST(CpuModels, are_the_c_librarys_only_processor) {
  const Counted counted = run_counted(seeing("x86-64-v2", {"/lib64/ld-linux-x86-64.so.2", "--list-diagnostics"}));
  const std::string& text = counted.outcome.out;
  EXPECT_NE(text.find("dl_hwcaps_subdirs_active=0x4\n"), std::string::npos) << text;
  EXPECT_NE(text.find("x86.cpu_features.basic.model=0x1a\n"), std::string::npos) << text;
  EXPECT_NE(text.find("x86.cpu_features.data_cache_size=0x8000\n"), std::string::npos) << text;
}

/// What the JSON reports: feature → the first instruction, its function, and the count.
std::map<std::string, std::string> unasked_in(const std::string& text) {
  std::map<std::string, std::string> found;
  const auto json = nlohmann::json::parse(text);
  for (const auto& one : json.at("unasked"))
    found[one.at("feature")] = fmt::format("{} in {}: {}", one.at("instruction").get<std::string>(),
                                           one.at("function").get<std::string>(), one.at("count").get<std::int64_t>());
  return found;
}

TEST(CpuModels, name_instructions_that_the_program_executes_without_asking) {
  const cpus::FeatureSet needed = cpus::FeatureSet{}.with(cpus::Feature::avx2).with(cpus::Feature::bmi2);
  if (needed.without(cpus::host_features()).bits != 0) GTEST_SKIP() << "this processor has no AVX2 or no BMI2";
  const Command command = seeing("x86-64-v2", {std::string(LIBC_PROGRAMS) + "/unasked_dynamic"});
  const Outcome native = run_native(command);
  ASSERT_EQ(native.out, "2000 500 41\n");
  for (const int size : {0, 1, 64, reoptimized}) {
    SCOPED_TRACE(testing::Message() << "block size " << size);
    const Scratch scratch;
    const std::string json = scratch.file("counts.json");
    const Counted counted = run_counted(command, size);
    expect_same(counted.outcome, native);
    expect_exact(counted);
    const auto words = tally_words(command, json, size);
    Command tally;
    tally.words = words;
    EXPECT_EQ(run_native(tally).out, native.out);
    const auto found = unasked_in(read_file(json));
    EXPECT_EQ(found.at("avx2"), "vpcmpeqd in hidden_vectors: 1003");
    EXPECT_EQ(found.at("bmi2"), "pdep in hidden_bits: 500");
    EXPECT_EQ(found.count("bmi1"), 0u) << "tzcnt is executed on every processor";
  }
  const Counted presented = run_counted(seeing("x86-64-v3", command.words));
  expect_same(presented.outcome, native);
  expect_exact(presented);
}

/// Runs tally with these arguments.
Outcome run_tally(std::vector<std::string> arguments) {
  Command command;
  command.words = std::move(arguments);
  command.words.insert(command.words.begin(), TALLY);
  return run_native(command);
}

TEST(CpuModels, need_the_engine_and_a_known_name) {
  const Outcome native = run_tally({"stat", "--backend", "none", "--cpu-model", "x86-64-v2", "--", seen_program()});
  EXPECT_EQ(native.code, 2);
  EXPECT_NE(native.err.find("--cpu-model needs the engine"), std::string::npos) << native.err;
  EXPECT_EQ(native.out, "") << "the program ran";
  EXPECT_EQ(run_tally({"stat", "--backend", "none", "--cpu-model", "host", "--", "/bin/true"}).code, 0);
  const Outcome unknown = run_tally({"stat", "--cpu-model", "z80", "--", "/bin/true"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("there is no CPU model 'z80'"), std::string::npos) << unknown.err;
}

TEST(CpuModels, are_named_with_the_simulated_machine_by_every_command) {
  const std::string model = "CPU model x86-64-v2";
  const Outcome stat = run_tally({"stat", "-e", "instructions", "--cpu-model", "x86-64-v2", "--", "/bin/true"});
  EXPECT_NE(stat.err.find("engine · " + model + " · no machine model\n"), std::string::npos) << stat.err;
  const Outcome both =
      run_tally({"stat", "-e", "instructions", "--cpu-model", "x86-64-v2", "--model", "haswell", "--", "/bin/true"});
  EXPECT_NE(both.err.find(model + " · machine model haswell\n"), std::string::npos) << both.err;
  for (const char* const command : {"sample", "profile"}) {
    std::vector<std::string> words{command, "-e", "instructions", "--cpu-model", "x86-64-v2"};
    if (command == std::string("sample")) words.insert(words.end(), {"--every", "1M"});
    words.insert(words.end(), {"--", "/bin/true"});
    const Outcome outcome = run_tally(words);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.err.find(model + " · no machine model\n"), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace tally::engine_test
