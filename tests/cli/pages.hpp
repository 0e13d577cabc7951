// Pages as a browser shows them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {

std::string content_of(const std::string& path);

/// The path of a browser; empty if there is none.
std::string browser();

/// The page after its script has run, as the browser's DOM. `probe` runs last in it.
std::string render(const std::string& page, const std::string& probe, const Words& more = {});

/// The text that the probe left.
std::string probe_output(const std::string& dom);

/// The page that `tally report` makes of files.
std::string page_of(const Words& files);

class Browser : public testing::Test {
 protected:
  void SetUp() override {
    if (browser().empty()) GTEST_SKIP() << "no browser: ./dev setup all installs chromium where it is packaged";
  }
};

}  // namespace tally::test
