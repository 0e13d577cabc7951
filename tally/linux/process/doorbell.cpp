#include "tally/linux/process/doorbell.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "tally/linux/system_call.hpp"

namespace tally::linux {

Result<Doorbell> Doorbell::make() {
  Descriptor bell(eventfd(0, EFD_CLOEXEC));
  if (!bell) return system_failure(Code::cannot_measure, "cannot create an event descriptor (eventfd)");
  return Doorbell(std::move(bell));
}

void Doorbell::ring() const {
  const std::uint64_t one = 1;
  (void)!write(bell_.get(), &one, sizeof one);
}

bool Doorbell::wait(std::vector<int>& descriptors, int milliseconds) const {
  std::vector<pollfd> waited{{bell_.get(), POLLIN, 0}};
  for (const int descriptor : descriptors) waited.push_back({descriptor, POLLIN, 0});
  if (poll(waited.data(), waited.size(), milliseconds) <= 0) return true;
  for (std::size_t i = 1; i < waited.size(); ++i)
    if (waited[i].revents & (POLLHUP | POLLERR | POLLNVAL)) descriptors[i - 1] = -1;
  return waited[0].revents == 0;
}

}  // namespace tally::linux
