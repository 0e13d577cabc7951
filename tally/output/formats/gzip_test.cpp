// gzip itself reads the compressed data.
#include "tally/output/formats/gzip.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace tally::report {
namespace {

std::string unpacked(const std::string& file) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("gzip_test." + std::to_string(std::random_device{}()) + ".gz");
  std::ofstream(path, std::ios::binary) << file;
  FILE* const pipe = popen(("gzip -dc " + path.string()).c_str(), "r");
  std::string bytes;
  for (int c; (c = std::fgetc(pipe)) != EOF;) bytes += static_cast<char>(c);
  const int ended = pclose(pipe);
  std::filesystem::remove(path);
  return ended == 0 ? bytes : "gzip failed";
}

TEST(Gzip, is_read_by_gzip) {
  std::mt19937 random(7);
  std::string noise, words;
  for (int i = 0; i < 100'000; ++i) noise += static_cast<char>(random());
  for (int i = 0; i < 30'000; ++i) words += "function " + std::to_string(random() % 300) + "\n";
  for (const std::string& bytes :
       {std::string(), std::string("a"), std::string("abcd"), std::string(1'000'000, 'x'), noise, words,
        words + noise.substr(0, 40'000) + words, std::string(3, '\0') + std::string(300, '\xff')})
    EXPECT_TRUE(unpacked(gzipped(bytes)) == bytes) << bytes.size();
  EXPECT_LT(gzipped(words).size(), words.size() / 3);
  EXPECT_LT(gzipped(std::string(1'000'000, 'x')).size(), 10'000u);
}

}  // namespace
}  // namespace tally::report
