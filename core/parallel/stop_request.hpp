#pragma once
#include <cstdint>
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

  /// Collective, once per step. True when the run must write its checkpoint and end.
  bool agreed(std::int64_t step);
  /// Not collective: a signal reached this rank, or its clock is past the limit. For loops in which ranks do not go in step; what
  /// follows from it must be made known to the others.
  bool asked() const;
  /// "signal SIGTERM" or "the wall-time limit of 600 s"; empty when nobody asked.
  const std::string& reason() const { return reason_; }

 private:
  const Comm& comm_;
  double start_, wall_limit_;
  double last_agreement_;
  std::int64_t last_step_ = 0, interval_ = 1;
  std::string reason_;
};

/// "HH:MM:SS", "MM:SS" or seconds as a number; throws InputError.
double parse_wall_time(const std::string& text);

}  // namespace cambium
