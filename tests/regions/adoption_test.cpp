// examples/adoption: regions in programs of others, from their Debian source to the table.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;

const std::string adoption = std::string(EXAMPLES) + "/adoption";

// Every patch in that folder, by the name of its program.
std::set<std::string> names() {
  std::set<std::string> all;
  for (const auto& entry : fs::directory_iterator(adoption)) {
    if (entry.path().extension() == ".patch") all.insert(entry.path().stem());
  }
  return all;
}

// The lines that the patch adds or removes.
std::vector<std::string> changed(const std::string& name) {
  std::vector<std::string> lines;
  std::istringstream text(TemporaryFile::read(adoption + "/" + name + ".patch").value());
  for (std::string line; std::getline(text, line);) {
    const bool file = line.starts_with("+++ ") || line.starts_with("--- ");
    if (!file && (line.starts_with("+") || line.starts_with("-"))) lines.push_back(line);
  }
  return lines;
}

TEST(Adoption, needs_fewer_than_ten_changed_lines) {
  EXPECT_GE(names().size(), 2u);
  for (const std::string& name : names()) {
    EXPECT_LT(changed(name).size(), 10u) << name;
    EXPECT_GE(changed(name).size(), 3u) << name << ": a header and two ends";
  }
}

TEST(Adoption, is_refused_with_a_clear_message) {
  if (Running({"/bin/sh", "-c", "command -v apt-get dpkg-source"}).finish().code() != 0) {
    GTEST_SKIP() << "no apt-get, or no dpkg-source";
  }
  const TemporaryFile apt("apt.conf", "Dir::State::Lists \"/nonexistent\";\n");
  const Words without{"/usr/bin/env", "APT_CONFIG=" + apt.path(), adoption + "/adopt"};
  const auto run = [&](Words arguments) {
    arguments.insert(arguments.begin(), without.begin(), without.end());
    return Running(arguments).finish();
  };
  const Finished no_sources = run({"bzip2"});
  EXPECT_EQ(no_sources.code(), 3) << no_sources.err;
  EXPECT_NE(no_sources.err.find("deb-src is missing"), std::string::npos) << no_sources.err;
  EXPECT_NE(no_sources.err.find("apt-get update"), std::string::npos) << no_sources.err;
  EXPECT_EQ(run({}).code(), 2);
  const Finished unknown = run({"emacs"});
  EXPECT_EQ(unknown.code(), 2);
  EXPECT_NE(unknown.err.find("patches exist for: bzip2"), std::string::npos) << unknown.err;
}

TEST(Adoption, counts_every_region_of_the_patches) {
#if !TALLY_HAS_ENGINE
  GTEST_SKIP() << "there is no engine";
#endif
  const TemporaryFile place("installed");
  const Finished installed = Running({TALLY_CMAKE, "--install", TALLY_BUILD, "--prefix", place.path()}).finish();
  ASSERT_EQ(installed.code(), 0) << installed.out << installed.err;
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const std::string found = "PKG_CONFIG_PATH=$(dirname $(find " + place.path() + " -name tally.pc)) ";
    const Finished finished = Running({"/bin/sh", "-c", found + adoption + "/adopt " + name}).finish();
    if (finished.code() == 3) GTEST_SKIP() << "the source of " << name << " cannot be had here: " << finished.err;
    EXPECT_EQ(finished.code(), 0) << finished.err;
    for (const std::string& line : changed(name)) {
      const std::size_t mark = line.find("TALLY_BEGIN(\"");
      if (mark == std::string::npos) continue;
      const std::size_t begin = line.find('"', mark) + 1;
      const std::string region = line.substr(begin, line.find('"', begin) - begin);
      const std::size_t shown = finished.err.find("\n" + region + ": ");
      ASSERT_NE(shown, std::string::npos) << region << "\n" << finished.err;
      const std::string rest = finished.err.substr(shown + 1, finished.err.find("\n\n", shown) - shown);
      EXPECT_EQ(rest.find(": 0 entries"), std::string::npos) << rest;
      EXPECT_NE(rest.find("exact"), std::string::npos) << rest;
    }
  }
}

}  // namespace
}  // namespace tally::test
