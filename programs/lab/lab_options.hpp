// The checked options of `tally lab`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tally::lab {

struct Options {
  std::string file;
  std::string statements;
  std::string model = {};  ///< empty: depends on the program
  int bits = 0;
  std::uint64_t skid = 0;
  std::uint64_t base = 1;
  std::uint64_t current = 1;
  std::uint64_t width = 1;
  std::uint64_t cache = 0;  ///< 0: depends on the program
  std::vector<std::string> defines;
  bool single = false;
  bool overcount = false;
  bool trace = false;
  bool step = false;
  std::string time;
  bool explain = false;
  bool quiet = false;
  bool dump = false;
  bool json = false;
  bool interactive = false;
  bool reads = false;
  bool barriers = false;
  std::uint64_t max_instructions = 0;  ///< 0: depends on the program
  std::vector<std::string> breaks;
};

}  // namespace tally::lab
