// Tests PMU notation with fake sysfs directories.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "tally/hardware/event/catalog.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/hardware/event/list.hpp"
#include "tally/hardware/event/shipped_groups.hpp"

namespace tally::event {
namespace {

namespace fs = std::filesystem;

// A directory with these files in sys/bus/event_source/devices, used as the root of a machine.
class FakeMachine {
 public:
  FakeMachine(const std::map<std::string, std::string>& files, std::string pmu) {
    std::string pattern = (fs::temp_directory_path() / "tally-event-XXXXXX").string();
    if (mkdtemp(pattern.data())) root_ = pattern;
    for (const auto& [path, content] : files) {
      const fs::path file = fs::path(root_) / "sys/bus/event_source/devices" / path;
      fs::create_directories(file.parent_path());
      std::ofstream(file) << content << '\n';
    }
    sources = {root_, std::move(pmu)};
  }
  FakeMachine(const FakeMachine&) = delete;
  FakeMachine& operator=(const FakeMachine&) = delete;
  ~FakeMachine() {
    std::error_code ignored;
    if (!root_.empty()) fs::remove_all(root_, ignored);
  }

  Sources sources;

 private:
  std::string root_;
};

const std::map<std::string, std::string> skylake{
    {"cpu/type", "4"},
    {"cpu/format/event", "config:0-7"},
    {"cpu/format/umask", "config:8-15"},
    {"cpu/format/edge", "config:18"},
    {"cpu/format/inv", "config:23"},
    {"cpu/format/cmask", "config:24-31"},
    {"cpu/format/ldlat", "config1:0-15"},
    {"cpu/events/branch-instructions", "event=0xc4"},
    {"cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3"},
    {"cpu/events/odd", "event=?,umask=1"},
    {"software/type", "1"},
    {"uncore_imc/type", "15"},
    {"uncore_imc/cpumask", "0"},
    {"uncore_imc/format/event", "config:0-7"},
    {"uncore_imc/events/data_reads", "event=0x1"},
    {"uncore_imc/events/data_reads.scale", "6.1e-5"},
    {"uncore_imc/events/data_reads.unit", "MiB"},
};

const std::map<std::string, std::string> zen{
    {"cpu/type", "4"},
    {"cpu/format/event", "config:0-7,32-35"},
    {"cpu/format/umask", "config:8-15"},
    {"cpu/events/branch-instructions", "event=0xc2"},
};

const std::map<std::string, std::string> alder_lake{
    {"cpu_core/type", "4"},
    {"cpu_core/cpus", "0-7"},
    {"cpu_core/format/event", "config:0-7"},
    {"cpu_core/format/umask", "config:8-15"},
    {"cpu_core/events/topdown-retiring", "event=0x00,umask=0x80"},
    {"cpu_atom/type", "10"},
    {"cpu_atom/cpus", "8-15"},
    {"cpu_atom/format/event", "config:0-7"},
    {"cpu_atom/format/umask", "config:8-15"},
};

const std::map<std::string, std::string> arm{
    {"armv8_pmuv3_0/type", "8"},
    {"armv8_pmuv3_0/cpus", "0-3"},
    {"armv8_pmuv3_0/format/event", "config:0-15"},
    {"armv8_pmuv3_0/events/br_retired", "event=0x0021"},
};

TEST(Device, terms_are_encoded_by_the_formats_in_sysfs) {
  const FakeMachine machine(skylake, "skl");
  const auto event = parse("cpu/event=0xc4,umask=0x1,cmask=2,inv,edge/uk", machine.sources);
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->encoding->type, 4u);
  EXPECT_EQ(event->encoding->config, 0x28401C4u);
  EXPECT_EQ(event->mode, Mode::both);
  EXPECT_EQ(event->id, Id::code);
  EXPECT_EQ(name(*event), "cpu/event=0xc4,umask=0x1,cmask=2,inv,edge/:uk");
  EXPECT_EQ(parse("cpu/config=0x1c4,config1=7,config2=9/", machine.sources)->encoding->config1, 7u);
  EXPECT_EQ(parse("cpu/event=0xc4,name=mine/:k", machine.sources)->label, "mine");
}

// Sapphire Rapids and Ice Lake, as their kernels list them.
TEST(Device, top_down_events_are_one_group_with_their_slots) {
  std::map<std::string, std::string> files{{"cpu/type", "4"},
                                           {"cpu/format/event", "config:0-7"},
                                           {"cpu/format/umask", "config:8-15"},
                                           {"cpu/events/slots", "event=0x00,umask=0x4"},
                                           {"cpu/events/topdown-retiring", "event=0x00,umask=0x80"},
                                           {"cpu/events/topdown-bad-spec", "event=0x00,umask=0x81"},
                                           {"cpu/events/topdown-fe-bound", "event=0x00,umask=0x82"},
                                           {"cpu/events/topdown-be-bound", "event=0x00,umask=0x83"}};
  const std::string first =
      "cpu/slots/,cpu/topdown-retiring/,cpu/topdown-bad-spec/,cpu/topdown-fe-bound/,cpu/topdown-be-bound/";
  EXPECT_EQ(top_down_group(FakeMachine(files, "icl").sources), "{" + first + "}");
  int umask = 84;  // in hexadecimal
  for (const char* const name : {"heavy-ops", "br-mispredict", "fetch-lat", "mem-bound"})
    files[std::string("cpu/events/topdown-") + name] = "event=0x00,umask=0x" + std::to_string(umask++);
  const FakeMachine sapphire_rapids(files, "spr");
  const std::string group = top_down_group(sapphire_rapids.sources);
  EXPECT_EQ(group, "{" + first +
                       ",cpu/topdown-heavy-ops/,cpu/topdown-br-mispredict/,cpu/topdown-fetch-lat/"
                       ",cpu/topdown-mem-bound/}");
  const auto events = parse_lists({group}, sapphire_rapids.sources);
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_EQ(events->size(), 9U);
  for (const Event& event : *events) EXPECT_EQ(event.group, events->front().group);
  EXPECT_EQ(events->at(8).encoding->config, 0x8700U);
  EXPECT_EQ(name(events->at(1)), "cpu/topdown-retiring/:u");
  EXPECT_EQ(top_down_group(FakeMachine(skylake, "skl").sources), "");
}

TEST(Device, events_of_sysfs_are_listed_once) {
  const FakeMachine machine({{"msr/type", "10"},
                             {"msr/format/event", "config:0-63"},
                             {"msr/events/tsc", "event=0x00"},
                             {"msr/events/smi", "event=0x04"}},
                            "hsw");
  const auto entries = catalog(Reach::here, machine.sources);
  const auto times = [&](std::string_view name) {
    return std::count_if(entries.begin(), entries.end(), [&](const Entry& one) { return matches(one, name); });
  };
  EXPECT_EQ(times("msr/smi/"), 1);
  EXPECT_EQ(times("msr/tsc/"), 1) << "another name of tsc";
}

TEST(Device, named_events_are_their_terms) {
  const FakeMachine machine(skylake, "skl");
  const auto event = parse("cpu/mem-loads,ldlat=30/", machine.sources);
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->encoding->config, 0x1CDu);
  EXPECT_EQ(event->encoding->config1, 30u);
  const auto branches = parse("cpu/branch-instructions/", machine.sources);
  EXPECT_EQ(branches->id, Id::branches);
  EXPECT_EQ(counted_as(*branches),
            "cpu/branch-instructions/:u is counted as branches: Intel's BR_INST_RETIRED.ALL_BRANCHES (C4/00)");
  EXPECT_EQ(parse("mem-loads", machine.sources)->encoding, parse("cpu/mem-loads/", machine.sources)->encoding);
}

