#include "tally/counting/backend/perf/window_reader.hpp"

#include <system_error>

#include "tally/linux/process/worker_thread.hpp"

namespace tally::backend::perf {

Result<std::unique_ptr<WindowReader>> WindowReader::start(std::vector<int> descriptors, std::function<void()> take,
                                                          int patience_ms) {
  auto end = linux::Doorbell::make();
  if (!end) return fail(end.error());
  std::unique_ptr<WindowReader> reader(new WindowReader(std::move(*end)));
  try {
    reader->thread_ =
        linux::worker_thread([bell = &reader->end_, patience_ms, waited = std::move(descriptors), take]() mutable {
          while (bell->wait(waited, patience_ms)) take();
        });
  } catch (const std::system_error& error) {
    return fail(Code::cannot_measure,
                std::string("cannot start a thread that reads the perf ring buffers: ") + error.what());
  }
  return reader;
}

void WindowReader::finish() {
  if (!thread_.joinable()) return;
  end_.ring();
  thread_.join();
}

}  // namespace tally::backend::perf
