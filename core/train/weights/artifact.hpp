#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/tables/tables.hpp"
#include "core/train/weights/grid.hpp"

namespace cambium::train {

/// A field of the training data, with the range of its values.
struct FieldRange {
  FieldInfo info;
  double lowest = 0.0, highest = 0.0;  ///< of all values in the inspected samples
  /// Of each value of a sample, where samples are rows of at most 64 values (columns of a table); else empty.
  std::vector<double> each_lowest = {}, each_highest = {};
};

/// An entry of a model card.
struct CardEntry {
  std::string name, unit;
  double value = 0.0;
};

/// Content of a model file in addition to the weights.
struct ArtifactInfo {
  std::string type;    ///< name of the network's type
  std::string config;  ///< its keys with all defaults, YAML
  std::string state;   ///< Network::state()
  std::vector<FieldRange> fields;
  std::vector<CardEntry> card;   ///< step, samples, errors
  std::string training;          ///< keys of the training set, YAML; empty if it came from memory
  std::vector<Grid> grids = {};  ///< for direct weights, of the matrices of linear layers, in order; else empty
  std::string chosen_by;         ///< keys of the data set whose errors selected the step; empty if none did
};

/// Collective: rank 0 writes one HDF5 file atomically; rows of `tables` are gathered from all ranks, those of the
/// best model if `best`,
///   /cambium          provenance and the resolved deck (attributes)
///   /model            format, type (attributes), config (YAML), state (JSON), training, chosen_by (YAML, if known)
///   /weights/<name>   one array per parameter, in float32 or float64; for direct weights the matrices of linear layers
///                     as bytes with the attribute scale_factor (packed as in the CF conventions), ternary ones four to
///                     a byte (0, 1, 2 mean -1, 0, 1; lowest bits first), with the attributes scale_factor and shape
///   /fields/<name>    name, unit, shape, lowest and highest value seen in training, for rows of at most 64 values
///                     also each_lowest and each_highest, one for each value of a row (attributes); of classes with
///                     names categories, of a table columns and column_units (text arrays)
///   /card/<name>      values with their unit
///   /rows/<table>     weights (rows, width), for networks with tables
///   32 bytes          after the end: a checksum of everything before
void write_artifact(const std::string& path, const ArtifactInfo& info, const FlatBuffer& weights,
                    const Context& context, Tables* tables = nullptr, bool best = false);

/// A trained network read from a model file.
struct LoadedModel {
  ArtifactInfo info;
  std::unique_ptr<Network> network;
  std::unique_ptr<FlatLayout> layout;
  FlatBuffer weights;
  std::unique_ptr<Tables> tables;  ///< null for networks without tables
};

/// Reads a model file. InputError if it is not one, is corrupted, has another version, a type that is missing in this
/// build, or arrays that do not match its network. Collective for a network with tables, which are sharded over the
/// ranks of the context.
LoadedModel load_artifact(const std::string& path, Context& context);

/// InputError if a data set for evaluation lacks a field of the model, except for labels that its network spares,
/// has one in another unit or with other categories, or has an input with its values along other axes (axes_differ).
/// `path` is the model's file.
void require_fields(const LoadedModel& model, const std::string& path, Dataset& data);

/// Warning about a data set for evaluation (its keys, YAML, or one file's path): a sentence if it names a file used to
/// train or select the model, since errors are smaller there. Else empty.
std::string met_before(const ArtifactInfo& info, const std::string& model, const std::string& data);

/// Ranges of the fields over at most `samples` evenly spaced samples, or 4096 where all samples are small (at most 256
/// values each).
std::vector<FieldRange> field_ranges(Dataset& data, std::int64_t samples);

}  // namespace cambium::train
