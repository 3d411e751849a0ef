#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::relate {

/// `cambium bench relate`, on any number of ranks, float32; times are medians of turns about.
///
/// Lookups: `columns` tables of `lookup_rows` rows of `lookup_width` numbers, `batch` samples of each rank that name
/// one row of each, drawn evenly. lookup_rows_per_s of all ranks; lookup_gb_per_s: bytes of rows read and of sums
/// written; lookup_plain_rows_per_s, of a plain loop over rows that lie on this rank, and lookup_plain_ratio, its time
/// over ours; copy_gb_per_s: bytes read and written by copying a large array, and lookup_share_of_copy.
///
/// Steps of networks `factors` and `dlrm`, keys beginning with its name, of `batch` samples of each rank, `columns`
/// tables of `rows` rows of `width` numbers, few of them named often, 13 numbers, Adagrad: step_ms; dense_step_ms of
/// the plain way (bench/relate/dense_tables.hpp); dense_ratio, theirs over ours; network_ms, the part of a step that
/// the network itself takes; samples_per_s; touched_share: rows of a step that differ, over those that it names;
/// tables_mb of a rank's rows with states, dense_tables_mb; sent_mb, that a rank sends in a step, dense_sent_mb of a
/// ring all-reduce of dense gradients. check: rows after all steps against those of the plain way.
///
/// Cosines: bench/relate/cosine_steps.hpp.
///
/// Eager PyTorch at the same sizes (studies/relate_pytorch.py), where python3 with torch is there, after ours and not
/// by turns: pytorch_lookup_rows_per_s, pytorch_dlrm_step_ms; lookup_ratio_pytorch, dlrm_ratio_pytorch: above 1 ours is
/// faster.
Bench bench_relate();

}  // namespace cambium::relate
