#pragma once
#include <exception>
#include <string>

#include "core/base/error.hpp"
#include "core/parallel/comm.hpp"

namespace cambium {

/// Message to the user about an exception.
struct Failure {
  std::string text;
  ExitCode code = ExitCode::internal_error;
  bool elsewhere = false;  ///< another rank has the details
};

/// `verbose`: appends the identifiers of docs/errors.md, if any, "text [md.timestep.range]".
Failure failure_of(std::exception_ptr error, bool verbose = false);

/// Collective among the failed ranks: true if all ranks arrive here within a few seconds.
bool every_rank_arrives(const Comm& comm);

/// Prints the error, once for all ranks that failed, to standard error and returns the exit code. If some rank does not
/// arrive here within a few seconds (it did not fail), all are aborted with that code.
int report_failure(std::exception_ptr error, const Comm& comm, bool verbose = false);

}  // namespace cambium
