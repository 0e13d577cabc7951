#include "programs/linux/rdpmc_switch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "tally/core/base/text.hpp"
#include "tally/linux/descriptor.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

std::string file_of(const std::string& root, const std::string& pmu) {
  return fmt::format("{}/sys/bus/event_source/devices/{}/rdpmc", root == "/" ? "" : root, pmu);
}

Error not_done(const std::string& what, int os_errno) {
  const char* hint = os_errno == EACCES || os_errno == EPERM ? "requires root: sudo tally rdpmc …"
                     : os_errno == EROFS                     ? "a container's /sys is read-only: run it on the host"
                                                             : "";
  return {Code::cannot_measure, what + ": " + errno_text(os_errno), hint, os_errno};
}

}  // namespace

Result<std::int64_t> read_rdpmc_switch(const std::string& root, const std::string& pmu) {
  const std::string path = file_of(root, pmu);
  const Descriptor file(retry([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  char text[32] = {};
  const auto size = file ? retry([&] { return read(file.get(), text, sizeof text - 1); }) : -1;
  if (size < 0) return fail(not_done("cannot read " + path, errno));
  const auto value = parse_integer(trimmed({text, static_cast<std::size_t>(size)}));
  if (!value)
    return fail(Code::cannot_measure, fmt::format("{} contains '{}', which is not a number", path, printable(text)));
  return *value;
}

Result<void> write_rdpmc_switch(const std::string& root, const std::string& pmu, std::int64_t value) {
  const std::string path = file_of(root, pmu);
  const std::string text = fmt::format("{}\n", value);
  const std::string what = fmt::format("cannot write {} to {}", value, path);
  const Descriptor file(retry([&] { return open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC); }));
  if (!file) return fail(not_done(what, errno));
  if (retry([&] { return write(file.get(), text.data(), text.size()); }) < 0) return fail(not_done(what, errno));
  const auto now = read_rdpmc_switch(root, pmu);
  if (!now) return fail(now.error());
  if (*now != value)
    return fail(Code::cannot_measure, fmt::format("{} was written to {}, but it still contains {}", value, path, *now));
  return {};
}

}  // namespace tally::linux
