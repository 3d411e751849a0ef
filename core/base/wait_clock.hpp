#pragma once

namespace cambium {

/// Seconds that a thread spends in messages and waiting for other ranks during the lifetime of this object; the rest of
/// the wall time is its own work. Costs two clock reads per MPI call.
class WaitClock {
 public:
  WaitClock();
  ~WaitClock();
  WaitClock(const WaitClock&) = delete;
  WaitClock& operator=(const WaitClock&) = delete;
  /// Since construction; only for the thread that constructed it.
  double seconds() const;

 private:
  double start_;
};

/// Counts its own lifetime as waiting, if the calling thread has a WaitClock; of nested ones the outer counts. Two
/// tests if it has none.
class Waiting {
 public:
  Waiting();
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  double start_ = -1.0;
};

}  // namespace cambium
