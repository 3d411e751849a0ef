#pragma once
#include <span>

#include "core/train/kinds/network.hpp"
#include "core/train/tables/tables.hpp"

namespace cambium::train {

/// Collective: before evaluate() and infer() of these samples, which may be none on some ranks. Does nothing for a
/// network without tables. InputError, on every rank, when a sample of one of them names a row that is not there.
void look_up_rows(Network& network, Tables* tables, std::span<const SamplePtr> samples, const Comm& comm);

/// The same before gradient() of slices, whose numbers among those of all ranks are given; use_rows() follows for each.
void fetch_rows(Network& network, Tables* tables, std::span<const std::span<const SamplePtr>> slices,
                std::span<const std::int64_t> numbers, const Comm& comm);

}  // namespace cambium::train
