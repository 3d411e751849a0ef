#pragma once
#include <functional>

#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// Exact search: for each query of [first, last) its cosine similarities with all rows of the archive. Blocks of
/// queries are one matrix product.
void for_each_query(const Matrix& archive, const Matrix& queries, std::int64_t first, std::int64_t last,
                    const std::function<void(std::int64_t query, std::span<const double> similarities)>& take);

/// Indices of the `count` largest values, the largest first; ties by ascending index.
std::vector<std::int64_t> largest(std::span<const double> values, std::int64_t count);

/// Cosine of the angle between two rows; 0 if one of them is 0.
double cosine(std::span<const double> a, std::span<const double> b);

}  // namespace cambium::pretrain