TEST(Device, the_same_name_is_another_code_on_another_processor) {
  const FakeMachine machine(zen, "amd64_fam19h_zen4");
  EXPECT_EQ(parse("cpu/branch-instructions/", machine.sources)->id, Id::branches);
  EXPECT_EQ(parse("cpu/event=0xc4/", machine.sources)->id, Id::branches_taken);
  EXPECT_EQ(parse("cpu/event=0x1d6/", machine.sources)->encoding->config, 0x1000000D6u);
}

TEST(Device, hybrid_cores_have_their_own_pmus) {
  const FakeMachine machine(alder_lake, "");
  EXPECT_EQ(parse("cpu_atom/event=0xc4,umask=0xf7/", machine.sources)->id, Id::returns);
  EXPECT_EQ(parse("cpu_core/event=0xc4,umask=0x11/", machine.sources)->id, Id::conditional_branches);
  EXPECT_EQ(parse("cpu_atom/event=0xc4/", machine.sources)->encoding->type, 10u);
  EXPECT_EQ(parse("topdown-retiring:u", machine.sources)->encoding->config, 0x8000u);
}

TEST(Device, events_of_other_pmus_parse_without_a_generic_event) {
  const FakeMachine machine(skylake, "skl");
  const auto event = parse("uncore_imc/data_reads/", machine.sources);
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->id, Id::code);
  EXPECT_EQ(event->encoding->family, Family::none);
  EXPECT_FALSE(parse("uncore_imc/data_reads.scale/", machine.sources));
  EXPECT_EQ(parse("software/config=2/", machine.sources)->encoding->type, 1u);
  const FakeMachine phone(arm, "");
  EXPECT_EQ(parse("armv8_pmuv3_0/br_retired/k", phone.sources)->encoding->config, 0x21u);
}

