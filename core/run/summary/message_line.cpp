#include "core/run/summary/message_line.hpp"

#include <fmt/format.h>

#include <array>

namespace cambium {

std::string message_line(const MessageTotals& totals, double steps, const Comm& comm) {
  if (!(steps > 0.0)) return {};
  std::array<double, 4> most{static_cast<double>(totals.messages), static_cast<double>(totals.collectives), totals.sent,
                             totals.received};
  comm.max(most);
  for (double& figure : most) figure /= steps;
  return fmt::format(
      "messages: a rank sends at most {:.4g} messages and {:.5g} kB a step, receives {:.5g} kB and takes part in "
      "{:.4g} "
      "collectives",
      most[0], 1e-3 * most[2], 1e-3 * most[3], most[1]);
}

}  // namespace cambium
