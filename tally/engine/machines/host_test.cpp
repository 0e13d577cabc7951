#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tally/engine/machines/machine_model.hpp"
#include "tally/engine/machines/measured_memory.hpp"

namespace tally::machines {
namespace {

// A fake /sys and /proc.
class Host : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ =
        std::filesystem::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void cache(int index, int level, const std::string& type, int sets, int ways, int line = 64) {
    const auto folder = root_ / "sys/devices/system/cpu/cpu0/cache" / ("index" + std::to_string(index));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "level") << level << '\n';
    std::ofstream(folder / "type") << type << '\n';
    if (sets != 0) std::ofstream(folder / "number_of_sets") << sets << '\n';
    std::ofstream(folder / "ways_of_associativity") << ways << '\n';
    std::ofstream(folder / "coherency_line_size") << line << '\n';
  }

  std::filesystem::path root_;
};

TEST_F(Host, CachesAsTheKernelListsThem) {
  cache(0, 1, "Data", 64, 12);
  cache(1, 1, "Instruction", 64, 8);
  cache(2, 2, "Unified", 2048, 16);
  cache(3, 3, "Unified", 491520, 16);
  std::filesystem::create_directories(root_ / "proc");
  std::ofstream(root_ / "proc/cpuinfo") << "processor\t: 0\nmodel name\t: Some Processor\n";
  const auto machine = host(root_);
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->name, "host");
  EXPECT_EQ(machine->title, "Some Processor");
  EXPECT_EQ(geometry_text(machine->caches.l1d), "48 KiB 12-way");
  EXPECT_EQ(geometry_text(machine->caches.l1i), "32 KiB 8-way");
  EXPECT_EQ(geometry_text(machine->caches.l2), "2 MiB 16-way");
  EXPECT_EQ(geometry_text(machine->caches.llc), "480 MiB 16-way");
  EXPECT_FALSE(machine->caches.llc.inclusive) << "sysfs does not say so";
  EXPECT_EQ(machine->core, "haswell") << "the vendor is not known";
  EXPECT_EQ(text_of(*parse(text_of(*machine), "again")), text_of(*machine));
}

TEST_F(Host, TakesTheCoreOfItsProcessor) {
  cache(0, 1, "Data", 64, 8);
  std::filesystem::create_directories(root_ / "proc");
  const auto core = [&](const char* vendor, int family, int model, const char* flags) {
    std::ofstream(root_ / "proc/cpuinfo") << "vendor_id\t: " << vendor << "\ncpu family\t: " << family
                                          << "\nmodel\t\t: " << model << "\nflags\t\t: " << flags << '\n';
    return host(root_)->core;
  };
  EXPECT_EQ(core("AuthenticAMD", 25, 17, "fpu avx2 avx512f"), "zen4");
  EXPECT_EQ(core("AuthenticAMD", 26, 2, "fpu avx2 avx512f"), "zen5");
  EXPECT_EQ(core("AuthenticAMD", 25, 1, "fpu avx2"), "zen3");
  EXPECT_EQ(core("AuthenticAMD", 23, 49, "fpu avx2"), "zen2");
  EXPECT_EQ(core("GenuineIntel", 6, 167, "avx2 clflushopt avx512_vbmi2 amx_tile"), "sapphire-rapids")
      << "a hypervisor shows another model";
  EXPECT_EQ(core("GenuineIntel", 6, 106, "avx2 clflushopt avx512_vbmi2"), "icelake-server");
  EXPECT_EQ(core("GenuineIntel", 6, 85, "avx2 clflushopt"), "skylake");
  EXPECT_EQ(core("GenuineIntel", 6, 63, "avx2"), "haswell");
  EXPECT_EQ(core("GenuineIntel", 6, 173, "avx2 clflushopt avx512_vbmi2 amx_tile amx_fp16"), "sapphire-rapids");
  EXPECT_EQ(host(root_)->shipped, "granite-rapids");
  EXPECT_EQ(host(root_)->caches.llc.sets, 0U) << "caches are the kernel's";
  EXPECT_EQ(host(root_)->latencies.memory, 450) << "latencies are the model's";
  EXPECT_EQ(core("GenuineIntel", 6, 28, "ssse3"), "bonnell");
  const auto machine = host(root_);
  EXPECT_EQ(machine->sources[1],
            "core bonnell, mispredictions, TLBs, latencies: the model bonnell, by GenuineIntel family 6 model 28");
  EXPECT_EQ(machine->latencies.mispredict, 13) << "of that core, too";
  EXPECT_EQ(machine->latencies.walk, 30);
  core("GenuineIntel", 6, 28, "ssse3 hypervisor");
  EXPECT_EQ(host(root_)->latencies.walk, 60) << "of two levels of tables";
}

