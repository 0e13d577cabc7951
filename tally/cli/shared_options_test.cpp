// Options that several commands share: what ends windows, where regions are, which machine is simulated; groups.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "tally/cli/commands.hpp"
#include "tally/core/base/holds_testing.hpp"
#include "tally/core/base/text.hpp"
#include "tally/engine/cpus/cpu_model.hpp"
#include "tally/engine/machines/machine_model.hpp"
#include "tally/output/analysis/comparable.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/help_topic.hpp"
#include "tally/tools/launch/model_options.hpp"
#include "tally/tools/windows/region_options.hpp"
#include "tally/tools/windows/window_options.hpp"

namespace tally::cli {
namespace {

struct Chosen {
  backend::Order::Windows order;
  std::uint64_t merged = 0;
  std::string message;  ///< of the error; empty if there is none
};

Chosen chosen(const windows::WindowOptions& options) {
  Chosen result;
  if (const auto done = windows::choose_windows(options, result.order, result.merged); !done)
    result.message = done.error().message;
  return result;
}

TEST(Windows, are_of_instructions_or_of_time) {
  windows::WindowOptions options;
  options.every = {"50k"};
  Chosen got = chosen(options);
  ASSERT_EQ(got.order.triggers.size(), 1u) << got.message;
  EXPECT_EQ(got.order.triggers[0].event.id, event::Id::instructions);
  EXPECT_EQ(got.order.triggers[0].every, 50'000u);
  EXPECT_EQ(got.merged, 0u);
  options.every = {"1ms"};
  got = chosen(options);
  ASSERT_EQ(got.order.triggers.size(), 1u) << got.message;
  EXPECT_EQ(got.order.triggers[0].event.id, event::Id::task_clock);
}

TEST(Windows, need_an_event_for_each_length) {
  windows::WindowOptions options;
  options.every = {"50k", "1k"};
  options.by = {"instructions", "calls"};
  EXPECT_EQ(chosen(options).order.triggers.size(), 2u);
  options.by = {"instructions"};
  EXPECT_EQ(chosen(options).message, "2 --every and 1 --by: each --every needs its own --by");
  options.every = {"50k"};
  options.by = {"instructions", "calls"};
  EXPECT_EQ(chosen(options).message, "1 --every and 2 --by: each --every needs its own --by");
  options.by = {"instructions,loads"};
  EXPECT_EQ(chosen(options).message, "--by instructions,loads names more than one event");
  options.every.clear();
  options.by.clear();
  EXPECT_EQ(chosen(options).message, "missing --every N: the length of a window");
}

TEST(Windows, have_at_most_as_many_lengths_as_the_engine_counts_down) {
  windows::WindowOptions options;
  options.every.assign(backend::window_trigger_limit, "1k");
  options.by.assign(backend::window_trigger_limit, "instructions");
  EXPECT_EQ(chosen(options).order.triggers.size(), backend::window_trigger_limit);
  options.every.emplace_back("1k");
  options.by.emplace_back("instructions");
  EXPECT_NE(chosen(options).message, "");
}

TEST(Windows, end_by_a_frequency_instead) {
  windows::WindowOptions options;
  options.frequency = "1k";
  const Chosen got = chosen(options);
  ASSERT_EQ(got.order.triggers.size(), 1u) << got.message;
  EXPECT_EQ(got.order.triggers[0].frequency, 1000u);
  EXPECT_EQ(got.order.triggers[0].every, 0u);
  options.frequency = "1ms";
  EXPECT_EQ(chosen(options).message, "--frequency 1ms: expected a number, not a time");
  options.frequency = "1k";
  options.every = {"1k"};
  EXPECT_NE(chosen(options).message, "");
}

TEST(Windows, are_joined_from_parts) {
  windows::WindowOptions options;
  options.every = {"80k"};
  options.merged = true;
  Chosen got = chosen(options);
  ASSERT_EQ(got.message, "");
  EXPECT_EQ(got.merged, 80'000u);
  EXPECT_EQ(got.order.triggers[0].every, 10'000u);
  // A part of a clock's window is not shorter than the kernel's timers allow.
  options.every = {"10us"};
  got = chosen(options);
  EXPECT_EQ(got.merged, 10'000u);
  EXPECT_EQ(got.order.triggers[0].every, 10'000u);
  options.every = {"80k", "1k"};
  options.by = {"instructions", "loads"};
  EXPECT_NE(chosen(options).message, "");
}

TEST(Regions, are_functions_pairs_and_traps) {
  windows::RegionOptions options;
  options.functions = {"main"};
  options.from = {"parse+0x10"};
  options.to = {"0x401000"};
  options.trap = "int3";
  std::vector<backend::CodeRegion> regions;
  ASSERT_TRUE(windows::choose_regions(options, regions));
  ASSERT_EQ(regions.size(), 3u);
  EXPECT_EQ(regions[0].name, "main");
  EXPECT_EQ(regions[1].name, "parse+0x10 .. 0x401000");
  EXPECT_EQ(regions[2].name, "int3");
  options.to.clear();
  EXPECT_FALSE(windows::choose_regions(options, regions));
}

TEST(Regions, have_a_limit) {
  windows::RegionOptions options;
  options.functions.assign(backend::region_limit, "main");
  std::vector<backend::CodeRegion> regions;
  EXPECT_TRUE(windows::choose_regions(options, regions));
  options.trap = "int3";
  regions.clear();
  EXPECT_FALSE(windows::choose_regions(options, regions));
  EXPECT_TRUE(regions.empty());
}

TEST(Models, are_chosen_if_any_option_is_given) {
  ModelOptions nothing;
  ASSERT_TRUE(nothing.choose());
  EXPECT_FALSE(nothing.simulation);
  ModelOptions options;
  options.model = "haswell";
  options.precision = "full";
  options.prefetch = "on";
  options.llc = "private";
  options.workers = 3;
  ASSERT_TRUE(options.choose());
  ASSERT_TRUE(options.simulation);
  EXPECT_EQ(options.simulation->precision, backend::Precision::full);
  EXPECT_TRUE(options.simulation->prefetch);
  EXPECT_TRUE(options.simulation->own_llc);
  EXPECT_EQ(options.simulation->workers, 3u);
  EXPECT_FALSE(options.simulation->each || options.simulation->compared);
  ModelOptions unknown;
  unknown.model = "no-such-machine";
  EXPECT_FALSE(unknown.choose());
}

// The levels of a model of --model as --cpu-model presents them.
std::vector<std::string> levels_of(const machines::MachineModel& machine) {
  std::vector<std::string> levels;
  for (const auto& shape : {machine.caches.l1d, machine.caches.l1i, machine.caches.l2, machine.caches.llc})
    levels.push_back(machines::geometry_text(shape));
  return levels;
}

TEST(Models, have_the_names_and_caches_of_cpu_models) {
  for (const cpus::CpuModel& cpu : cpus::models()) {
    if (cpu.name.starts_with("x86-64")) continue;  // a level of the architecture, no processor
    const auto machine = machines::named(cpu.name, "/");
    ASSERT_TRUE(machine) << cpu.name;
    if (cpu.name == "haswell") continue;  // --model is the Xeon of the RDPMC article
    std::vector<std::string> levels;
    for (const cpus::Cache& cache : cpu.caches) {
      const std::uint32_t sets = cache.kib * 1024 / 64 / cache.ways;
      levels.push_back(machines::geometry_text({.sets = sets, .ways = cache.ways, .line_bits = 6}));
    }
    EXPECT_EQ(levels_of(*machine), levels) << cpu.name;
  }
}

template <class Check>
void for_each_group_option(const Check& check) {
  for (const CommandDescription& command : describe_commands())
    for (const OptionDescription& option : command.options)
      if (option.group != nullptr) check(command.name, option);
}

// Suites of tally bench, action.yml and ci/gate have them, too.
TEST(RunSettings, are_options_of_stat_and_profile) {
  for (const CommandDescription& command : describe_commands()) {
    if (command.name != "stat" && command.name != "profile") continue;
    for (const auto& [name, is_flag] : result::run_settings) {
      const auto option = std::ranges::find_if(command.options, [&](const OptionDescription& one) {
        return std::ranges::count(one.names, "--" + std::string(name)) != 0;
      });
      ASSERT_NE(option, command.options.end()) << command.name << " --" << name;
      EXPECT_EQ(option->value_name.empty(), is_flag) << name;
    }
  }
  for (const result::Setting& setting : output::settings_of({}))
    if (setting.name.starts_with("--")) {
      EXPECT_NE(std::ranges::find(result::run_settings, setting.name.substr(2), &result::RunSetting::name),
                std::end(result::run_settings))
          << setting.name << " distinguishes results, but suites do not accept it";
    }
}

TEST(Options, have_names_of_their_own) {
  for (const CommandDescription& command : describe_commands()) {
    std::set<std::string> names;
    for (const OptionDescription& option : command.options)
      for (const std::string& name : option.names)
        EXPECT_TRUE(names.insert(name).second) << command.name << " " << name;
  }
}

// So that one topic describes the option for all commands.
TEST(OptionGroups, say_the_same_of_an_option_for_every_command) {
  std::map<std::string, std::tuple<std::string, std::string, const OptionGroup*>> known;
  for_each_group_option([&](const std::string& command, const OptionDescription& option) {
    const std::tuple description(option.text, option.value_name, option.group);
    for (const std::string& name : option.names)
      EXPECT_EQ(known.try_emplace(name, description).first->second, description) << command << " " << name;
  });
}

TEST(OptionGroups, are_not_named_like_commands) {
  for (const Command& command : commands()) EXPECT_EQ(find_group(command.name), nullptr) << command.name;
}

TEST(OptionGroups, have_a_topic_with_every_option) {
  const std::vector<CommandDescription> described = describe_commands();
  for_each_group_option([&](const std::string& command, const OptionDescription& option) {
    const std::string topic = topic_text(described, *option.group);
    EXPECT_TRUE(holds(topic, "`tally " + command + "`")) << topic;
    EXPECT_TRUE(holds(topic, join(option.names, ", ") + (option.value_name.empty() ? "" : " " + option.value_name)))
        << command << topic;
  });
}

}  // namespace
}  // namespace tally::cli
