#include "tally/engine/cpus/cpu_model.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tally/engine/cpus/cpuid_features.hpp"

namespace tally::cpus {
namespace {

using channel::answer_cpuid;
using channel::CpuidAnswer;
using channel::PresentedCpu;

const StateLayout as_intel{{0, 0, 576, 0, 0, 1088, 1152, 1664}}, as_amd{{0, 0, 576, 0, 0, 832, 896, 1408}};

class Models : public testing::TestWithParam<CpuModel> {
 protected:
  const CpuModel& model = GetParam();
  const PresentedCpu cpu = present(model, as_intel);
  CpuidAnswer ask(std::uint32_t leaf, std::uint32_t subleaf = 0) const { return answer_cpuid(cpu, leaf, subleaf); }
};

INSTANTIATE_TEST_SUITE_P(All, Models, testing::ValuesIn(models().begin(), models().end()), [](const auto& one) {
  std::string name(one.param.name);
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

TEST_P(Models, have_a_source_and_fit) {
  EXPECT_FALSE(model.source.empty());
  EXPECT_LE(model.brand.size(), 47u);
  EXPECT_LT(cpu.leaf_count, channel::cpuid_leaf_limit);
  EXPECT_EQ(model.threads % model.threads_per_core, 0u);
}

TEST_P(Models, report_exactly_their_features) {
  FeatureSet seen;
  for (const FeatureBit& one : feature_bits()) {
    const CpuidAnswer answer = ask(one.leaf, one.subleaf);
    const std::uint32_t registers[] = {answer.eax, answer.ebx, answer.ecx, answer.edx};
    const bool may_ask = one.subleaf == 0 || one.leaf != 7 || ask(7).eax >= one.subleaf;
    if (may_ask && (registers[static_cast<int>(one.in)] >> one.bit & 1) != 0) seen = seen.with(one.feature);
  }
  EXPECT_EQ(seen, model.features);
}

TEST_P(Models, have_caches_of_whole_sets_that_agree_between_leaves) {
  const bool is_amd = model.vendor == Vendor::amd;
  for (std::uint32_t i = 0; i < 4; i++) {
    const CpuidAnswer answer = ask(is_amd ? 0x8000001d : 4, i);
    const Cache& cache = model.caches[i];
    const std::uint32_t ways = (answer.ebx >> 22) + 1, line = (answer.ebx & 0xfff) + 1, sets = answer.ecx + 1;
    EXPECT_EQ(ways * line * sets, cache.kib * 1024);
    EXPECT_EQ(answer.eax & 31, static_cast<std::uint32_t>(cache.content));
    if (cache.level == 2) {
      EXPECT_EQ(ask(0x80000006).ecx >> 16, cache.kib);
    }
  }
  EXPECT_EQ(ask(is_amd ? 0x8000001d : 4, 4).eax, 0u) << "the end of the list";
}

TEST_P(Models, have_room_for_every_component_of_the_state) {
  for (const StateLayout& layout : {as_intel, as_amd}) {
    const PresentedCpu here = present(model, layout);
    if (!model.features.has(Feature::xsave)) {
      EXPECT_EQ(answer_cpuid(here, 0xd, 0).ebx, 0u);
      EXPECT_EQ(here.components, channel::state_x87_sse);
      continue;
    }
    const CpuidAnswer whole = answer_cpuid(here, 0xd, 0);
    EXPECT_EQ(whole.eax, here.components);
    EXPECT_EQ(whole.ebx, here.state_bytes);
    for (std::uint32_t i = 2; i < 32; i++) {
      const CpuidAnswer one = answer_cpuid(here, 0xd, i);
      EXPECT_EQ(one.eax != 0, (here.components >> i & 1) != 0) << i;
      EXPECT_LE(one.eax + one.ebx, whole.ebx) << i;
    }
    EXPECT_EQ(whole.ebx, answer_cpuid(cpu, 0xd, 0).ebx) << "the same on every machine";
  }
}

TEST_P(Models, have_the_identity_of_their_file) {
  const std::uint32_t signature = ask(1).eax;
  const std::uint32_t base = signature >> 8 & 15, family = base + (base == 15 ? signature >> 20 & 255 : 0);
  EXPECT_EQ(family, model.family);
  EXPECT_EQ((signature >> 4 & 15) | (signature >> 16 & 15) << 4, model.model);
  EXPECT_EQ(signature & 15, model.stepping);
  std::string brand;
  for (std::uint32_t leaf = 0x80000002; leaf <= 0x80000004; leaf++) {
    const CpuidAnswer answer = ask(leaf);
    for (const std::uint32_t word : {answer.eax, answer.ebx, answer.ecx, answer.edx})
      for (int i = 0; i < 4; i++) brand += static_cast<char>(word >> 8 * i);
  }
  EXPECT_EQ(brand.c_str(), model.brand);
  EXPECT_EQ(ask(0xb, 1).ebx, model.highest_leaf >= 0xb ? model.threads : 0);
}

TEST_P(Models, name_no_hypervisor_and_no_frequency) {
  EXPECT_EQ(ask(1).ecx >> 31, 0u);
  const CpuidAnswer beyond = ask(0x40000000), highest = ask(model.highest_leaf);
  EXPECT_EQ(beyond.ebx, model.vendor == Vendor::intel ? highest.ebx : 0);
  EXPECT_EQ(ask(0x15).eax, model.highest_leaf >= 0x15 ? 0 : beyond.eax);
}

TEST(CpuModels, have_different_names_and_keys_where_their_code_differs) {
  std::set<std::string_view> names;
  for (const CpuModel& one : models()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    for (const CpuModel& other : models())
      if (one.features != other.features) {
        EXPECT_NE(present(one, as_amd).key, present(other, as_amd).key);
      }
  }
  EXPECT_FALSE(named("none-such"));
  EXPECT_EQ((*named("x86-64-v2"))->model, 26u);
}

TEST(CpuModels, need_what_the_host_lacks) {
  const CpuModel& model = **named("haswell");
  EXPECT_TRUE(missing_features(model, model.features).empty());
  const FeatureSet less = model.features.without(FeatureSet{}.with(Feature::avx2).with(Feature::erms));
  EXPECT_EQ(missing_features(model, less), std::vector<std::string>{"avx2"}) << "erms only describes speed";
}

TEST(CpuModels, use_only_features_whose_state_the_kernel_has_enabled) {
  const FeatureSet all = (**named("icelake")).features;
  EXPECT_EQ(usable_features(all, 0xe7), all);
  const FeatureSet without_avx512 = usable_features(all, 7), without_avx = usable_features(all, 3);
  EXPECT_TRUE(without_avx512.has(Feature::avx2));
  EXPECT_FALSE(without_avx512.has(Feature::avx512bw));
  EXPECT_FALSE(without_avx.has(Feature::fma));
  EXPECT_TRUE(without_avx.has(Feature::xsave));
  EXPECT_FALSE(usable_features(all, 0).has(Feature::xsave));
}

std::string content_of(const channel::PresentedFiles& files, const char* path) {
  const auto content = files.find(path);
  return content.text == nullptr ? "none" : std::string(content.text, content.bytes);
}

TEST(CpuModels, are_one_processor_in_files) {
  const channel::PresentedFiles files = machine_files(*named("zen4"), "", "");
  const std::string info = content_of(files, "/proc/cpuinfo");
  EXPECT_NE(info.find("\nmodel name\t: AMD Ryzen 9 7950X"), std::string::npos) << info;
  EXPECT_NE(info.find(" avx512bw"), std::string::npos);
  EXPECT_EQ(info.find("processor\t", 1), std::string::npos);
  EXPECT_EQ(content_of(files, "/sys/devices/system/cpu/online"), "0\n");
  EXPECT_EQ(content_of(files, "/sys/devices/system/cpu/cpu0/cache/index0/size"), "32K\n");
  for (const char* const path : {"/proc/modules", "/proc/cpuinf", "/proc/cpuinfo/", ""})
    EXPECT_EQ(files.find(path).text, nullptr) << path;
}

TEST(CpuModels, of_this_machine_are_its_first_processor) {
  const std::string host =
      "processor\t: 0\nmodel name\t: Some CPU\ncpu MHz\t\t: 2096.017\nsiblings\t: 8\n\nprocessor\t: 1\n\n";
  EXPECT_EQ(content_of(machine_files(nullptr, host, ""), "/proc/cpuinfo"),
            "processor\t: 0\nmodel name\t: Some CPU\ncpu MHz\t\t: 1000.000\nsiblings\t: 1\n\n");
}

TEST(CpuModels, have_every_feature_in_the_table) {
  for (std::uint32_t i = 1; i < static_cast<std::uint32_t>(Feature::count); i++)
    EXPECT_FALSE(name_of(static_cast<Feature>(i)).empty()) << i;
}

}  // namespace
}  // namespace tally::cpus
