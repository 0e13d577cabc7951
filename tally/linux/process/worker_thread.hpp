// Starts threads that receive no signals: these go to the thread that waits for them.
#pragma once

#include <functional>
#include <thread>

namespace tally::linux {

/// Starts a thread in which every signal is blocked. Throws std::system_error if none can be created.
std::thread worker_thread(std::function<void()> work);

}  // namespace tally::linux
