#include "plugins/kinetic/collisions/on_ranks.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace cambium::kinetic {

void on_ranks(const Comm& comm, const std::function<void()>& action) {
  std::string problem;
  try {
    action();
  } catch (const NumericalError& error) {
    problem = fmt::format("rank {}: {}", comm.rank(), error.what());
  }
  const int lowest = comm.size() - comm.max(problem.empty() ? 0 : comm.size() - comm.rank());
  if (lowest == comm.size()) return;
  comm.broadcast(problem, lowest);
  throw NumericalError(problem);
}

}  // namespace cambium::kinetic
