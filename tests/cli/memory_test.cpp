// `tally memory` as a user starts it. Its values depend on the machine; that the result is complete and says how it was
// measured does not.
#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "tally/core/base/text.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;

// The smallest run that still is a curve.
const Words small_curve{"memory", "curve", "--from", "4K", "--to", "16K", "--mappings", "1", "--batches", "2"};

#if defined(__x86_64__)
const std::string plain_store = "plain128";
#else
const std::string plain_store = "plain";
#endif

TEST(Memory, a_curve_as_json_has_every_point_and_the_verdict_is_the_exit_code) {
  const Finished finished = tally(with(small_curve, {"--format", "json"}));
  const Json json = Json::parse(finished.out);
  EXPECT_EQ(json["schema"], "tally-memory/1");
  EXPECT_EQ(json["task"], "curve");
  EXPECT_EQ(json["points"].size(), 17u);
  EXPECT_EQ(finished.code(), json["verdict"]["contended"].get<bool>() ? 1 : 0);
  for (const Json& point : json["points"]) {
    EXPECT_EQ(point["n"].get<int>() * 64, point["region_bytes"].get<int>());
    EXPECT_EQ(point["order"], "random");
    EXPECT_TRUE(point["counts"].is_null());
    EXPECT_TRUE(point["ns"].is_null() || point["ns"].get<double>() > 0);
  }
  EXPECT_FALSE(json["counters"]["reason"].is_null());
  EXPECT_EQ(finished.err, "") << "no progress display without a terminal";
}

TEST(Memory, rows_are_one_fixed_header_and_one_line_for_each_point) {
  const Finished finished = tally(with(small_curve, {"--format", "csv"}));
  EXPECT_TRUE(finished.out.starts_with(
      "task,quantity,mode,order,region,block,stride,n,regions,laps,pages_asked,pages_got,"
      "node,threads,store,load,fence,seed,mappings,batches,rejected,ns_median,ns_min,"
      "ns_lo,ns_hi,cycles,mb_per_second,flags,mappings_kept,from_memory,instructions,cycles_counted,l1d_misses,l2_"
      "misses,llc_misses,dtlb_misses\r\n"));
  EXPECT_EQ(split(finished.out, '\n').size(), 1 + 17 + 1u);
}

TEST(Memory, the_result_goes_to_a_file) {
  const TemporaryFile file("memory.json");
  const Finished finished = tally(with(small_curve, {"--format", "json", "-o", file.path()}));
  EXPECT_EQ(finished.out, "");
  ASSERT_TRUE(file.content());
  EXPECT_EQ(Json::parse(*file.content())["task"], "curve");
}

TEST(Memory, two_results_do_not_go_to_one_file) {
  const TemporaryFile file("memory.json", "before");
  const std::string deceives = file.folder() + "/./memory.json";
  const Finished finished = tally(with(small_curve, {"-o", file.path(), "--html", deceives}));
  EXPECT_EQ(finished.code(), 2);
  EXPECT_TRUE(holds(finished.err, "name the same file")) << finished.err;
  EXPECT_EQ(file.content(), "before");
}

TEST(Memory, what_was_stored_is_written_again_in_every_form) {
  const TemporaryFile stored("memory.json");
  (void)tally(with(small_curve, {"-o", stored.path()}));
  const std::string json = stored.content().value_or("");
  EXPECT_EQ(tally({"export", "--format", "json", stored.path()}).out, json);
  EXPECT_TRUE(holds(tally({"export", "--format", "table", stored.path()}).out, " region "));
  EXPECT_EQ(split(tally({"export", stored.path()}).out, '\n').size(), 1 + 17 + 1u);
  EXPECT_TRUE(holds(tally({"export", "--format", "hpctool", stored.path()}).err, "the formats are: table, csv, json"));
  EXPECT_TRUE(
      holds(tally({"export", "--format", "lens-csv", stored.path()}).err, "needs one of the tasks chase-write"));
  const TemporaryFile rows("memory.lens-csv");
  EXPECT_TRUE(holds(tally({"report", stored.path(), "-o", rows.path()}).err, "needs one of the tasks chase-write"));
  EXPECT_TRUE(holds(tally({"export", "--per-thread", stored.path()}).err, "only --format and -o can be used"));
  EXPECT_EQ(tally({"export", "-o", stored.path(), stored.path()}).code(), 2);
  EXPECT_EQ(stored.content(), json);
}

