// Pages as a browser shows them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string content_of(const std::string& path);

/// Where a browser is; empty where none is.
std::string browser();

/// The page after its program has run, as a browser holds it. `probe` runs in it last.
std::string as_shown(const std::string& page, const std::string& probe, const Words& more = {});

/// What the probe left.
std::string seen(const std::string& dom);

/// What `tally report` makes of files.
std::string page_of(const Words& files);

class Browser : public testing::Test {
 protected:
  void SetUp() override {
    if (browser().empty()) GTEST_SKIP() << "no browser here: ./dev setup test installs chromium where it is packaged";
  }
};

}  // namespace tally::test
