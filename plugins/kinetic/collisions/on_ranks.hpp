#pragma once
#include <functional>

#include "core/parallel/comm.hpp"

namespace cambium::kinetic {

/// Collective: runs `action`, which does not communicate, on every rank. Where it throws NumericalError, every rank
/// throws that of the lowest one, with the rank before it ("rank 1: ..."), so that they can write the state together.
void on_ranks(const Comm& comm, const std::function<void()>& action);

}  // namespace cambium::kinetic
