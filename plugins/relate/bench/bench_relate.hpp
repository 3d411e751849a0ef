#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::relate {

/// `cambium bench relate`, on any number of ranks, float32.
/// Lookups: `columns` tables of `lookup_rows` rows of `lookup_width` numbers, `batch` samples of each rank that name
/// one row of each, drawn evenly. lookup_rows_per_s of all ranks; lookup_gb_per_s: bytes of rows read and of sums
/// written; lookup_plain_rows_per_s, of a plain loop over rows that lie on this rank, and lookup_plain_ratio, its time
/// over ours; copy_gb_per_s: bytes read and written by copying a large array, and lookup_share_of_copy. Steps of
/// networks `factors` and `dlrm`, keys beginning with its name, of a batch of `batch` samples of each rank, `columns`
/// tables of `rows` rows of `width` numbers, few of them named often, 13 numbers, Adagrad: step_ms; dense_step_ms of
/// the plain way (bench/dense_tables.hpp); dense_ratio, theirs over ours; network_ms, the part of a step that the
/// network itself takes; samples_per_s; touched_share: rows of a step that differ, over those that it names; tables_mb
/// of a rank's rows with states, dense_tables_mb; sent_mb, that a rank sends in a step, dense_sent_mb of a ring
/// all-reduce of dense gradients. Times are the medians of turns about. check: rows after all steps against those of
/// the plain way.
Bench bench_relate();

}  // namespace cambium::relate
