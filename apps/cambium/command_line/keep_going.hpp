#pragma once
#include <optional>

namespace cambium {

constexpr const char* keep_going_flag = "--keep-going";

/// `cambium run --keep-going --ranks 4,4,2 DECK`: a supervisor process without MPI that starts the ranks by the
/// launcher and restarts them when one of them has died: with the next number of ranks, from the copies that they keep
/// in the memory of their node (--copy-every) or from the newest checkpoint on disk. Any other end of the ranks ends
/// it, with their exit code. None if the command line requests something else.
std::optional<int> keep_going(int argc, char** argv);

}  // namespace cambium
