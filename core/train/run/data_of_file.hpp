#pragma once
#include <memory>
#include <string>

#include "core/train/data/csv_dataset.hpp"
#include "core/train/run/applied_model.hpp"

namespace cambium::train {

/// Collective: opens one file as a data set for a model, with the fields that it reads, and its labels if the file has
/// them. The kind of file follows from its name:
///   .csv .tsv .tab .txt  text table, as table_for_model
///   .npz .npy            arrays of numpy by the names of the fields, in the units of the model; .npy: the only input
///   others               HDF5 and netCDF-4: arrays by the names that the deck of the training gave them
/// InputError, on every rank: as the data set's open(); an input is missing; the file holds no samples.
std::unique_ptr<Dataset> data_of_file(const AppliedModel& model, const std::string& path, Context& context);

/// Keys of a data set `csv` that reads a table for a model. Columns of its inputs are found by the names that the model
/// stores, in any order. Its labels are read if their columns are complete. All other columns with a name of their own
/// become fields, to be copied next to the predictions; those that hold anything but numbers have their texts as
/// categories. On one rank. InputError: the model stores no columns; a column is missing or has another unit.
CsvDataset::Params table_for_model(const AppliedModel& model, const std::string& path, Log& log);

}  // namespace cambium::train
