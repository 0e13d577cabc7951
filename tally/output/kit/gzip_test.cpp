// gzip itself reads the compressed data.
#include "tally/output/kit/gzip.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace tally::output {
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

TEST(Gzip, is_unpacked_up_to_damage_or_a_limit) {
  std::string lines;
  for (int i = 0; i < 100'000; ++i) lines += "row " + std::to_string(i * 7919 % 10'007) + "\n";
  const std::string file = gzipped(lines);
  ASSERT_TRUE(is_gzip(file));
  EXPECT_FALSE(is_gzip(lines));
  constexpr std::size_t most = 1 << 30;
  std::string all, two;
  EXPECT_TRUE(gunzip(file, most, all));
  EXPECT_TRUE(all == lines);
  EXPECT_TRUE(gunzip(file + gzipped("end\n"), most, two)) << "gzip files can be concatenated";
  EXPECT_TRUE(two == lines + "end\n");
  std::string cut, changed, short_of, empty;
  EXPECT_FALSE(gunzip(std::string_view(file).substr(0, file.size() / 2), most, cut));
  EXPECT_GT(cut.size(), lines.size() / 4);
  EXPECT_TRUE(lines.starts_with(cut));
  std::string damaged = file;
  damaged[file.size() - 6] ^= 1;  // its checksum
  EXPECT_FALSE(gunzip(damaged, most, changed));
  EXPECT_FALSE(gunzip(file, 1000, short_of));
  EXPECT_TRUE(short_of == lines.substr(0, 1000));
  EXPECT_FALSE(gunzip("", most, empty));
}

}  // namespace
}  // namespace tally::output