TEST(Memory, a_map_has_the_mappings_that_it_names) {
  const Words few{"memory", "lap", "--regions", "256", "--stride", "64", "--batches", "2", "--format", "json"};
  for (const auto& [asked, mappings] : {std::pair{Words{}, 2}, std::pair{Words{"--mappings", "3"}, 3}}) {
    const Json json = Json::parse(tally(with(few, asked)).out);
    EXPECT_EQ(json["settings"]["mappings"], std::to_string(mappings)) << json["settings"];
    EXPECT_EQ(json["points"][0]["mappings"], mappings);
  }
}

TEST(Memory, what_cannot_be_done_is_refused_with_a_hint) {
  const struct {
    Words words;
    int code;
    std::string message;
  } cases[] = {
      {{"memory", "curv"}, 2, "did you mean curve?"},
      {{"memory", "--pages", "8k"}, 2, "page sizes: 4k, thp, 2m, 1g"},
      {{"memory", "--format", "xml"}, 2, "the formats are: table, csv, json, html, lens-csv"},
      {{"memory", "curve", "--format", "lens-csv"}, 2, "needs one of the tasks chase-write, chase-read, chase-raw"},
      {{"memory", "--to", "much"}, 2, "--to: 'much' is not a size"},
      {{"memory", "--from", "1"}, 2, "--from 1 is not a multiple of 64 bytes"},
      {{"memory", "--from", "1M", "--to", "1K"}, 2, "set both with --from and --to"},
      {{"memory", "--to", "900000G"}, 2, "of memory are available"},
      {{"memory", "seq-bw", "--regions", "900000G"}, 2, "--regions sets a smaller one"},
      {{"memory", "--store", "nt1024"}, 2, "unknown --store 'nt1024'"},
      {{"memory", "chase-read", "--regions", "64", "--blocks", "4K"}, 2, "no region holds a block of 4.000 KiB"},
      {{"memory", "seq-bw", "--regions", "64,1M", "--blocks", "4K"}, 2, "a region of 64 B holds no block"},
      {{"memory", "mlp", "--regions", "64,1M"}, 2, "a region of 64 B holds fewer than 16 lines"},
      {{"memory", "chase-raw", "--regions", "4K", "--working-set", "2K"}, 2, "is smaller than a region of 4.000 KiB"},
      {{"memory", "curve", "--working-set", "2M"}, 2, "the task curve cannot be used with --working-set"},
      {{"memory", "lap", "--regions", "4K,64M", "--stride", "4K"}, 2, "span more than 64.00 MiB"},
      {{"memory", "--preset", "lense"}, 2, "the presets are: lens-small"},
      {{"memory", "--regions", "4K,few"}, 2, "--regions: 'few' is not a size"},
      {{"memory", "--cpu", "99999"}, 2, "processor 99999 does not exist"},
      {{"memory", "--mappings", "0"}, 2, "--mappings"},
      {{"memory", "curve", "--order", "lru"},
       2,
       "the orders are: random, page-local, forward, backward, fresh-per-lap"},
      {{"memory", "--order", "forward"}, 2, "these do: curve, lap"},
      {{"memory", "curve", "--regions", "4K,8K"}, 2, "the task curve cannot be used with --regions"},
      {{"memory", "clock", "--preset", "lens-small"}, 2, "the task clock cannot be used with --regions"},
      {{"memory", "clock", "--pages", "2m"}, 2, "the task clock measures no memory"},
      {{"memory", "clock", "--mappings", "3"}, 2, "the task clock has a fixed number of measurements"},
      {{"memory", "line", "--batches", "30"}, 2, "the task line has a fixed number of measurements"},
      {{"memory", "curve", "--store", "nt32"}, 2, "the task curve cannot be used with --store"},
      {{"memory", "levels", "--fence", "sfence"}, 2, "the task levels cannot be used with --fence"},
      {{"memory", "--seed", "-1"}, 2, "--seed"},
      {{"memory", "tlb", "--blocks", "128"}, 2, "the task tlb cannot be used with --blocks"},
      {{"memory", "mlp", "--stride", "128"}, 2, "the task mlp cannot be used with --stride"},
      {{"memory", "lap", "--to", "4K"}, 2, "these do: levels, curve"},
      {{"memory", "lap", "--regions", "100"}, 2, "--regions 100 is not a multiple of 64 bytes"},
      {{"memory", "curve", "--node", "77"}, 2, "there is no memory node 77 here"},
      {{"memory", "nodes", "--node", "0"}, 2, "omit --node"},
      {{"memory", "curve", "--node", "0", "--file", "/dev/null"}, 2, "--node and --file cannot be used together"},
      {{"memory", "curve", "--to", "8K", "--file", "/nowhere/file"}, 125, "No such file or directory"},
  };
  for (const auto& one : cases) {
    const Finished finished = tally(one.words);
    EXPECT_EQ(finished.code(), one.code) << one.message << "\n" << finished.err;
    EXPECT_TRUE(holds(finished.err, one.message)) << one.message << "\n" << finished.err;
    EXPECT_EQ(finished.out, "") << one.message;
  }
}

