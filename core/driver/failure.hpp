#pragma once
#include <exception>

#include "core/parallel/comm.hpp"

namespace cambium {

/// Prints what went wrong, once for all ranks that failed, to standard error and returns the exit code. When some rank
/// does not arrive here within a few seconds (it did not fail), all are aborted with that code.
int report_failure(std::exception_ptr error, const Comm& comm);

}  // namespace cambium
