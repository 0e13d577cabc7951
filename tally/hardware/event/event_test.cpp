#include "tally/hardware/event/event.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tally/hardware/event/perf_names.hpp"

namespace tally::event {
namespace {

// A machine whose kernel names no events, and whose processor has no table: only the built-in and the vendors' names.
const Sources no_machine{"/nowhere", "no such processor"};

TEST(Table, names_are_unique_and_parse_to_their_row) {
  std::set<std::string_view> names;
  for (const Definition& line : all()) {
    EXPECT_TRUE(names.insert(line.name).second) << line.name;
    const auto event = parse(line.name);
    ASSERT_TRUE(event) << line.name;
    EXPECT_EQ(event->id, line.id);
    EXPECT_EQ(&definition(line.id), &line);
    EXPECT_FALSE(line.what.empty());
    if (line.per) {
      EXPECT_NE(line.per->id, line.id);
    }
  }
}

TEST(Parse, hardware_events_are_user_mode_unless_the_kernel_is_asked) {
  EXPECT_EQ(name(*parse("instructions")), "instructions:u");
  EXPECT_EQ(name(*parse("instructions:u")), "instructions:u");
  EXPECT_EQ(name(*parse("instructions:k")), "instructions:k");
  EXPECT_EQ(parse("instructions:k")->mode, Mode::kernel);
  EXPECT_EQ(parse("loads")->asked, "loads");
  EXPECT_EQ(name(*parse("page-faults")), "page-faults");
}

TEST(Parse, unknown_names_suggest_the_nearest_of_all_sources) {
  const struct {
    const char* text;
    const char* hint;
  } cases[] = {
      {"instrctions:u", "instructions"},
      {"Branch-Instruction", "branch-instructions"},
      {"UOPS_RETIRD:ALL", "UOPS_RETIRED:ALL"},
      {"memory_order_violatio", "apple_m1::memory_order_violation"},
      {"instructons", "did you mean instructions"},
      {"mem-loads", "count loads"},
      {"cycels", "did you mean cycles"},
      {"LLC-load-miss", "LLC-load-misses"},
      {"IPC", "IPC is a metric: `tally stat --metrics IPC`"},
      {"ipc:u", "IPC is a metric"},
      {"MEM", "MEM is a group: `tally stat --group MEM`"},
      {"L3-misses", "did you mean LLC-load-misses, LLC-store-misses, cache-misses?"},
      {"L3-loads", "did you mean LLC-loads"},
      {"01c2", "r01c2"},
      {"4101C2", "0x4101C2"},
      {"zzzzzzzzzzzzzzzzzz", "`tally events`"},
  };
  for (const auto& one : cases) {
    const auto event = parse(one.text, no_machine);
    ASSERT_FALSE(event) << one.text;
    EXPECT_EQ(event.error().code, Code::bad_usage);
    EXPECT_NE(event.error().message.find(std::string("'") + one.text + "'"), std::string::npos)
        << event.error().message;
    EXPECT_NE(event.error().hint.find(one.hint), std::string::npos) << one.text << ": " << event.error().hint;
    EXPECT_LT(event.error().hint.size(), 200u) << "an error is no list";
  }
}

TEST(Parse, unknown_names_suggest_those_of_the_machines_processor_first) {
  const auto hint = [](const char* processor) {
    return parse("UOPS_RETIRD:SLOT", {"/nowhere", processor}).error().hint;
  };
  if (!pfm::find_pmu("icl")) GTEST_SKIP() << "this libpfm4 has no tables of x86 processors";
  EXPECT_EQ(hint("icl"), "did you mean UOPS_RETIRED:SLOTS?");
  EXPECT_EQ(hint("hsw"), "did you mean UOPS_RETIRED:ALL, UOPS_RETIRED:ANY?");
}

TEST(Parse, suffixes_are_checked) {
  for (const char* text : {"loads:x", "loads:", "loads:uu:k", "page-faults:k", "duration_time:k", "", ":u", ":",
                           "loads:uk:", "bus-cycles:", "apple_m1::INST_ALL:"}) {
    const auto event = parse(text);
    ASSERT_FALSE(event) << text;
    EXPECT_EQ(event.error().code, Code::bad_usage) << text;
    EXPECT_FALSE(event.error().hint.empty()) << text;
  }
}

TEST(Parse, modes_are_user_kernel_or_both) {
  EXPECT_EQ(parse("loads:u")->mode, Mode::user);
  EXPECT_EQ(parse("loads:k")->mode, Mode::kernel);
  for (const char* text : {"loads:uk", "loads:ku"}) EXPECT_EQ(name(*parse(text)), "loads:uk");
}

TEST(Parse, modes_of_software_events_are_refused_with_a_hint) {
  const auto hint = [](const char* text) {
    const auto event = parse(text);
    return event ? "accepted" : event.error().hint;
  };
  EXPECT_NE(hint("page-faults:k").find("page-faults:u those of the program's own"), std::string::npos);
  EXPECT_NE(hint("cs:u").find("a false 0"), std::string::npos);
  EXPECT_NE(hint("task-clock:u").find("user_time and system_time"), std::string::npos);
  EXPECT_NE(hint("tsc:u").find("omit the suffix"), std::string::npos);
}

TEST(Parse, the_faults_of_user_mode_are_an_event_of_their_own) {
  EXPECT_EQ(parse("page-faults:u")->id, Id::user_page_faults);
  EXPECT_EQ(parse("faults:u")->id, Id::user_page_faults);
  EXPECT_EQ(name(*parse("faults:u")), "page-faults:u");
  EXPECT_EQ(parse("page-faults")->id, Id::page_faults);
  EXPECT_EQ(kernel_number(Id::user_page_faults)->config, kernel_number(Id::page_faults)->config);
}

TEST(Parse, perfs_other_modifiers_are_refused_by_name) {
  for (const char letter : std::string("pPShGHIDWeb")) {
    const auto event = parse(std::string("loads:u") + letter);
    ASSERT_FALSE(event) << letter;
    EXPECT_NE(event.error().message.find(std::string("the modifier '") + letter), std::string::npos)
        << event.error().message;
  }
}

TEST(Parse, names_of_other_tools_are_the_tables_events) {
  for (const Alias& alias : aliases()) {
    const auto event = parse(alias.name);
    ASSERT_TRUE(event) << alias.name;
    EXPECT_EQ(event->id, alias.id) << alias.name;
    EXPECT_EQ(event->asked, alias.name);
    EXPECT_TRUE(counted_as(*event).empty()) << "a synonym needs no explanation";
  }
  EXPECT_EQ(name(*parse("cpu-cycles:k")), "cycles:k");
  EXPECT_EQ(parse("CPU-Cycles")->id, Id::cycles);
}

TEST(Parse, the_kernels_other_generic_events_have_its_numbers) {
  EXPECT_EQ(other_kernel_events().size(), 3u + 7 * 3 * 2 - 15);  // fifteen are generic events or aliases
  EXPECT_EQ(parse("bus-cycles")->encoding->config, 6u);
  const auto event = parse("L1-dcache-prefetch-misses:k");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->id, Id::code);
  EXPECT_EQ(event->encoding->type, perf_type_cache);
  EXPECT_EQ(event->encoding->config, 0x10200u);
  EXPECT_EQ(name(*event), "L1-dcache-prefetch-misses:k");
  EXPECT_EQ(parse("L1-icache-prefetches")->encoding->config, 0x201u);
  EXPECT_EQ(kernel_number(Id::l1i_loads)->config, 1u);
  EXPECT_EQ(kernel_number(Id::llc_store_misses)->config, 0x10102u);
  EXPECT_EQ(kernel_number(Id::l1i_load_misses)->config, 0x10001u);
  EXPECT_FALSE(kernel_number(Id::l2_misses));
}

TEST(ParseLists, keep_order_and_drop_repetitions) {
  const auto events = parse_lists({"loads, stores:u", "instructions,loads:u,instructions:k"});
  ASSERT_TRUE(events);
  std::vector<std::string> names;
  for (const Event& event : *events) names.push_back(name(event));
  EXPECT_EQ(names, (std::vector<std::string>{"loads:u", "stores:u", "instructions:u", "instructions:k"}));
}

TEST(ParseLists, commas_inside_slashes_and_braces_are_no_separators) {
  const auto events =
      parse_lists({"cycles,{cpu/event=0xc4,umask=0x1/,loads:k},cs", "{stores}:uk,{page-faults,loads}:k"});
  ASSERT_TRUE(events) << events.error().message;
  std::vector<std::pair<std::string, int>> seen;
  for (const Event& event : *events) seen.emplace_back(name(event), event.group);
  const std::vector<std::pair<std::string, int>> wanted{{"cycles:u", 0},  {"cpu/event=0xc4,umask=0x1/:u", 1},
                                                        {"loads:k", 1},   {"context-switches", 0},
                                                        {"stores:uk", 2}, {"page-faults", 3},
                                                        {"loads:k", 3}};
  EXPECT_EQ(seen, wanted);
}

TEST(ParseLists, a_groups_modifiers_are_for_members_without_their_own) {
  const auto events = parse_lists({"{loads,stores:u,cpu/instructions/,cpu/branches/u,hsw::UOPS_RETIRED:ALL,r01c2}:k"});
  ASSERT_TRUE(events) << events.error().message;
  std::vector<Mode> modes;
  for (const Event& event : *events) modes.push_back(event.mode);
  EXPECT_EQ(modes, (std::vector<Mode>{Mode::kernel, Mode::user, Mode::kernel, Mode::user, Mode::kernel, Mode::kernel}));
}

TEST(Parse, a_tracepoint_is_refused_with_the_reason) {
  // Most users cannot read the list of tracepoints.
  for (const char* name :
       {"sched:sched_switch", "syscalls:sys_enter_read", "irq_vectors:local_timer_entry", "kmem:*"}) {
    const auto event = parse(name, no_machine);
    ASSERT_FALSE(event) << name;
    EXPECT_NE(event.error().message.find("is a tracepoint of the kernel"), std::string::npos) << event.error().message;
  }
  EXPECT_NE(parse("sched:sched_switch", no_machine).error().hint.find("count context-switches instead"),
            std::string::npos);
  EXPECT_EQ(parse("UOPS_NONSENSE:ALL", no_machine).error().message.find("tracepoint"), std::string::npos);
}

TEST(ParseLists, unmatched_braces_and_slashes_are_an_error) {
  for (const char* list :
       {"{loads", "loads}", "{{loads}}", "{}", "{loads,}", "{loads}stores", "loads{stores}", "{loads}:", "cpu/event=1",
        "cpu/event=1,loads", "{loads} stores", "{loads}{stores}", "{loads}:x"}) {
    const auto events = parse_lists({list});
    ASSERT_FALSE(events) << list;
    EXPECT_EQ(events.error().code, Code::bad_usage);
  }
}

TEST(ParseLists, the_same_event_in_another_notation_is_kept) {
  EXPECT_EQ(parse_lists({"branches,branch-instructions"})->size(), 1u);
  EXPECT_EQ(parse_lists({"branches,r00c4,0x4100C4"})->size(), 3u) << "a row for each name that was asked for";
}

TEST(ParseLists, a_missing_name_is_an_error) {
  for (const char* list : {"", "loads,", ",loads", "loads,,stores"}) EXPECT_FALSE(parse_lists({list})) << list;
}

TEST(ParseLists, spaces_do_not_separate) {
  const auto events = parse_lists({"loads stores"});
  ASSERT_FALSE(events);
  EXPECT_NE(events.error().message.find("an event name contains a space"), std::string::npos) << events.error().message;
  EXPECT_TRUE(parse_lists({" loads , {stores, branches} ,cpu/event=0xc4, umask=1/"}));
}

TEST(DefaultSet, holds_the_architectural_events_and_the_kernels_counts) {
  std::set<std::string> names;
  for (const Event& event : default_set()) names.insert(event.asked);
  for (const char* wanted : {"instructions:u", "branches:u", "conditional-taken:u", "returns:u", "loads:u", "stores:u",
                             "page-faults", "user_time", "system_time", "duration_time", "peak-memory"}) {
    EXPECT_TRUE(names.count(wanted)) << wanted;
  }
}

}  // namespace
}  // namespace tally::event
