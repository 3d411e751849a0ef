#pragma once
#include "core/parallel/comm.hpp"
#include "plugins/pretrain/search/float_rows.hpp"

namespace cambium::pretrain {

/// Collective: index of the most similar centre for each row. Rows are distributed over ranks; every rank gets all
/// results.
std::vector<std::int64_t> nearest_centres(const FloatRows& rows, const FloatRows& centres, const Comm& comm);

/// Collective: spherical k-means, eight iterations over 40 rows per centre; centres without rows stay.
FloatRows centres_of(const FloatRows& rows, std::int64_t count, const Comm& comm);

}  // namespace cambium::pretrain
