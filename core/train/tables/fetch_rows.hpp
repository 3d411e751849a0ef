#pragma once
#include <span>

#include "core/train/kinds/network.hpp"
#include "core/train/tables/tables.hpp"

namespace cambium::train {

/// Collective: call before evaluate() and infer() of these samples, which may be none on some ranks. Does nothing for a
/// network without tables. InputError, on every rank, if a sample of one of them uses a row that does not exist.
void look_up_rows(Network& network, Tables* tables, std::span<const SamplePtr> samples, const Comm& comm);

/// The same before gradient() of slices with the given indices among all ranks; use_rows() follows for each.
void fetch_rows(Network& network, Tables* tables, std::span<const std::span<const SamplePtr>> slices,
                std::span<const std::int64_t> numbers, const Comm& comm);

}  // namespace cambium::train
