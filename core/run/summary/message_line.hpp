#pragma once
#include <string>

#include "core/base/message_count.hpp"
#include "core/parallel/comm.hpp"

namespace cambium {

/// Collective. What the ranks of a loop of `steps` told each other through MPI, a step, each figure that of the rank
/// where it is largest. Empty without steps.
std::string message_line(const MessageTotals& totals, double steps, const Comm& comm);

}  // namespace cambium
