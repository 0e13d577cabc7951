// What processes have mapped of code, as records of their counters tell it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "tally/linux/files/code_files.hpp"
#include "tally/linux/perf/code_record.hpp"
#include "tally/output/result/code.hpp"

namespace tally::backend::perf {

/// Where an instruction is: a file of files(), and as CodeRow::address there.
struct CodePlace {
  std::uint32_t file = 0;
  std::uint64_t address = 0;
  bool operator==(const CodePlace&) const = default;
};

/// Pure.
class AddressSpaces {
 public:
  /// When counting begins, in time since 1970, and what is to be added to the times of records to make them that.
  void begin(std::int64_t now_ns, std::int64_t since_1970_ns) {
    began_ns_ = now_ns;
    since_1970_ns_ = since_1970_ns;
  }

  /// Records of mapping, beginning and executing; others are nothing to it.
  void see(const linux::CodeRecord& record);

  /// What a process has mapped already.
  void add(std::int32_t process, const linux::CodeMapping& mapping);
  /// Whether anything is known of it.
  bool knows(std::int32_t process) const { return spaces_.count(process) != 0; }

  /// Of an instruction of a process; nothing where no code is mapped.
  std::optional<CodePlace> find(std::int32_t process, std::uint64_t address) const;
  /// The same; of memory that nobody told of, a file without a name.
  CodePlace place(std::int32_t process, std::uint64_t address);
  /// Of one of the kernel's.
  CodePlace kernels(std::uint64_t address);
  /// Of one of a virtual machine's.
  CodePlace guests(std::uint64_t address);

  const std::vector<result::CodeFile>& files() const { return files_; }

 private:
  struct Mapped {
    std::uint64_t end = 0, offset = 0;
    std::uint32_t file = 0;
  };
  using Space = std::map<std::uint64_t, Mapped>;  // by where it begins

  std::uint32_t file(const result::CodeFile& file);
  static void map(Space& space, std::uint64_t start, const Mapped& mapped);

  std::map<std::int32_t, Space> spaces_;
  std::vector<result::CodeFile> files_;
  using Key = std::tuple<std::string, std::uint64_t, std::uint32_t, std::uint32_t, std::uint64_t, std::string>;
  std::map<Key, std::uint32_t> numbers_;
  std::int64_t began_ns_ = 0, since_1970_ns_ = 0;
};

}  // namespace tally::backend::perf
