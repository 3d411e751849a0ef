#pragma once
#include <cstdint>

namespace cambium {

/// Bytes that a rank sent and received.
struct MessageTotals {
  std::int64_t messages = 0;     ///< from this rank to one other
  std::int64_t collectives = 0;  ///< in which this rank took part
  double sent = 0.0;             ///< B sent by this rank; for a collective its own contribution
  double received = 0.0;         ///< B received, by the sizes of the receives; for a collective the contributions of
                                 ///< all others
};

/// Counts MPI messages of the calling thread during its lifetime. Reads of another rank's memory on the same node are
/// not counted. Costs one addition per call.
class MessageCount {
 public:
  MessageCount();
  ~MessageCount();
  MessageCount(const MessageCount&) = delete;
  MessageCount& operator=(const MessageCount&) = delete;
  /// Since construction; only for the thread that constructed it.
  MessageTotals totals() const;

 private:
  MessageTotals start_;
};

/// The totals of the calling thread, to be added to; null while none of its counts lives.
MessageTotals* counted_messages();

}  // namespace cambium
