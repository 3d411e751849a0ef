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

/// Content of a checkpoint in addition to weights and states.
struct CheckpointParts {
  const Progress& progress;
  const CheckpointKey& key;
  Network& network;
  const Context& context;
  std::span<const io::TableFile* const> tables = {};  ///< tables whose positions are stored
  Tables* rows = nullptr;                             ///< of embedding tables
};

/// Information about the weights in the head.
struct HeadOfWeights {
  const FlatLayout& layout;
  std::vector<double> grids;  ///< as in Snapshot
  bool has_best = false;
};

/// Collective. Calls `write` on rank 0 with a function that fills an open file with everything except weights and
/// states. InputError on every rank if `write` throws one.
using FillFile = std::function<void(io::File& file)>;
void with_head(const CheckpointParts& parts, const HeadOfWeights& weights,
               const std::function<void(const FillFile& fill)>& write);

/// InputError names the changes of the deck that prevent a restart. Returns the number of ranks that wrote the file.
std::int64_t read_head(const io::File& file, Progress& progress, const FlatLayout& layout, const CheckpointKey& key);
/// Steps of the grids of direct weights, `grids` in the deck's model.
std::vector<double> read_grids(const io::File& file, std::size_t grids);

}  // namespace cambium::train
