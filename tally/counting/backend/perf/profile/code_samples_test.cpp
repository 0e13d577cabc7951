#include "tally/counting/backend/perf/profile/code_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace tally::backend::perf {
namespace {

using Kind = linux::CodeRecord::Kind;

// Markers in call chains (enum perf_callchain_context).
constexpr auto in_kernel = static_cast<std::uint64_t>(-128), in_user = static_cast<std::uint64_t>(-512);

/// Creates records, and passes them to a CodeSamples.
struct RecordedSamples {
  std::deque<std::vector<std::uint64_t>> chains;
  CodeSamples samples;

  explicit RecordedSamples(std::size_t events = 1, bool calls = false) : samples(events, calls) {
    for (std::size_t e = 0; e < events; ++e) samples.add_counter(100 + e, e);
  }
  void record_process(Kind what, std::int32_t process, std::int32_t thread, std::string_view name = "",
                      std::int32_t parent = 0) {
    linux::CodeRecord record;
    record.what = what;
    record.process = process;
    record.thread = thread;
    record.name = name;
    record.parent_process = record.parent_thread = parent;
    samples.see(record);
  }
  void map(std::int32_t process, std::uint64_t start, std::uint64_t bytes, std::uint64_t offset, std::string_view name,
           std::uint64_t inode) {
    linux::CodeRecord record;
    record.what = Kind::mapped;
    record.process = record.thread = process;
    record.address = start;
    record.bytes = bytes;
    record.offset = offset;
    record.name = name;
    record.inode = inode;
    samples.see(record);
  }
  void sample(std::int32_t process, std::int32_t thread, std::uint64_t address, std::int64_t period = 10,
              std::vector<std::uint64_t> chain = {}, std::uint64_t id = 100, bool kernel = false) {
    chains.push_back(std::move(chain));
    linux::CodeRecord record;
    record.what = Kind::sample;
    record.process = process;
    record.thread = thread;
    record.address = address;
    record.period = period;
    record.id = id;
    record.in_kernel = kernel;
    record.chain = std::as_bytes(std::span(chains.back()));
    samples.see(record);
  }
};

std::int64_t count(const result::CodeCounts& code, std::string_view path, std::uint64_t address,
                   std::size_t event = 0) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < code.rows.size(); ++i)
    if (code.files[code.rows[i].file].path == path && code.rows[i].address == address)
      sum += code.counts[i * code.sampling.size() + event];
  return sum;
}

/// One path may name several files over time: the kernel's build ID or inode generation distinguishes them.
TEST(CodeSamples, distinguish_files_of_one_path) {
  RecordedSamples recorded;
  const auto map = [&](std::int32_t process, std::string_view build_id, std::uint64_t generation) {
    linux::CodeRecord record;
    record.what = Kind::mapped;
    record.process = record.thread = process;
    record.address = 0x400000;
    record.bytes = 0x1000;
    record.name = "/bin/prog";
    record.build_id = std::as_bytes(std::span(build_id));
    if (build_id.empty()) record.inode = 5;
    record.generation = generation;
    recorded.samples.see(record);
    recorded.sample(process, process, 0x400010, 10);
  };
  map(7, "abc", 0);
  map(8, "abd", 0);
  map(9, "abc", 0);
  map(10, "", 1);
  map(11, "", 2);
  const result::CodeCounts code = recorded.samples.finish();
  ASSERT_EQ(code.files.size(), 4u);
  ASSERT_TRUE(code.files[0].identity && code.files[1].identity);
  EXPECT_EQ(code.files[0].identity->build_id, "616263");
  EXPECT_EQ(code.files[1].identity->build_id, "616264");
  EXPECT_FALSE(code.files[2].identity || code.files[3].identity);
  EXPECT_EQ(code.rows[0].address, 0x10u);
}