std::set<std::int64_t> values(const Json& points, const std::string& name) {
  std::set<std::int64_t> all;
  for (const Json& point : points) all.insert(point[name].get<std::int64_t>());
  return all;
}

// A task that is listed but never run, as in an earlier tool, would be a name only. A size that is accepted but not
// measured would be missing without a word.
TEST(B4, every_task_that_is_listed_gives_rows_for_each_size) {
  const std::string help = tally({"help", "memory"}).out;
  const std::size_t start = help.find("The tasks:\n\n") + 12;
  for (const std::string& line : split(help.substr(start, help.find("\n\n", start) - start), '\n')) {
    const std::string task = line.substr(2, line.find(' ', 2) - 2);
    if (task == "levels") continue;  // most of a minute; its parts are the others
    Words words{"memory", task, "--mappings", "1", "--batches", "1", "--format", "json"};
    const Words regions{"--regions", "4K,8K"};
    const Words blocks{"--blocks", "64,256"};
    Finished finished = tally(with(with(words, regions), blocks));
    const bool takes_regions = !holds(finished.err, "cannot be used with --regions");
    if (takes_regions) words = with(words, regions);
    if (!takes_regions) finished = tally(with(words, blocks));
    const bool takes_blocks = !holds(finished.err, "cannot be used with --blocks");
    if (takes_blocks) words = with(words, blocks);
    if (!takes_blocks) finished = tally(with(words, takes_regions ? Words{} : Words{"--from", "4K", "--to", "8K"}));
    if (holds(finished.err, "cannot be used with --from")) finished = tally(words);
    if (holds(finished.err, "cannot be used with --mappings")) finished = tally({"memory", task, "--format", "json"});
    if (holds(finished.err, "may run on only one")) continue;  // it needs two processors
    ASSERT_NE(finished.out, "") << task << finished.err;
    const Json json = Json::parse(finished.out);
    EXPECT_EQ(json["task"], task);
    const bool has_rates = task == "ceilings";
    EXPECT_FALSE(json["points"].empty() && !has_rates) << task;
    EXPECT_EQ(json.contains("ceilings"), has_rates) << task;
    for (const Json& point : json["points"]) EXPECT_EQ(point["task"], task);
    if (takes_regions) EXPECT_EQ(values(json["points"], "region_bytes"), (std::set<std::int64_t>{4096, 8192})) << task;
    if (takes_blocks) EXPECT_EQ(values(json["points"], "block_bytes"), (std::set<std::int64_t>{64, 256})) << task;
  }
}

