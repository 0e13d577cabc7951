#include "tests/engine/kept_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tally::engine_test {

KeptFile kept_file(const std::string& folder, bool modelled) {
  KeptFile found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with(modelled ? "modelled-" : "translations-"))
      found.path = entry.path();
  }
  EXPECT_NE(found.path, "");
  channel::StoreHeader header{};
  channel::MasterKey master{};
  std::ifstream(found.path, std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof header);
  std::ifstream key(folder + "/key", std::ios::binary);
  key.seekg(24);  // after its head
  key.read(reinterpret_cast<char*>(&master), sizeof master);
  EXPECT_TRUE(key);
  found.key = channel::RecordKey(master, header.engine, modelled);
  return found;
}

}  // namespace tally::engine_test
