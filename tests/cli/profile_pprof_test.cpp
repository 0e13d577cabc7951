// The pprof form of a profile: decoded here, and by `go tool pprof` if it is installed.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

/// A message of a protocol buffer: its fields by their numbers.
struct Message {
  std::map<int, std::vector<std::int64_t>> numbers;
  std::map<int, std::vector<std::string>> texts;

  static std::int64_t varint(const std::string& bytes, std::size_t& at) {
    std::uint64_t value = 0;
    for (int shift = 0; at < bytes.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes[at++]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return static_cast<std::int64_t>(value);
  }
  explicit Message(const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const std::int64_t key = varint(bytes, at);
      const std::int64_t value = varint(bytes, at);
      const int field = static_cast<int>(key >> 3);
      if ((key & 7) == 0) {
        numbers[field].push_back(value);
        continue;
      }
      EXPECT_EQ(key & 7, 2);
      texts[field].push_back(bytes.substr(at, static_cast<std::size_t>(value)));
      at += static_cast<std::size_t>(value);
    }
  }
  std::int64_t number(int field) const {
    const auto found = numbers.find(field);
    return found == numbers.end() ? 0 : found->second.front();
  }
  std::vector<Message> messages(int field) const {
    std::vector<Message> all;
    if (const auto found = texts.find(field); found != texts.end())
      for (const std::string& text : found->second) all.emplace_back(text);
    return all;
  }
  std::vector<std::int64_t> packed(int field) const {
    std::vector<std::int64_t> values;
    const auto found = texts.find(field);
    for (std::size_t at = 0; found != texts.end() && at < found->second.front().size();)
      values.push_back(varint(found->second.front(), at));
    return values;
  }
};

std::string unpacked(const std::string& file) { return Running({"/bin/sh", "-c", "gzip -dc <" + file}).finish().out; }

struct Pprof {
  Message profile;
  std::map<std::int64_t, std::string> functions;                                     // names by ids
  std::map<std::int64_t, std::vector<std::pair<std::string, std::int64_t>>> places;  // functions and lines by ids

  explicit Pprof(const std::string& file) : profile(unpacked(file)) {
    const auto& strings = profile.texts[6];
    const auto text = [&](std::int64_t i) { return strings.at(static_cast<std::size_t>(i)); };
    for (const Message& function : profile.messages(5)) functions[function.number(1)] = text(function.number(2));
    for (const Message& place : profile.messages(4))
      for (const Message& line : place.messages(4))
        places[place.number(1)].emplace_back(functions.at(line.number(1)), line.number(2));
  }
  /// Functions of a sample from the innermost outwards.
  std::vector<std::string> stack(const Message& sample) const {
    std::vector<std::string> names;
    for (const std::int64_t place : sample.packed(1))
      for (const auto& [name, line] : places.at(place)) names.push_back(name);
    return names;
  }
};

class ProfilePprof : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
  }
  static Finished write(const std::string& file, const Words& options, const std::string& program) {
    Words words{"profile", "-q", "--repeatable", "--format", "pprof", "-o", file};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", program});
    return tally(words);
  }
};

TEST_F(ProfilePprof, adds_up_to_the_totals) {
  const TemporaryFile json("profile.json");
  tally({"profile", "-q", "--repeatable", "--format", "json", "-o", json.path(), "--", PROFILED});
  const auto totals = nlohmann::json::parse(json.content().value_or(""))["events"];
  for (const Words& options : {Words{}, Words{"--calls"}}) {
    const TemporaryFile file("profile.pb.gz");
    ASSERT_EQ(write(file.path(), options, PROFILED).code(), 0);
    const Pprof read(file.path());
    std::vector<std::int64_t> sums(3), of_eleven(3);
    for (const Message& sample : read.profile.messages(2)) {
      const std::vector<std::int64_t> counts = sample.packed(2);
      ASSERT_EQ(counts.size(), 4u);
      EXPECT_EQ(counts[0], counts[1]) << "each instruction is a sample";
      for (std::size_t e = 0; e < 3; ++e) {
        sums[e] += counts[e + 1];
        if (read.stack(sample).front() == "eleven") of_eleven[e] += counts[e + 1];
      }
    }
    for (std::size_t e = 0; e < 3; ++e) EXPECT_EQ(sums[e], totals[e]["value"]) << e;
    // The first type is what go build -pgo reads; instructions are shown by default.
    const auto& strings = read.profile.texts.at(6);
    const auto text = [&](std::int64_t i) { return strings.at(static_cast<std::size_t>(i)); };
    const std::vector<Message> types = read.profile.messages(1);
    ASSERT_EQ(types.size(), 4u);
    EXPECT_EQ(text(types[0].number(1)) + "/" + text(types[0].number(2)), "samples/count");
    EXPECT_EQ(text(read.profile.number(14)), "instructions");
    for (const Message& function : read.profile.messages(5))
      if (text(function.number(2)) == "times") EXPECT_GT(function.number(5), 0) << "where it begins";
    EXPECT_EQ(of_eleven, (std::vector<std::int64_t>{11'000, 2'000, 2'000}));
    // Mappings have their files and build ids.
    std::set<std::string> files;
    for (const Message& mapping : read.profile.messages(3))
      files.insert(read.profile.texts.at(6).at(static_cast<std::size_t>(mapping.number(5))));
    EXPECT_EQ(files.count(PROFILED), 1u);
  }
}

TEST_F(ProfilePprof, has_inlined_functions_and_stacks) {
  const TemporaryFile file("profile.pb.gz");
  ASSERT_EQ(write(file.path(), {"-e", "instructions", "--calls"}, INLINED).code(), 0);
  const Pprof read(file.path());
  std::int64_t three = 0;
  for (const Message& sample : read.profile.messages(2)) {
    const std::vector<std::string> stack = read.stack(sample);
    if (stack.size() < 3 || stack[0] != "three" || stack[1] != "other" || stack[2] != "main") continue;
    three += sample.packed(2).front();
  }
  if (three == 0 && tally({"profile", "-q", "--annotate", "both", "--", INLINED}).code() != 0)
    GTEST_SKIP() << "built without libdw";
  EXPECT_EQ(three, 3);
}

TEST_F(ProfilePprof, is_read_by_go) {
  if (Running({"/bin/sh", "-c", "command -v gzip && go tool pprof -h 2>&1 | grep -q Produce"}).finish().code() != 0)
    GTEST_SKIP() << "go tool pprof is not installed (package golang-go)";
  const TemporaryFile file("profile.pb.gz");
  ASSERT_EQ(write(file.path(), {"--calls"}, PROFILED).code(), 0);
  const auto run = [&](const std::string& command) {
    return Running({"/bin/sh", "-c", "HOME=/tmp " + command + " " + file.path() + " 2>&1"}).finish().out;
  };
  EXPECT_NE(run("gzip -tv").find("OK"), std::string::npos);
  const std::string top = run("go tool pprof -top -cum -nodefraction=0");
  EXPECT_NE(top.find("Type: instructions"), std::string::npos) << top;
  EXPECT_NE(top.find("     11000 "), std::string::npos) << top;
  EXPECT_NE(run("go tool pprof -raw").find("instructions/count"), std::string::npos);
  const std::string list = run("go tool pprof -sample_index=stores -top -nodefraction=0");
  EXPECT_NE(list.find("      2000 "), std::string::npos) << list;
}

}  // namespace
}  // namespace tally::test
