#pragma once
#include "core/parallel/comm.hpp"
#include "plugins/pretrain/search/float_rows.hpp"

namespace cambium::pretrain {

/// Collective: of each row the number of the most similar centre. Ranks share the rows; every rank gets all answers.
std::vector<std::int64_t> nearest_centres(const FloatRows& rows, const FloatRows& centres, const Comm& comm);

/// Collective: k-means on the sphere, in eight rounds over 40 rows for each centre; centres that lose all rows stay.
FloatRows centres_of(const FloatRows& rows, std::int64_t count, const Comm& comm);

}  // namespace cambium::pretrain
