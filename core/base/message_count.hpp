#pragma once
#include <cstdint>

namespace cambium {

/// Bytes that a rank sent and received.
struct MessageTotals {
  std::int64_t messages = 0;     ///< from this rank to one other
  std::int64_t collectives = 0;  ///< in which this rank took part
  double sent = 0.0;             ///< B that this rank gave away; of a collective its own share
  double received = 0.0;         ///< B that came for it, as its receives say; of a collective what all others gave
};

/// Counts messages of MPI that the calling thread makes while one of these lives; what ranks of a node read in each
/// other's memory is none. Costs an addition for each call.
class MessageCount {
 public:
  MessageCount();
  ~MessageCount();
  MessageCount(const MessageCount&) = delete;
  MessageCount& operator=(const MessageCount&) = delete;
  /// Since this one began; only meant for the thread that made it.
  MessageTotals totals() const;

 private:
  MessageTotals start_;
};

/// The totals of the calling thread, to be added to; null while none of its counts lives.
MessageTotals* counted_messages();

}  // namespace cambium