TEST_F(Host, AFourthLevelIsTheLastOne) {
  cache(0, 1, "Data", 64, 8);
  cache(3, 3, "Unified", 4096, 16);
  cache(4, 4, "Unified", 131072, 16);
  cache(5, 3, "Unified", 4096, 16);
  EXPECT_EQ(host(root_)->caches.llc.sets, 131072U);
}

TEST_F(Host, AUnifiedFirstLevelIsUsedForBoth) {
  cache(0, 1, "Unified", 64, 8);
  EXPECT_EQ(host(root_)->caches.l1i.sets, 64U);
  EXPECT_EQ(host(root_)->caches.l1d.sets, 64U);
  EXPECT_EQ(host(root_)->caches.l2.sets, 0U);
}

TEST_F(Host, LevelsOfUnknownGeometryAreLeftOut) {
  cache(0, 1, "Data", 64, 8);
  cache(1, 2, "Unified", 0, 8);
  cache(2, 3, "Unified", 4096, 0);
  EXPECT_EQ(host(root_)->caches.l2.sets, 0U);
  EXPECT_EQ(host(root_)->caches.llc.sets, 0U);
}

TEST_F(Host, AMissingDataCacheIsAnErrorWithAHint) {
  for (int i = 0; i < 2; ++i) {
    const auto machine = host(root_);
    ASSERT_FALSE(machine);
    EXPECT_EQ(machine.error().code, Code::cannot_measure);
    EXPECT_NE(machine.error().message.find(root_.string()), std::string::npos);
    EXPECT_NE(machine.error().hint.find("haswell"), std::string::npos);
    cache(0, 1, "Data", 64, 8, 48);  // not a power of two
  }
}

// With tally's own files in a directory of the test.
class MeasuredHost : public Host {
 protected:
  void SetUp() override {
    Host::SetUp();
    cache(0, 1, "Data", 64, 8);
    cache(2, 2, "Unified", 2048, 8);
    cache(3, 3, "Unified", 491520, 16);
    std::filesystem::create_directories(root_ / "proc/sys/kernel");
    name("here");
    std::ofstream(root_ / "proc/cpuinfo") << "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
                                          << "model name\t: Some Processor\n";
    ASSERT_EQ(setenv("TALLY_CACHE_DIR", (root_ / "cache").c_str(), 1), 0);
  }
  void TearDown() override {
    unsetenv("TALLY_CACHE_DIR");
    Host::TearDown();
  }
  void name(const char* host) { std::ofstream(root_ / "proc/sys/kernel/hostname") << host << '\n'; }
};

TEST_F(MeasuredHost, HasTheLatenciesThatWereStoredHere) {
  const MeasuredMemory measured{.date = "2026-11-29", .l2 = 14, .llc = 48, .memory = 590, .llc_bytes = 16 << 20};
  const models::Latencies usual = named("host", root_)->latencies;
  store_measured_memory(measured, root_);
  ASSERT_EQ(measured_memory(root_), measured);
  const auto machine = named("host", root_);
  EXPECT_EQ(machine->latencies.l2, 14);
  EXPECT_EQ(machine->latencies.llc, 48);
  EXPECT_EQ(machine->latencies.memory, 590);
  EXPECT_EQ(machine->latencies.stlb, usual.stlb);
  EXPECT_EQ(geometry_text(machine->caches.llc), "16 MiB 16-way") << "the hypervisor shows 480 MiB";
  EXPECT_EQ(machine->name, "host-2026-11-29");
  EXPECT_EQ(machine->title, "Some Processor, measured memory");
  EXPECT_NE(machine->sources.back().find("memory 590 cycles"), std::string::npos) << machine->sources.back();
  EXPECT_TRUE(uses_measured(*machine));
  EXPECT_EQ(machine->shipped, host(root_)->shipped) << "its error was measured";
  name("elsewhere");
  EXPECT_FALSE(uses_measured(*named("host", root_)));
  EXPECT_EQ(measured_memory(root_), std::nullopt);
  EXPECT_EQ(named("host", root_)->latencies, usual);
}

TEST_F(MeasuredHost, KeepsWhatWasNotMeasured) {
  store_measured_memory({.date = "2026-11-29", .l2 = 14, .llc_bytes = std::uint64_t{1} << 40}, root_);
  const auto machine = named("host", root_);
  EXPECT_EQ(machine->latencies.l2, 14);
  EXPECT_EQ(machine->latencies.memory, host(root_)->latencies.memory);
  EXPECT_EQ(geometry_text(machine->caches.llc), "480 MiB 16-way") << "measured for more than the kernel lists";
}

}  // namespace
}  // namespace tally::machines
