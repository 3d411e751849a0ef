#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/message_count.hpp"
#include "core/parallel/comm.hpp"
#include "core/plugin/result.hpp"

namespace cambium {

/// Totals exchanged by the ranks of a loop through MPI, per step, each the maximum over ranks.
struct MessagesPerStep {
  double messages = 0.0, collectives = 0.0;
  double sent = 0.0, received = 0.0;  ///< kB

  std::string line() const;
  /// Without a line of their own in the summary: line() is it.
  std::vector<Result> results() const;
};

/// Collective. Of a loop of `steps`; none without steps.
std::optional<MessagesPerStep> step_messages(const MessageTotals& totals, double steps, const Comm& comm);

}  // namespace cambium
