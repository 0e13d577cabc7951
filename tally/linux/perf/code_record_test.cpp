#include "tally/linux/perf/code_record.hpp"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <string>
#include <vector>

namespace tally::linux {
namespace {

using Kind = CodeRecord::Kind;

/// Builds the body of a record from its fields.
class Body {
 public:
  template <class T>
  Body& add(T value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
    return *this;
  }
  Body& text(const std::string& name, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) bytes_.push_back(static_cast<std::byte>(i < name.size() ? name[i] : 0));
    return *this;
  }
  /// Follows all records except samples.
  Body& trailer(std::int32_t process, std::int32_t thread, std::int64_t time, std::uint64_t id) {
    return add(process).add(thread).add(time).add(id);
  }
  CodeRecord read(std::uint32_t type, std::uint16_t misc = 0, bool calls = false) const {
    return code_record({type, bytes_, misc}, calls);
  }
  /// Reads it without its last bytes.
  CodeRecord cut(std::size_t by, std::uint32_t type, bool calls = false) const {
    return code_record({type, std::span(bytes_).first(bytes_.size() - by), 0}, calls);
  }

 private:
  std::vector<std::byte> bytes_;
};

using u64 = std::uint64_t;

TEST(CodeRecord, of_a_sample) {
  Body body;
  body.add(u64{77}).add(u64{0x401000}).add(std::int32_t{7}).add(std::int32_t{8}).add(u64{1000}).add(u64{250});
  const CodeRecord plain = body.read(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
  EXPECT_EQ(plain.what, Kind::sample);
  EXPECT_EQ(plain.id, 77u);
  EXPECT_EQ(plain.address, 0x401000u);
  EXPECT_EQ(plain.process, 7);
  EXPECT_EQ(plain.thread, 8);
  EXPECT_EQ(plain.time_ns, 1000);
  EXPECT_EQ(plain.period, 250);
  EXPECT_FALSE(plain.in_kernel);
  EXPECT_TRUE(body.read(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL).in_kernel);
  EXPECT_EQ(body.cut(1, PERF_RECORD_SAMPLE).what, Kind::other);
  body.add(u64{2}).add(static_cast<u64>(PERF_CONTEXT_USER)).add(u64{0x401000});
  const CodeRecord called = body.read(PERF_RECORD_SAMPLE, 0, true);
  ASSERT_EQ(called.depth(), 2u);
  EXPECT_TRUE(is_chain_mark(called.called(0)) && is_mark_of_user(called.called(0)));
  EXPECT_EQ(called.called(1), 0x401000u);
  EXPECT_FALSE(is_chain_mark(called.called(1)));
  EXPECT_EQ(body.cut(8, PERF_RECORD_SAMPLE, true).what, Kind::other) << "fewer addresses than it says";
}

TEST(CodeRecord, of_a_mapping) {
  Body body;
  body.add(std::int32_t{7}).add(std::int32_t{8}).add(u64{0x1000}).add(u64{0x2000}).add(u64{0x3000});
  body.add(std::uint32_t{8}).add(std::uint32_t{1}).add(u64{55}).add(u64{0}).add(std::uint32_t{5}).add(std::uint32_t{2});
  body.text("/bin/prog", 16).trailer(7, 8, 1000, 99);
  const CodeRecord read = body.read(PERF_RECORD_MMAP2);
  EXPECT_EQ(read.what, Kind::mapped);
  EXPECT_EQ(read.address, 0x1000u);
  EXPECT_EQ(read.bytes, 0x2000u);
  EXPECT_EQ(read.offset, 0x3000u);
  EXPECT_EQ(read.inode, 55u);
  EXPECT_EQ(read.device_major, 8u);
  EXPECT_EQ(read.device_minor, 1u);
  EXPECT_EQ(read.name, "/bin/prog");
  EXPECT_EQ(read.time_ns, 1000);
  EXPECT_EQ(body.cut(24, PERF_RECORD_MMAP2).what, Kind::other);
}

TEST(CodeRecord, of_a_mapping_with_a_build_id) {
  Body body;
  body.add(std::int32_t{7}).add(std::int32_t{8}).add(u64{0x1000}).add(u64{0x2000}).add(u64{0x3000});
  body.add(std::uint8_t{3}).add(std::uint8_t{0}).add(std::uint16_t{0}).text("\xab\xcd\xef", 20);
  body.add(std::uint32_t{5}).add(std::uint32_t{2}).text("/bin/prog", 16).trailer(7, 8, 1000, 99);
  const CodeRecord read = body.read(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
  EXPECT_EQ(read.what, Kind::mapped);
  ASSERT_EQ(read.build_id.size(), 3u);
  EXPECT_EQ(read.build_id[0], std::byte{0xab});
  EXPECT_EQ(read.build_id[2], std::byte{0xef});
  EXPECT_EQ(read.inode, 0u);
  EXPECT_EQ(read.name, "/bin/prog");
}

TEST(CodeRecord, of_what_programs_do) {
  Body fork;
  for (const std::int32_t one : {9, 7, 10, 8}) fork.add(one);
  fork.add(u64{1}).trailer(7, 8, 1000, 99);
  const CodeRecord begun = fork.read(PERF_RECORD_FORK);
  EXPECT_EQ(begun.what, Kind::begun);
  EXPECT_EQ(begun.process, 9);
  EXPECT_EQ(begun.parent_process, 7);
  EXPECT_EQ(begun.thread, 10);
  EXPECT_EQ(begun.parent_thread, 8);
  Body comm;
  comm.add(std::int32_t{7}).add(std::int32_t{8}).text("name", 8).trailer(7, 8, 1000, 99);
  EXPECT_EQ(comm.read(PERF_RECORD_COMM).what, Kind::named);
  EXPECT_EQ(comm.read(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC).what, Kind::executed);
  EXPECT_EQ(comm.read(PERF_RECORD_COMM).name, "name");
}

TEST(CodeRecord, of_what_is_missing) {
  Body lost;
  lost.add(u64{1234}).add(u64{5}).trailer(7, 8, 1000, 99);
  const CodeRecord read = lost.read(PERF_RECORD_LOST);
  EXPECT_EQ(read.what, Kind::lost);
  EXPECT_EQ(read.value, 5);
  EXPECT_EQ(read.id, 99u) << "that of the counter, and not of what inherited it";
  Body throttle;
  throttle.add(u64{1}).add(u64{99}).add(u64{99}).trailer(7, 8, 1000, 99);
  EXPECT_EQ(throttle.read(PERF_RECORD_THROTTLE).what, Kind::throttled);
}

}  // namespace
}  // namespace tally::linux
