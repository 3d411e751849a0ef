#include "core/run/summary/message_line.hpp"

#include <fmt/format.h>

#include <array>

namespace cambium {

std::optional<MessagesPerStep> step_messages(const MessageTotals& totals, double steps, const Comm& comm) {
  if (!(steps > 0.0)) return {};
  std::array<double, 4> most{static_cast<double>(totals.messages), static_cast<double>(totals.collectives), totals.sent,
                             totals.received};
  comm.max(most);
  for (double& figure : most) figure /= steps;
  return MessagesPerStep{most[0], most[1], 1e-3 * most[2], 1e-3 * most[3]};
}

std::string MessagesPerStep::line() const {
  return fmt::format(
      "messages: a rank sends at most {:.4g} messages and {:.5g} kB a step, receives {:.5g} kB and takes part in "
      "{:.4g} collectives",
      messages, sent, received, collectives);
}

std::vector<Result> MessagesPerStep::results() const {
  return {
      {.key = "messages", .label = "messages: sent in a step", .value = messages, .digits = 0},
      {.key = "collectives", .label = "messages: collectives in a step", .value = collectives, .digits = 0},
      {.key = "sent", .label = "messages: bytes sent in a step", .value = sent, .unit = "kB", .digits = 0},
      {.key = "received", .label = "messages: bytes received in a step", .value = received, .unit = "kB", .digits = 0}};
}

}  // namespace cambium
