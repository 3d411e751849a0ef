#pragma once
#include <optional>

#include "core/parallel/context.hpp"
#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// Classes by the nearest known rows: each of the `neighbours` votes with e^(cosine / 0.07). Classes count from 0.
std::vector<std::int64_t> nearest_classes(const Matrix& known, std::span<const std::int64_t> classes,
                                          const Matrix& queries, std::int64_t neighbours);

/// Classes by a linear fit with a ridge to one output per class, on rows scaled to mean 0 and deviation 1. `ridge`: in
/// units of the number of rows; without it the one of 1e-3 to 100 by which each known row is fitted best by all others.
std::vector<std::int64_t> linear_classes(const Matrix& known, std::span<const std::int64_t> classes,
                                         const Matrix& queries, std::optional<double> ridge);

/// The class that is known most often (of equal ones the first), for each of so many queries.
std::vector<std::int64_t> most_frequent(std::span<const std::int64_t> classes, std::size_t queries);

/// Share of equal entries.
double share_right(std::span<const std::int64_t> found, std::span<const std::int64_t> truth);

/// `per_class` rows of each class, drawn by (seed, draw). InputError when a class has fewer.
std::vector<std::int64_t> few_of_each(std::span<const std::int64_t> classes, std::int64_t per_class, std::uint64_t seed,
                                      std::int64_t draw);

}  // namespace cambium::pretrain