TEST(Memory, rows_name_their_order_and_their_node) {
  for (const std::string order :
       {"random", "page-local", "forward", "backward", "fresh-per-lap", "back-and-forth", "interleaved"}) {
    const Json json = Json::parse(tally(with(small_curve, {"--order", order, "--node", "0", "--format", "json"})).out);
    EXPECT_EQ(json["points"].size(), 17u) << order;
    for (const Json& point : json["points"]) {
      ASSERT_EQ(point["order"], order);
      EXPECT_EQ(point["node"], 0);
      EXPECT_GT(point["ns"].get<double>(), 0) << order;
    }
  }
}

TEST(Memory, the_loop_without_the_writes_is_reported) {
  const Json json =
      Json::parse(tally({"memory", "chase-write", "--regions", "4K,1M", "--mappings", "1", "--format", "json"}).out);
  ASSERT_EQ(json["controls"].size(), 2u);
  EXPECT_EQ(json["controls"][1]["name"], "loop alone, 1.000 MiB in blocks of 64 B");
  // A turn of a loop takes at least a cycle, and no processor executes twenty in a nanosecond.
  EXPECT_GT(json["controls"][1]["value"].get<double>(), 0.05);
  EXPECT_LT(json["controls"][1]["value"].get<double>(), json["points"][1]["ns"].get<double>());
}

// With one mapping the table does not repeat itself.
TEST(Memory, a_translation_buffer_alone_is_graded_as_in_the_report) {
  const Json json = Json::parse(tally({"memory", "tlb", "--mappings", "1", "--format", "json"}).out);
  EXPECT_FALSE(json["points"].empty());
  EXPECT_TRUE(json["findings"].empty()) << json["findings"];
  if (json["verdict"]["contended"]) return;
  ASSERT_FALSE(json["tlbs"].empty());
  const Json& first = json["tlbs"][0];
  EXPECT_EQ(first["name"], "DTLB");
  EXPECT_EQ(first["grade"], "low") << first;
  EXPECT_TRUE(first["ways"].is_null()) << first;
  EXPECT_FALSE(first["because"].is_null());
}

TEST(Memory, a_working_set_decides_how_many_regions_a_pass_visits) {
  const Json json = Json::parse(tally({"memory", "chase-write", "--regions", "4K,64K", "--working-set", "1M",
                                       "--mappings", "1", "--format", "json"})
                                    .out);
  ASSERT_EQ(json["points"].size(), 2u);
  EXPECT_EQ(json["points"][0]["regions"], 256);
  EXPECT_EQ(json["points"][1]["regions"], 16);
}

TEST(B6, rows_name_the_flavours_that_were_asked_for) {
  const Finished finished = tally({"memory", "chase-read", "--regions", "4K", "--blocks", "64,256", "--mappings", "1",
                                   "--store", plain_store, "--load", "scalar", "--fence", "none", "--format", "json"});
  const Json points = Json::parse(finished.out)["points"];
  ASSERT_EQ(points.size(), 4u);
  for (const Json& point : points) {
    EXPECT_EQ(point["store"], plain_store);
    EXPECT_EQ(point["fence"], "none");
    EXPECT_EQ(point["load"], point["quantity"] == "read" ? Json("scalar") : Json());
  }
}

// A process that may run on this processor only, and never sleeps.
std::unique_ptr<Running> competitor(const std::string& processor) {
  auto other = std::make_unique<Running>(
      Words{"/bin/sh", "-c", "taskset -p -c " + processor + " $$; echo here; while :; do :; done"});
  EXPECT_TRUE(other->wait_for_output("here"));
  return other;
}

