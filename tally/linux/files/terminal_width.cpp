#include "tally/linux/files/terminal_width.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace tally::linux {

std::size_t terminal_columns(Stream stream) {
  const int descriptor = static_cast<int>(stream);
  winsize size{};
  if (isatty(descriptor) != 1 || ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace tally::linux
