#pragma once
#include <functional>

#include "core/parallel/comm.hpp"
#include "plugins/pretrain/search/float_rows.hpp"

namespace cambium::pretrain {

/// Queries per block of an exact search: each block reads all rows once.
constexpr std::int64_t exact_block = 192;

/// The `count` rows most similar to each of the queries [from, to), among all rows. With few queries the search is
/// memory bound; with many it is a matrix product with rows in cache.
Entries exactly_nearest(const FloatRows& rows, const FloatRows& queries, std::int64_t from, std::int64_t to,
                        std::int64_t count);

/// Collective: blocks of queries are distributed over ranks; every rank gets all results. `answer`: searches [from,
/// to). Blocks, and thus results, do not depend on the number of ranks.
Entries over_ranks(std::int64_t queries, std::int64_t count, const Comm& comm,
                   const std::function<Entries(std::int64_t from, std::int64_t to)>& answer);

}  // namespace cambium::pretrain