TEST(CodeSamples, are_added_up_by_file_and_address) {
  RecordedSamples recorded;
  recorded.record_process(Kind::executed, 7, 7, "prog");
  recorded.map(7, 0x300000, 0x1000, 0, "/lib/never", 6);
  recorded.map(7, 0x400000, 0x2000, 0x1000, "/bin/prog", 5);
  recorded.sample(7, 7, 0x400010, 10);
  recorded.sample(7, 7, 0x400010, 30);
  recorded.sample(7, 8, 0x401fff, 20);
  const result::CodeCounts code = recorded.samples.finish();
  EXPECT_EQ(count(code, "/bin/prog", 0x1010), 40);
  EXPECT_EQ(count(code, "/bin/prog", 0x2fff), 20);
  ASSERT_EQ(code.owners.size(), 2u);
  EXPECT_EQ(code.owners[0].command, "prog");
  EXPECT_EQ(code.owners[1].tid, 8);
  EXPECT_EQ(code.sampling[0].samples, 3);
  // (10 + 30 + 20)² / (10² + 30² + 20²)
  EXPECT_NEAR(code.sampling[0].effective, 3600.0 / 1400, 1e-9);
  EXPECT_EQ(code.samples, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(code.files.size(), 1u) << "only the sampled ones of the mapped files";
}

TEST(CodeSamples, use_the_mapping_of_their_time) {
  RecordedSamples recorded;
  recorded.map(7, 0x10000, 0x4000, 0, "/lib/a", 1);
  recorded.sample(7, 7, 0x11000);
  recorded.map(7, 0x11000, 0x1000, 0x8000, "/lib/b", 2);  // in the middle of it
  recorded.sample(7, 7, 0x10800);
  recorded.sample(7, 7, 0x11000);
  recorded.sample(7, 7, 0x12000);
  recorded.sample(7, 7, 0x14000);  // after its end
  const result::CodeCounts code = recorded.samples.finish();
  EXPECT_EQ(count(code, "/lib/a", 0x1000), 10);
  EXPECT_EQ(count(code, "/lib/a", 0x800), 10);
  EXPECT_EQ(count(code, "/lib/b", 0x8000), 10);
  EXPECT_EQ(count(code, "/lib/a", 0x2000), 10);
  EXPECT_EQ(count(code, "", 0x14000), 10);
}

TEST(CodeSamples, of_children_use_their_parents_mappings_until_they_execute) {
  RecordedSamples recorded;
  recorded.record_process(Kind::executed, 7, 7, "sh");
  recorded.map(7, 0x1000, 0x1000, 0, "/bin/sh", 1);
  recorded.record_process(Kind::begun, 9, 9, "", 7);
  recorded.map(7, 0x1000, 0x1000, 0, "/bin/other", 3);  // the parent's own
  recorded.sample(9, 9, 0x1004);
  recorded.record_process(Kind::executed, 9, 9, "fifteen-letters");
  recorded.sample(9, 9, 0x1004);
  recorded.map(9, 0x1000, 0x1000, 0, "/bin/fifteen-letters-and-more", 2);
  recorded.sample(9, 9, 0x1004);
  const result::CodeCounts code = recorded.samples.finish();
  EXPECT_EQ(count(code, "/bin/sh", 4), 10);
  EXPECT_EQ(count(code, "", 0x1004), 10);
  EXPECT_EQ(count(code, "/bin/fifteen-letters-and-more", 4), 10);
  EXPECT_EQ(code.owners.front().command, "sh");
  EXPECT_EQ(code.owners.back().command, "fifteen-letters-and-more");
}

TEST(CodeSamples, find_the_vdso_by_its_start) {
  RecordedSamples recorded;
  recorded.map(7, 0x7fff0000, 0x1000, 0, "[vdso]", 0);
  recorded.map(8, 0x5fff0000, 0x1000, 0, "[vdso]", 0);
  recorded.map(7, 0x20000, 0x1000, 0, "//anon", 0);
  recorded.sample(7, 7, 0x7fff0123);
  recorded.sample(8, 8, 0x5fff0123);
  recorded.sample(7, 7, 0x20004);
  recorded.sample(7, 7, 0xffffffff81000010, 10, {}, 100, true);
  const result::CodeCounts code = recorded.samples.finish();
  EXPECT_EQ(count(code, "[vdso]", 0x123), 20);
  EXPECT_EQ(count(code, "", 0x20004), 10);
  EXPECT_EQ(count(code, result::kernel_code, 0xffffffff81000010), 10);
}

TEST(CodeSamples, distinguish_events_and_count_losses) {
  RecordedSamples recorded(2);
  recorded.map(7, 0x1000, 0x1000, 0, "/a", 1);
  recorded.sample(7, 7, 0x1000, 5, {}, 100);
  recorded.sample(7, 7, 0x1000, 7, {}, 101);
  linux::CodeRecord lost;
  lost.what = Kind::lost;
  lost.id = 101;
  lost.value = 3;
  recorded.samples.see(lost);
  lost.id = 99;  // a process record
  recorded.samples.see(lost);
  lost.what = Kind::throttled;
  lost.id = 100;
  recorded.samples.see(lost);
  const result::CodeCounts code = recorded.samples.finish();
  EXPECT_EQ(count(code, "/a", 0, 0), 5);
  EXPECT_EQ(count(code, "/a", 0, 1), 7);
  EXPECT_EQ(code.sampling[1].lost, 3);
  EXPECT_EQ(code.sampling[0].lost, 0);
  EXPECT_EQ(code.sampling[0].throttled, 1);
  EXPECT_EQ(recorded.samples.lost_process_records(), 3);
}

/// The inclusive count of a call target.
std::int64_t inclusive(const result::CodeCounts& code, std::uint64_t target) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < code.calls.size(); ++i)
    if (code.calls[i].target == target) sum += code.inclusive[i];
  return sum;
}

TEST(CodeSamples, record_call_stacks) {
  RecordedSamples recorded(1, true);
  recorded.map(7, 0x1000, 0x1000, 0, "/a", 1);
  // The sampled instruction, then return addresses: the call is right before each.
  recorded.sample(7, 7, 0x1100, 10, {in_user, 0x1100, 0x1205, 0x1305});
  recorded.sample(7, 7, 0x1104, 10, {in_user, 0x1104, 0x1205, 0x1305});
  recorded.sample(7, 7, 0x1300, 10, {in_user, 0x1300});
  // In the kernel, which the program entered at 0x1110.
  recorded.sample(7, 7, 0xffffffff81000010, 10,
                  {in_kernel, 0xffffffff81000010, 0xffffffff81000105, in_user, 0x1110, 0x1205, 0x1305}, 100, true);
  const result::CodeCounts code = recorded.samples.finish();
  EXPECT_EQ(inclusive(code, 0x304), 30);
  EXPECT_EQ(inclusive(code, 0x204), 30);
  EXPECT_EQ(inclusive(code, 0x100), 10);
  EXPECT_EQ(inclusive(code, 0x110), 10);
  EXPECT_EQ(inclusive(code, 0xffffffff81000104), 10);
  EXPECT_EQ(inclusive(code, 0xffffffff81000010), 10);
  std::int64_t self = 0;
  for (const std::int64_t one : code.self) self += one;
  EXPECT_EQ(self, 40);
  const auto root = std::find_if(code.calls.begin(), code.calls.end(), [](const result::CodeCall& call) {
    return call.target == 0x304 && call.parent == result::CodeCall::no_parent;
  });
  ASSERT_NE(root, code.calls.end());
  EXPECT_EQ(root->site_file, result::CodeCall::no_file);
}

}  // namespace
}  // namespace tally::backend::perf
