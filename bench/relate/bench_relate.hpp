#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::relate {

/// `cambium bench relate`, on any number of ranks, float32; times are medians of interleaved turns.
///
/// Lookups: `columns` tables of `lookup_rows` rows of `lookup_width` values, `batch` samples per rank that look up one
/// row of each, drawn uniformly. lookup_rows_per_s of all ranks; lookup_gb_per_s: bytes of rows read and of sums
/// written; lookup_plain_rows_per_s, of a plain loop over local rows, and lookup_plain_ratio, its time over ours;
/// copy_gb_per_s: bytes read and written by copying a large array, and lookup_share_of_copy.
///
/// Steps of networks `factors` and `dlrm`, keys beginning with its name, of `batch` samples per rank, `columns` tables
/// of `rows` rows of `width` values, few of them looked up often, 13 dense features, Adagrad: step_ms; dense_step_ms of
/// the dense implementation (bench/relate/dense_tables.hpp); dense_ratio, its time over ours; network_ms, the part of a
/// step taken by the network itself; samples_per_s; touched_share: distinct rows of a step over its lookups; tables_mb
/// of a rank's rows with states, dense_tables_mb; sent_mb, sent by a rank per step, dense_sent_mb of a ring all-reduce
/// of dense gradients. check: rows after all steps compared with those of the dense implementation.
///
/// Cosines: bench/relate/cosine_steps.hpp.
///
/// Eager PyTorch at the same sizes (studies/relate_pytorch.py), if python3 with torch is available, after ours and not
/// interleaved: pytorch_lookup_rows_per_s, pytorch_dlrm_step_ms; lookup_ratio_pytorch, dlrm_ratio_pytorch: above 1 ours
/// is faster.
Bench bench_relate();

}  // namespace cambium::relate
