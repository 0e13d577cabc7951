#include "tally/counting/backend/engine/scribble_testing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/counting/backend/engine/sound.hpp"

namespace tally::backend::engine {
namespace {

constexpr std::uint32_t processes = 3, threads = 4;
/// No process has these IDs: they are above the kernel's limit.
constexpr pid_t first_pid = 0x7f000000;

channel::Totals counted_by(std::uint32_t thread) {
  channel::Totals totals;
  totals.field[channel::instructions] = 1000 * thread;
  totals.field[channel::loads] = 300 * thread;
  totals.field[channel::stores] = 200 * thread;
  totals.field[channel::conditional] = 90 * thread;
  totals.field[channel::taken] = 70 * thread;
  totals.field[channel::direct_calls] = totals.field[channel::returns] = 20 * thread;
  totals.field[channel::far] = thread;
  return totals;
}

/// Removes up to this many bytes from the front of the data, and returns them as a number.
std::uint64_t take(const std::uint8_t*& data, std::size_t& size, std::size_t bytes) {
  std::uint64_t number = 0;
  for (; bytes > 0 && size > 0; --bytes, ++data, --size) number = number << 8 | *data;
  return number;
}

}  // namespace

Scribbled::Scribbled() : shared_(std::move(*Channel::make())) {
  channel::Header& header = shared_.records.header();
  header.next_process = processes;
  header.next_thread = threads;
  header.next_area = 2;
  settings_ = settings_in(shared_);
  add_process(1, 0);
  add_process(2, 1);
  add_process(3, 0);
  add_thread(1, 1);
  add_thread(2, 1);
  add_thread(3, 2);
  add_thread(4, 3);
}

void Scribbled::add_process(std::uint32_t number, std::uint32_t forked_from) {
  channel::Process& process = shared_.records.process(number);
  process.state = channel::State::ended;
  // The last one is the program that the second one executed.
  process.pid = first_pid + static_cast<pid_t>(std::min(number, 2u));
  process.parent_pid = first_pid;
  process.forked_from = forked_from;
  process.end = number == 2 ? channel::End::executed : channel::End::exited;
  std::memcpy(process.name, "program", 8);
}

void Scribbled::add_thread(std::uint32_t number, std::uint32_t process) {
  channel::Thread& thread = shared_.records.thread(number);
  thread.process = process;
  thread.tid = first_pid + static_cast<pid_t>(number);
  thread.final = counted_by(number);
  thread.check = channel::check_of(thread);
  thread.state = channel::State::ended;
}

void Scribbled::scribble(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t begins[] = {channel::header_offset, channel::process_offset, channel::thread_offset,
                                      channel::free_offset};
  while (size > 0) {
    const std::uint64_t where = take(data, size, 1), offset = take(data, size, 2), bytes = take(data, size, 1);
    std::uint8_t* const at = shared_.records.base + begins[where & 3] + offset % 4096;
    const std::uint8_t with = static_cast<std::uint8_t>(take(data, size, 1));
    for (std::uint64_t i = 0; i <= bytes; ++i) {
      if (where & 4) {
        at[i] = with;
      } else {
        at[i] ^= i == 0 ? with : static_cast<std::uint8_t>(take(data, size, 1));
      }
    }
  }
}

std::string Scribbled::complaint() const {
  Order order;
  for (const char* const name : {"instructions", "branches", "loads"}) order.events.push_back(*event::parse(name));
  Execution execution;
  execution.pid = first_pid + 1;
  execution.injected = 2;
  execution.settings = settings_;
  execution.lasted = execution.statistics.duration = std::chrono::seconds(1);
  execution.statistics.usage.user = std::chrono::seconds(1);
  Outcome outcome;
  collect(order, execution, shared_, {}, {}, outcome);
  channel::Totals all;
  for (std::uint32_t i = 1; i <= threads; ++i) all.add(counted_by(i));
  for (std::size_t i = 0; i < outcome.counts.size(); ++i) {
    const Count& count = outcome.counts[i].count;
    const std::int64_t right = value_of(order.events[i].id, all).value();
    if (count.trust != Trust::exact && count.reason.empty())
      return fmt::format("no reason for {}", order.events[i].asked);
    if (count.trust == Trust::exact && count.value != right)
      return fmt::format("{} {}, exact, instead of {}", count.value.value_or(0), order.events[i].asked, right);
  }
  return "";
}

}  // namespace tally::backend::engine
