// Tracks the code that processes have mapped, from the records of their counters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "tally/linux/files/code_files.hpp"
#include "tally/linux/perf/code_record.hpp"
#include "tally/output/result/code_values.hpp"

namespace tally::backend::perf {

/// The location of an instruction: an index in files(), and the address in that file as in CodeRow::address.
struct CodePlace {
  std::uint32_t file = 0;
  std::uint64_t address = 0;
  bool operator==(const CodePlace&) const = default;
};

/// The address spaces of processes. Pure.
class AddressSpaces {
 public:
  /// Sets when counting begins, in time since 1970, and the offset from record times to that clock.
  void begin(std::int64_t now_ns, std::int64_t since_1970_ns) {
    began_ns_ = now_ns;
    since_1970_ns_ = since_1970_ns;
  }

  /// Handles a record of a mapping, a fork or an execve; ignores others.
  void see(const linux::CodeRecord& record);

  /// Adds a mapping that a process has from before.
  void add(std::int32_t process, const linux::CodeMapping& mapping);

  /// Returns the location of an instruction of a process; nothing if no code is mapped there.
  std::optional<CodePlace> find(std::int32_t process, std::uint64_t address) const;
  /// The same; for unknown memory, a location in a file without a name.
  CodePlace place(std::int32_t process, std::uint64_t address);
  /// Returns the location of an instruction of the kernel.
  CodePlace kernels(std::uint64_t address);
  /// Returns the location of an instruction of a virtual machine.
  CodePlace guests(std::uint64_t address);

  const std::vector<result::CodeFile>& files() const { return files_; }

 private:
  struct Mapped {
    std::uint64_t end = 0, offset = 0;
    std::uint32_t file = 0;
  };
  using Space = std::map<std::uint64_t, Mapped>;  // by start address

  std::uint32_t file(const result::CodeFile& file);
  static void map(Space& space, std::uint64_t start, const Mapped& mapped);

  std::map<std::int32_t, Space> spaces_;
  std::vector<result::CodeFile> files_;
  using Key = std::tuple<std::string, std::uint64_t, std::uint32_t, std::uint32_t, std::uint64_t, std::string>;
  std::map<Key, std::uint32_t> numbers_;
  std::int64_t began_ns_ = 0, since_1970_ns_ = 0;
};

}  // namespace tally::backend::perf
