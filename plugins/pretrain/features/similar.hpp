#pragma once
#include <functional>

#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// The exact search: for each query of [first, last) its similarities with all rows of the archive, the cosines of the
/// angles between them. Blocks of queries are one matrix product.
void for_each_query(const Matrix& archive, const Matrix& queries, std::int64_t first, std::int64_t last,
                    const std::function<void(std::int64_t query, std::span<const double> similarities)>& take);

/// Numbers of the `count` largest, the largest first; equal ones in the order of their numbers.
std::vector<std::int64_t> largest(std::span<const double> values, std::int64_t count);

/// For the angle between two rows; 0 where one of them is 0.
double cosine(std::span<const double> a, std::span<const double> b);

}  // namespace cambium::pretrain