TEST(Device, without_a_core_pmu_its_usual_fields_and_generic_names_are_understood) {
  const FakeMachine machine({{"software/type", "1"}}, "amd64_fam19h_zen4");
  EXPECT_EQ(parse("cpu/event=0xc4,umask=0x1/", machine.sources)->id, Id::conditional_branches);
  EXPECT_FALSE(parse("cpu/event=0xc4/", machine.sources)->encoding->type);
  EXPECT_EQ(parse("cpu/branch-misses/", machine.sources)->id, Id::branch_misses);
  EXPECT_EQ(parse("cpu/instructions/k", machine.sources)->mode, Mode::kernel);
  EXPECT_EQ(parse("armv8_pmuv3/event=0x21/", machine.sources)->encoding->family, Family::arm);
  EXPECT_FALSE(parse("cpu/branch-misses,cmask=1/", machine.sources));
  const auto alias = parse("cpu/mem-loads,ldlat=30/", machine.sources);
  ASSERT_FALSE(alias);
  EXPECT_NE(alias.error().message.find("has no PMU cpu, which would say what 'mem-loads' is"), std::string::npos)
      << alias.error().message;
  EXPECT_NE(alias.error().hint.find("ldlat"), std::string::npos) << alias.error().hint;
}

TEST(Device, errors_are_specific) {
  const FakeMachine machine(skylake, "skl");
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"cpu/event=0x1c4/", "does not fit its bits (config:0-7)"},
      {"cpu/umsk=1/", "has no 'umsk'"},
      {"cpu/event=x/", "'x' is not a number"},
      {"cpu/event=/", "'' is not a number"},
      {"cpu/odd/", "the event needs a value for 'event'"},
      {"cpu/event=1,period=1000/", "'period' applies to sampling"},
      {"cpu/event=1,,umask=2/", "a term is missing"},
      {"cpu//", "a term is missing"},
      {"cpu/event=1", "has one '/'"},
      {"cpu/event=1/p", "the modifier 'p'"},
      {"cpu/event=1/:", "missing modifier after ':'"},
      {"uncore_icm/data_reads/", "has no PMU 'uncore_icm'"},
      {"../cpu/event=1/", "has no PMU '..'"},
      {"/event=1/", "has no PMU ''"},
  };
  for (const auto& one : cases) {
    const auto event = parse(one.text, machine.sources);
    ASSERT_FALSE(event) << one.text;
    EXPECT_EQ(event.error().code, Code::bad_usage) << one.text;
    EXPECT_NE(event.error().message.find(one.expected), std::string::npos) << event.error().message;
  }
  EXPECT_EQ(parse("cpu/umsk=1/", machine.sources).error().hint, "did you mean umask, cmask?");
  EXPECT_EQ(parse("uncore_icm/x/", machine.sources).error().hint, "did you mean uncore_imc?");
}

// Two sockets: a PMU of the package, and memory controllers with a number each.
const std::map<std::string, std::string> two_sockets{
    {"power/type", "23"},
    {"power/cpumask", "0,24"},
    {"power/format/event", "config:0-7"},
    {"power/events/energy-pkg", "event=0x02"},
    {"power/events/energy-pkg.scale", "2.3283064365386962890625e-10"},
    {"power/events/energy-pkg.unit", "Joules"},
    {"power/events/energy-cores", "event=0x01"},
    {"uncore_imc_0/type", "30"},
    {"uncore_imc_0/cpumask", "0,24"},
    {"uncore_imc_0/format/event", "config:0-7"},
    {"uncore_imc_0/format/umask", "config:8-15"},
    {"uncore_imc_0/events/cas_count_read", "event=0x04,umask=0x03"},
    {"uncore_imc_0/events/cas_count_read.scale", "6.103515625e-5"},
    {"uncore_imc_0/events/cas_count_read.unit", "MiB"},
    {"uncore_imc_1/type", "31"},
    {"uncore_imc_1/cpumask", "0,24"},
    {"uncore_imc_1/format/event", "config:0-7"},
    {"uncore_imc_1/format/umask", "config:8-15"},
    {"uncore_imc_1/events/cas_count_read", "event=0x04,umask=0x03"},
    {"uncore_imc_1/events/cas_count_read.scale", "6.103515625e-5"},
    {"uncore_imc_1/events/cas_count_read.unit", "MiB"},
    {"uncore_imc_free_running/type", "40"},
};

