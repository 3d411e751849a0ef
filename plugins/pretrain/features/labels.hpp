#pragma once
#include <optional>

#include "core/parallel/context.hpp"
#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// Nearest-neighbour classification: each of the `neighbours` nearest known rows votes with e^(cosine / 0.07). Classes
/// count from 0.
std::vector<std::int64_t> nearest_classes(const Matrix& known, std::span<const std::int64_t> classes,
                                          const Matrix& queries, std::int64_t neighbours);

/// Ridge regression classifier with one output per class, on standardised rows (mean 0, standard deviation 1). `ridge`:
/// in units of the number of rows; default: the value of 1e-3 to 100 with the lowest leave-one-out error.
std::vector<std::int64_t> linear_classes(const Matrix& known, std::span<const std::int64_t> classes,
                                         const Matrix& queries, std::optional<double> ridge);

/// The most frequent known class (the first on ties), for each of `queries` queries.
std::vector<std::int64_t> most_frequent(std::span<const std::int64_t> classes, std::size_t queries);

/// Accuracy: fraction of equal entries.
double share_right(std::span<const std::int64_t> found, std::span<const std::int64_t> truth);

/// `per_class` rows of each class, drawn by (seed, draw). InputError if a class has fewer.
std::vector<std::int64_t> few_of_each(std::span<const std::int64_t> classes, std::int64_t per_class, std::uint64_t seed,
                                      std::int64_t draw);

}  // namespace cambium::pretrain
