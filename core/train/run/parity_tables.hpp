#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/run/error_tables.hpp"

namespace cambium::train {

/// Collective: writes what a network predicts beside the labels of a data set into a folder, rows in the order of the
/// samples, and tables of their errors: parity_<quantity>.csv and parity.h5 (core/io/parity.hpp) with errors.csv, or
/// the tables of a classifier (error_tables.hpp). Blocks of `batch` samples are dealt out to the ranks. Nothing for a
/// network that gives none, and for a classifier with more than 1000 classes or 20 million probabilities, which a line
/// says. Every rank gets the same.
ErrorTables write_parity_tables(Network& network, std::span<const TensorRef> weights, Dataset& data, std::int64_t batch,
                                const std::string& folder, const Comm& comm);

}  // namespace cambium::train
