#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/run/error_tables.hpp"

namespace cambium::train {

/// Collective: writes predictions and labels of a data set to a folder, rows in the order of samples, and tables of
/// their errors: parity_<quantity>.csv and parity.h5 (core/io/parity.hpp) with errors.csv, or the tables of a
/// classifier (error_tables.hpp). Blocks of `batch` samples are assigned to ranks. Writes nothing for a network without
/// such predictions or a classifier with more than 1000 classes or 20 million probabilities, with a line as reason.
/// Same result on every rank.
ErrorTables write_parity_tables(Network& network, std::span<const TensorRef> weights, Dataset& data, std::int64_t batch,
                                const std::string& folder, const Comm& comm);

}  // namespace cambium::train
