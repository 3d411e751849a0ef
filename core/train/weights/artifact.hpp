#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/tables/tables.hpp"
#include "core/train/weights/grid.hpp"

namespace cambium::train {

/// A field of the data that a model was trained on, with the range that was seen.
struct FieldRange {
  FieldInfo info;
  double lowest = 0.0, highest = 0.0;  ///< of all numbers in the samples looked at
};

/// A figure on a model's card.
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
  std::string training;          ///< keys of the data set that it was trained on, YAML; empty where it came from memory
  std::vector<Grid> grids = {};  ///< of the matrices of linear layers, in order, of direct weights; none of others
  std::string chosen_by;         ///< of the data set whose errors chose it among its steps; empty when none did
};

/// Collective: one HDF5 file, complete or not at all, by rank 0; rows of `tables` come from all ranks, those that were
/// kept as the best where `best`,
///   /cambium          provenance and the resolved deck (attributes)
///   /model            format, type (attributes), config (YAML), state (JSON), training, chosen_by (YAML, where known)
///   /weights/<name>   one array per parameter, in float32 or float64; of direct weights the matrices of linear layers
///                     as bytes with the attribute scale_factor (as the CF conventions pack numbers), ternary ones four
///                     to a byte (0, 1, 2 mean -1, 0, 1; lowest bits first), with the attributes scale_factor and shape
///   /fields/<name>    name, unit, shape, lowest and highest value seen in training (attributes)
///   /card/<name>      figures with their unit
///   /rows/<table>     weights (rows, width), of networks with tables
///   32 bytes          behind the end: a checksum of all before
void write_artifact(const std::string& path, const ArtifactInfo& info, const FlatBuffer& weights,
                    const Context& context, Tables* tables = nullptr, bool best = false);

/// A trained network as it was written.
struct LoadedModel {
  ArtifactInfo info;
  std::unique_ptr<Network> network;
  std::unique_ptr<FlatLayout> layout;
  FlatBuffer weights;
  std::unique_ptr<Tables> tables;  ///< null for networks without
};

/// InputError for a file that is none, in which a byte has changed, of another version, of a type that this build does
/// not have, or whose arrays are not those of its network. Collective for a network with tables, which are divided
/// among the ranks of the context.
LoadedModel load_artifact(const std::string& path, Context& context);

/// InputError when a data set on which the model is judged lacks a field of it, but for labels that its network spares,
/// or has one in another unit. `path` is the model's file.
void require_fields(const LoadedModel& model, const std::string& path, Dataset& data);

/// What a judge of this model should know of a data set (its keys, YAML, or one file's path): a sentence where it names
/// a file that the model was trained on or chosen by, since its errors there are less than elsewhere. Empty where it
/// does not.
std::string met_before(const ArtifactInfo& info, const std::string& model, const std::string& data);

/// Ranges of the fields over at most `samples` samples, spread evenly.
std::vector<FieldRange> field_ranges(Dataset& data, std::int64_t samples);

}  // namespace cambium::train
