// A directory with a suite of `tally bench`.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {

class Bench : public testing::Test {
 protected:
  void suite(const std::string& loop_end, const std::string& more = "") {
    std::ofstream(folder_ / "tally-bench.toml")
        << "[defaults]\nevents = [\"instructions\", \"loads\"]\nfail-above = [\"instructions=1%\"]\n"
           "[[benchmark]]\nname = \"loop\"\ndirectory = \"sub\"\n"
           "command = [\"sh\", \"-c\", \"read end <end; i=0; while [ $i -lt $end ]; do i=$((i + 1)); done\"]\n"
           "[[benchmark]]\nname = \"true\"\ncommand = [\"true\"]\nrepeats = 2\n"
        << more;
    std::filesystem::create_directories(folder_ / "sub");
    std::ofstream(folder_ / "sub/end") << loop_end << "\n";
  }
  Finished bench(const Words& more = {}) {
    return Running(with({"/usr/bin/env", "-C", folder_.string(), TALLY_COMMAND, "bench"}, more)).finish();
  }
  std::string text(const std::string& name) const {
    return TemporaryFile::read((folder_ / name).string()).value_or("");
  }

  TemporaryFile marker_{"marker", ""};
  std::filesystem::path folder_ = marker_.folder();
};

}  // namespace tally::test
