// Worker threads of the command that run the models of programs under the engine, on CPUs that these leave idle.
#pragma once

#include <cstdint>
#include <memory>

#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// Takes the notes that engines offload (tally/engine/channel/notes.hpp), and writes the results where engines would:
/// the counts are the same. Programs do not see the workers.
class ModelWorkers {
 public:
  /// Starts up to `threads` workers, as many as the system permits, for these models. `shared` must outlive it. Throws
  /// std::system_error if no thread can be started.
  ModelWorkers(const Channel& shared, const channel::Models& models, unsigned threads);
  ModelWorkers(const ModelWorkers&) = delete;
  ModelWorkers& operator=(const ModelWorkers&) = delete;
  /// Calls finish().
  ~ModelWorkers();

  /// The program of this process (its index) was replaced: it sends nothing more.
  void forget(std::uint32_t process);

  /// Processes everything that was offloaded, and makes running engines stop offloading. Call it once.
  void finish();

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

/// Returns the default number of workers: one for each CPU that this process may use; 0 if there is only one.
unsigned default_model_workers();

}  // namespace tally::backend::engine
