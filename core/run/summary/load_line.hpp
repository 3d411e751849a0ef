#pragma once
#include <string>

#include "core/parallel/comm.hpp"

namespace cambium {

/// Collective. How unequal the work of the ranks was in a loop of `seconds`, of which this rank spent `waited` in
/// messages and waits, and what that cost; work is what is left of the time. Empty where no time passed.
std::string load_line(double seconds, double waited, const Comm& comm);

}  // namespace cambium