TEST(MachinePmu, has_a_counter_in_each_package_and_the_unit_of_sysfs) {
  const FakeMachine machine(two_sockets, "skx");
  const auto energy = parse("power/energy-pkg/", machine.sources);
  ASSERT_TRUE(energy);
  EXPECT_TRUE(is_of_machine(*energy));
  EXPECT_EQ(energy->encoding->machine, (std::vector<MachineCounter>{{23, 0}, {23, 24}}));
  EXPECT_EQ(energy->encoding->config, 2u);
  EXPECT_EQ(unit_of(*energy), Unit::nanojoules);
  EXPECT_DOUBLE_EQ(energy->encoding->scale, 0.23283064365386962890625);
  EXPECT_EQ(name(*energy), "power/energy-pkg/") << "it has no mode";
  EXPECT_EQ(unit_of(*parse("power/energy-cores/", machine.sources)), Unit::events) << "sysfs names no unit";
}

TEST(MachinePmu, of_several_numbers_has_the_counters_of_all) {
  const FakeMachine machine(two_sockets, "skx");
  const auto read = parse("uncore_imc/cas_count_read/", machine.sources);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->encoding->machine, (std::vector<MachineCounter>{{30, 0}, {30, 24}, {31, 0}, {31, 24}}));
  EXPECT_EQ(read->encoding->config, 0x304u);
  EXPECT_EQ(unit_of(*read), Unit::bytes);
  EXPECT_DOUBLE_EQ(read->encoding->scale, 64);
  EXPECT_EQ(parse("uncore_imc_1/cas_count_read/", machine.sources)->encoding->machine,
            (std::vector<MachineCounter>{{31, 0}, {31, 24}}));
}

EventGroup group_of(std::string_view name) {
  for (const ShippedGroup& group : shipped_groups())
    if (group.name == name) return *parse_group(group.text);
  return {};
}

TEST(PmuGroups, of_operations_are_the_codes_of_the_processor) {
  const FakeMachine machine(skylake, "skl");
  const auto events = parse_lists(group_of("PMU_FLOPS_DP").events, machine.sources);
  ASSERT_TRUE(events) << events.error().message;
  std::vector<std::uint64_t> codes;
  for (const Event& event : *events)
    if (event.encoding) codes.push_back(event.encoding->config & 0xffff);
  EXPECT_EQ(codes, (std::vector<std::uint64_t>{0x1c7, 0x4c7, 0x10c7, 0x40c7}));
  const FakeMachine zen({{"cpu/type", "4"}}, "amd64_fam19h_zen4");
  const auto amd = parse(group_of("PMU_FLOPS_AMD").optional.front(), zen.sources);
  ASSERT_TRUE(amd) << amd.error().message;
  EXPECT_EQ(amd->encoding->config & 0xff, 3u);
}

TEST(PmuGroups, of_the_machine_have_the_events_that_its_kernel_has) {
  const FakeMachine machine(two_sockets, "skx");
  std::vector<std::string> there;
  for (const char* const name : {"PMU_MEM", "ENERGY"}) {
    const EventGroup group = group_of(name);
    for (const std::string& list : group.optional) {
      const auto items = split_list(list);
      for (const Item& item : *items)
        if (parse(item.text, machine.sources)) there.push_back(item.text);
    }
  }
  EXPECT_EQ(there,
            (std::vector<std::string>{"uncore_imc/cas_count_read/", "power/energy-pkg/", "power/energy-cores/"}));
}

TEST(MachinePmu, ignores_a_mode_and_says_so) {
  const FakeMachine machine(two_sockets, "skx");
  const auto energy = parse("power/energy-pkg/u", machine.sources);
  ASSERT_TRUE(energy);
  EXPECT_EQ(name(*energy), "power/energy-pkg/");
  ASSERT_EQ(energy->notes.size(), 1u);
  EXPECT_NE(energy->notes[0].find("the suffix is ignored"), std::string::npos);
}

}  // namespace
}  // namespace tally::event
