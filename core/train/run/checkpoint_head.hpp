#pragma once
#include <functional>
#include <span>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "core/parallel/context.hpp"
#include "core/train/kinds/layout.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/step/checkpoint_key.hpp"
#include "core/train/step/progress.hpp"
#include "core/train/tables/tables.hpp"

namespace cambium::io {
class TableFile;
}

namespace cambium::train {

/// What a checkpoint holds beside weights and states.
struct CheckpointParts {
  const Progress& progress;
  const CheckpointKey& key;
  Network& network;
  const Context& context;
  std::span<const io::TableFile* const> tables = {};  ///< whose marks are written
  Tables* rows = nullptr;                             ///< of embeddings
};

/// What the head says of the weights.
struct HeadOfWeights {
  const FlatLayout& layout;
  std::vector<double> grids;  ///< as in Snapshot
  bool has_best = false;
};

/// Collective. Runs `write` on rank 0 with a function that fills an open file with everything but weights and states.
/// InputError on every rank when `write` throws one.
using FillFile = std::function<void(io::File& file)>;
void with_head(const CheckpointParts& parts, const HeadOfWeights& weights,
               const std::function<void(const FillFile& fill)>& write);

/// InputError says what the deck changed that cannot be resumed. Returns the number of ranks that wrote the file.
std::int64_t read_head(const io::File& file, Progress& progress, const FlatLayout& layout, const CheckpointKey& key);
/// Steps of the grids of direct weights, of which the deck's model has so many.
std::vector<double> read_grids(const io::File& file, std::size_t grids);

}  // namespace cambium::train
