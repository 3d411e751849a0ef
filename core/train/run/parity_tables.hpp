#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Collective: writes parity_<quantity>.csv and parity.h5 (core/io/parity.hpp) of a network on a data set into a
/// folder, rows in the order of the samples; blocks of `batch` samples are dealt out to the ranks. Nothing for a
/// network that gives none. Returns the names of the files, on every rank.
std::vector<std::string> write_parity_tables(Network& network, std::span<const TensorRef> weights, Dataset& data,
                                             std::int64_t batch, const std::string& folder, const Comm& comm);

}  // namespace cambium::train
