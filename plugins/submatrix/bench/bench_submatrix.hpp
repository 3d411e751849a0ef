#pragma once
#include <nlohmann/json.hpp>

#include "core/parallel/context.hpp"

namespace cambium::submatrix {

/// `cambium bench submatrix`: seconds of the whole step from H and S to D, E, N and mu on water supercells by each solver,
/// with its error, beside CP2K's own sign step in the same call. Options: data=FOLDER (default: the folder submatrix of
/// CAMBIUM_DATA), copies=N, repeat=N, peer=no, krylov=no,
/// diag=no, set=iter1, large=N (copies of an extra Krylov run).
nlohmann::json bench_submatrix(const nlohmann::json& options, Context& context);

}  // namespace cambium::submatrix
