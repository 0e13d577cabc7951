#include "programs/linux/msr.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "tally/linux/descriptor.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

Result<Descriptor> open_registers(int processor, int mode, const std::string& root) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(root) / "dev/cpu";
  const fs::path path = folder / std::to_string(processor) / "msr";
  Descriptor file(retry([&] { return open(path.c_str(), mode | O_CLOEXEC); }));
  if (file) return file;
  const int why = errno;
  std::error_code error;
  if (why == ENOENT && fs::is_directory(folder, error) && fs::exists(folder / "0/msr", error)) {
    return fail(Code::bad_usage, fmt::format("processor {} does not exist", processor), "", why);
  }
  std::string hint;
  if (why == ENOENT) {
    hint = "as root: modprobe msr; kernels in containers and some virtual machines have no such driver, arm64 has none";
  } else if (why == EACCES || why == EPERM) {
    hint = "reading registers requires root with CAP_SYS_RAWIO; lockdown (Secure Boot) forbids writing them";
  } else if (why == ENXIO || why == EIO) {
    hint = "the processor is offline, or has no such registers";
  }
  return fail(Code::cannot_measure, fmt::format("cannot open {}: {}", path.string(), errno_text(why)), hint, why);
}

tl::unexpected<Error> refused(const char* what, int processor, std::uint32_t number) {
  return system_failure(Code::cannot_measure,
                        fmt::format("cannot {} register {:#x} of processor {}", what, number, processor),
                        errno == EIO ? "the processor has no such register, or its hypervisor hides it" : "");
}

}  // namespace

Result<std::uint64_t> read_msr(int processor, std::uint32_t number, const std::string& root) {
  auto file = open_registers(processor, O_RDONLY, root);
  if (!file) return fail(file.error());
  std::uint64_t value = 0;
  // The file offset is the register's number, and eight bytes are its value (msr(4)).
  const auto size = retry([&] { return pread(file->get(), &value, sizeof value, number); });
  if (size == static_cast<ssize_t>(sizeof value)) return value;
  if (size >= 0) errno = EIO;
  return refused("read", processor, number);
}

Result<void> write_msr(int processor, std::uint32_t number, std::uint64_t value, const std::string& root) {
  auto file = open_registers(processor, O_WRONLY, root);
  if (!file) return fail(file.error());
  const auto size = retry([&] { return pwrite(file->get(), &value, sizeof value, number); });
  if (size == static_cast<ssize_t>(sizeof value)) return {};
  if (size >= 0) errno = EIO;
  return refused("write", processor, number);
}

}  // namespace tally::linux
