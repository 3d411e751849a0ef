#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "core/parallel/comm.hpp"

namespace cambium {

/// Catches SIGTERM, SIGUSR1 and SIGINT and watches the wall clock. All ranks get the same answer at the same step:
/// they compare notes about once a second, not every step.
class StopRequest {
 public:
  /// `wall_limit` in seconds from `start` (see wall_seconds()); 0 for none.
  StopRequest(const Comm& comm, double start, double wall_limit);
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// Installs the signal handlers: a signal that comes before there is a StopRequest is not lost.
  static void listen();
  /// From now on the handler itself sets this flag to 1 at such a signal; null for none.
  static void note_in(std::atomic<int>* place);
  /// `lost(look)` returns the reason why this run may no longer write to its directory; empty while it may. `look`:
  /// check now, which reads a file.
  void guard(std::function<std::string(bool look)> lost) { lost_ = std::move(lost); }
  /// To be called before a file of the run is written (`look`: before one from which runs are resumed). InputError when
  /// another run has the directory.
  void require_directory(bool look = false) const;

  /// Collective, once per step. True when the run must write its checkpoint and end. InputError as require_directory().
  bool agreed(std::int64_t step);
  /// Collective, before a stage, whose steps are counted afresh: the same answer at once.
  bool agreed_before_stage();
  /// Not collective: a signal reached this rank, or its clock is past the limit. For loops in which ranks are not in
  /// step; the consequence must be communicated to the others.
  bool asked() const;
  /// "signal SIGTERM" or "the wall-time limit of 600 s"; empty if no stop was requested.
  const std::string& reason() const { return reason_; }

 private:
  const Comm& comm_;
  double start_, wall_limit_;
  double last_agreement_;
  std::int64_t last_step_ = 0, interval_ = 1;
  std::string reason_;
  std::function<std::string(bool)> lost_;
};

}  // namespace cambium
