// Threads of tally's own, which no signal chooses: those are for the thread that waits for them.
#pragma once

#include <functional>
#include <thread>

namespace tally::linux {

/// Starts a thread in which every signal is blocked. Throws std::system_error where there is none to be had.
std::thread worker_thread(std::function<void()> work);

}  // namespace tally::linux
