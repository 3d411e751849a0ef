#pragma once
#include <functional>

#include "core/parallel/comm.hpp"
#include "plugins/pretrain/search/float_rows.hpp"

namespace cambium::pretrain {

/// Queries that an exact search takes together: all rows stream past them once.
constexpr std::int64_t exact_block = 192;

/// The `count` rows most similar to each of the queries [from, to), among all rows. Few queries wait for memory, many
/// are matrix products in which a row is used while it is in the cache.
Entries exactly_nearest(const FloatRows& rows, const FloatRows& queries, std::int64_t from, std::int64_t to,
                        std::int64_t count);

/// Collective: ranks answer blocks of queries in turn; every rank gets all answers. `answer`: those of [from, to). The
/// blocks are the same on any number of ranks, and so are the answers.
Entries over_ranks(std::int64_t queries, std::int64_t count, const Comm& comm,
                   const std::function<Entries(std::int64_t from, std::int64_t to)>& answer);

}  // namespace cambium::pretrain
