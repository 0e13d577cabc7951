// Threads of the command that carry the models of what runs under the engine, on processors that it leaves idle.
#pragma once

#include <cstdint>
#include <memory>

#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// They take what engines hand on (tally/engine/channel/notes.hpp) and write what comes of it where engines would: the
/// counts are the same. Programs see nothing of them.
class ModelWorkers {
 public:
  /// As many threads, or as many as there are to be had, for what `models` says. `shared` must live as long. Throws
  /// std::system_error where there is none.
  ModelWorkers(const Channel& shared, const channel::Models& models, unsigned threads);
  ModelWorkers(const ModelWorkers&) = delete;
  ModelWorkers& operator=(const ModelWorkers&) = delete;
  /// As finish().
  ~ModelWorkers();

  /// The program of this process (its number) was replaced: nothing more comes from it.
  void forget(std::uint32_t process);

  /// Counts everything that was handed on; engines that still run are told that nobody takes more. Once.
  void finish();

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

/// How many threads carry the models where nobody says: one for each processor that this process may use, none where
/// there is only one.
unsigned usual_model_workers();

}  // namespace tally::backend::engine
