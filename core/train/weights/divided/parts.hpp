#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/train/optimizers/clip.hpp"
#include "core/train/optimizers/optimizer.hpp"
#include "core/train/reduce/reducer.hpp"
#include "core/train/weights/direct_tensors.hpp"
#include "core/train/weights/divided/kept_form.hpp"
#include "core/train/weights/divided/partition.hpp"

namespace cambium::train {

/// Communication of a sharded model, with the rounding address of its messages.
class Exchanges : public Communication {
 public:
  void begin_step(std::uint64_t seed, std::int64_t step) override {
    address_.seed = seed;
    address_.step = static_cast<std::uint64_t>(step);
  }
  Traffic& counts() { return traffic_; }
  /// Adds the waiting time since `start` (s).
  void waited_since(double start);
  /// For one group's messages: `purpose` 0 for gradients, 1 for new weights, 2 for weights gathered for a module.
  lowp::RoundingAddress address(int group, int purpose) const;

 private:
  lowp::RoundingAddress address_;  ///< seed and step
};

/// Tensors that are sharded, gathered and sent together.
struct DividedGroup {
  int number = 0;
  Interval whole;
  std::vector<int> tensors;
  int module = -1;  ///< -1: small tensors, or those of a network without modules; in use during the entire sum
  int weights_depth = 0;
  std::int64_t weights_at = 0, best_at = 0;      ///< first byte in storage
  std::int64_t gradients_at = 0, states_at = 0;  ///< first element in storage
  std::unique_ptr<FlatLayout> shard;             ///< layout of this rank's states
};

/// Address of an element in a complete buffer.
inline const std::byte* bytes_at(const FlatBuffer& whole, std::int64_t element) {
  return reinterpret_cast<const std::byte*>(whole.values<std::uint8_t>().data()) + element * size_of(whole.dtype());
}

/// Settings of sharding in addition to its Partition.
struct DivideSettings {
  bool ordered = false, overlap = true;
  std::int64_t group_elements = 1000000;  ///< per message, for a network without modules
  std::optional<DirectParams> direct = {};
  std::optional<Average> average = {};
  std::int64_t slices = 8;  ///< of a global batch in ordered mode
};

/// Part of a sharded model on this rank, and its locations.
///
/// The unit is a group: the larger tensors of one module of the network; small tensors form a group whose weights are
/// always replicated. Split optimizers keep weights and gradients in bfloat16 if the network has modules; sums of
/// gradients then round to bfloat16. Matrices of direct weights are stored only on low-bit grids. Weights sent encoded
/// after the step are also stored exactly by the ranks that update them; this copy counts as a state.
struct DividedParts {
  /// Collective. InputError if the network or the optimizer does not support this partition, or memory is insufficient.
  DividedParts(const Partition& partition, const Comm& comm, Network& network, const Optimizer& optimizer,
               const DivideSettings& settings);

  /// This rank's part of a group over `depth` levels, and the part that it updates.
  Interval share(const DividedGroup& g, int depth) const { return share_of(mesh, g.whole, depth); }
  Interval stepped(const DividedGroup& g) const { return share(g, partition.states); }
  /// Stored part of a group, and the updated part within it.
  std::byte* weights_of(const DividedGroup& g) { return weights.data() + g.weights_at; }
  std::byte* gradients_of(const DividedGroup& g) { return gradients.data() + g.gradients_at * size_of(form.kept); }
  std::byte* stepped_weights_of(const DividedGroup& g);
  std::byte* stepped_gradients_of(const DividedGroup& g);
  std::byte* state_of(const DividedGroup& g, std::size_t k) {
    return states[k].data() + g.states_at * size_of(infos[k].dtype);
  }
  /// The exact average of the updated part, if settings.average keeps one.
  std::byte* average_of(const DividedGroup& g) { return average.data() + g.states_at * size_of(form.real); }
  /// The exact weights for validation and export, in the order of the states; null if they are the trained weights.
  Block* served();
  /// The optimizer's own states of the updated part.
  std::vector<FlatBuffer> optimizer_states(const DividedGroup& g);
  /// True if new weights are sent encoded; then the last state is this rank's exact part of the weights.
  bool codes_updates() const { return partition.codecs.update != WeightCodec::none; }
  /// Views with the tensors' shapes, whose memory changes; and its current address (null: none).
  std::vector<TensorRef> views() const;
  void place(std::vector<TensorRef>& views, const DividedGroup& g, std::byte* data) const;
  /// Collective. Table of memory in use, compared with bytes x parameters / ranks; the peak is the maximum over ranks.
  std::vector<std::string> memory_report() const;

  const bool by_module;  ///< the network WorksByModule: no complete copies needed, and the limit includes copies
  const Partition partition;
  const Mesh mesh;
  const DivideSettings settings;
  const bool by_nodes;  ///< ordered mode on a number of ranks that is not a power of two: nodes of the tree are sent
  MemoryLedger memory;
  Exchanges exchanges;
  const Wires wires{mesh, exchanges.counts(), memory};
  KeptForm form;
  std::vector<Optimizer::StateInfo> infos;  ///< with coded updates the last one is "main"
  std::optional<std::size_t> served_state;  ///< Optimizer::served_state()
  std::unique_ptr<FlatLayout> layout;
  std::vector<DividedGroup> groups;  ///< in the order in which their gradients are sent
  std::vector<int> group_of;         ///< by tensor
  std::vector<int> module_first;     ///< first tensor of each module, and the end
  Block weights, gradients, average;
  std::vector<Block> states;

 private:
  void refuse(const Network& network, const Optimizer& optimizer) const;
  void make_groups(const Network& network);
  void make_storage();
};

}  // namespace cambium::train