// Earlier tools then printed two to four times too much, without a remark. A walk that is complete between two time
// slices of the others may be reported, with that remark.
TEST(Memory, a_report_while_others_have_the_processor_says_so) {
  const std::string processor = std::to_string(sched_getcpu());
  std::vector<std::unique_ptr<Running>> others;
  for (int i = 0; i < 3; ++i) others.push_back(competitor(processor));
  const TemporaryFile file("memory.json");
  const Finished finished =
      tally({"memory", "--cpu", processor, "--to", "64K", "--mappings", "3", "--time-budget", "8", "-o", file.path()});
  for (const auto& other : others) {
    other->signal(SIGKILL);
    (void)other->finish();
  }
  EXPECT_EQ(finished.code(), 1) << finished.err;
  EXPECT_TRUE(holds(finished.err, "tally: contended: ") && holds(finished.err, "next: ")) << finished.err;
  const Json json = Json::parse(file.content().value_or(""));
  EXPECT_TRUE(json["verdict"]["contended"].get<bool>());
  EXPECT_EQ(json["verdict"]["cause"], "the processor was shared");
  EXPECT_FALSE(json["verdict"]["advice"].is_null());
  const std::string why = json["verdict"]["why"];
  EXPECT_TRUE(holds(why, "the processor was shared")) << why;
  ASSERT_FALSE(json["levels"].empty());
  for (const Json& level : json["levels"]) {
    if (level["contended"].get<bool>() || !level["seen"].get<bool>()) {
      EXPECT_TRUE(level["capacity_bytes"].is_null()) << level;
    } else {
      EXPECT_NE(level["grade"], "high") << level;
      EXPECT_TRUE(holds(level["because"], "the processor was shared")) << level;
    }
  }
}

TEST(Memory, a_file_that_cannot_be_written_to_is_reported) {
  const TemporaryFile read_only("memory", std::string(65536, 'x'), 0444);
  const Finished finished = tally({"memory", "curve", "--to", "8K", "--file", read_only.path()});
  if (finished.code() != 125) GTEST_SKIP() << "this user may write to every file";
  EXPECT_TRUE(holds(finished.err, "it must exist and be writable"));
}

TEST(Memory, a_file_can_be_the_memory_and_one_that_is_too_small_is_reported) {
  const TemporaryFile file("memory", std::string(65536, 'x'));
  const Finished finished = tally({"memory", "curve", "--to", "32K", "--mappings", "1", "--batches", "2", "--format",
                                   "json", "--file", file.path()});
  EXPECT_EQ(Json::parse(finished.out)["points"].size(), 25u);
  const Finished small = tally({"memory", "curve", "--to", "1M", "--file", file.path()});
  EXPECT_TRUE(holds(small.err, "truncate -s")) << small.err;
}

// The curve fits into it, the maps of lines and strides do not.
TEST(Memory, a_file_that_is_too_small_for_the_controls_keeps_the_levels) {
  const TemporaryFile file("memory", std::string(1 << 20, 'x'));
  const Finished finished = tally({"memory", "--to", "256K", "--format", "json", "--file", file.path()});
  const Json json = Json::parse(finished.out);
  EXPECT_FALSE(json["levels"].empty());
  EXPECT_FALSE(json["points"].empty());
  if (json["levels"][0]["contended"] == true) GTEST_SKIP() << "the machine is too busy for a first level";
  EXPECT_EQ(finished.code(), 125) << finished.err;
}

TEST(Memory, an_interrupt_keeps_what_was_measured) {
  Running running(
      tally_words({"memory", "curve", "--from", "4K", "--to", "64K", "--mappings", "1000", "--format", "json"}));
  // Once it watches its own waiting time in the run queue, it handles signals as messages.
  const auto has_begun = [&] {
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(running.pid()) + "/fd", error)) {
      if (holds(std::filesystem::read_symlink(entry, error).string(), "schedstat")) return true;
    }
    return false;
  };
  while (!has_begun()) {
  }
  running.signal(SIGINT);
  const Finished finished = running.finish();
  EXPECT_EQ(finished.code(), -SIGINT);
  const Json json = Json::parse(finished.out);
  EXPECT_FALSE(json["complete"].get<bool>());
  EXPECT_EQ(json["notices"][0], "interrupted: results so far");
}

}  // namespace
}  // namespace tally::test
