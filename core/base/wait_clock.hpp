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
  /// Since this one began; only meant for the thread that made it.
  double seconds() const;

 private:
  double start_;
};

/// Counts its own life as waiting, where a WaitClock of the calling thread lives; of nested ones the outer counts. Two
/// tests where none lives.
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
