#pragma once
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/train/step/optimizers/clip.hpp"
#include "core/train/step/optimizers/optimizer.hpp"
#include "core/train/step/reduce/reducer.hpp"
#include "core/train/weights/direct/direct_weights.hpp"
#include "core/train/weights/direct/packed_weights.hpp"
#include "core/train/weights/divided/level_exchange.hpp"
#include "core/train/weights/divided/partition.hpp"

namespace cambium::train {

/// A whole model's numbers, counted as a copy while it lives.
struct WholeCopy {
  FlatBuffer numbers;
  Counted counted;
};

/// Weights, gradients and optimizer states of a network, each divided over some levels of a mesh.
///
/// The unit is a group: the larger tensors of one module of the network; small tensors make a group whose weights are
/// never divided. Split optimizers keep weights and gradients in bfloat16 where the network names its modules; sums of
/// gradients then round to bfloat16. Before a module is used its weights are gathered into a window in the network's
/// precision, after it the window is freed; its gradient is added up over ranks as soon as it is final. With
/// Partition::prefetch the module that comes next is gathered into a window of its own meanwhile.
///
/// With Settings::direct the matrices of linear layers are kept on grids of few bits and nowhere else: they are
/// gathered packed and unpacked into the window; a rank unpacks the part whose states it has, steps and rounds it, and
/// hands it out packed.
///
/// With coded messages (Partition::codecs) nothing overlaps. Weights that travel coded after the step are kept a second
/// time, exact, by the ranks that step them; they count as a state.
///
/// Slices of the batch are added over one binary tree in ordered mode, whatever is divided. Ranks among which gradients
/// are divided exchange every slice, so they take turns (BatchPlan::turns).
class ShardedModel : public Communication {
 public:
  struct Settings {
    bool ordered = false, overlap = true;
    std::int64_t group_elements = 1000000;  ///< of a message, for a network that names no modules
    std::optional<DirectParams> direct = {};
  };
  /// InputError when the network or the optimizer cannot be divided so.
  ShardedModel(const Partition& partition, const Mesh& mesh, const Network& network, const Optimizer& optimizer,
               const Settings& settings);

  const FlatLayout& layout() const { return *layout_; }
  /// Ranks that take turns with the slices.
  int turns() const { return static_cast<int>(parts_of(mesh_, partition_.gradients)); }

  /// Adds the gradient of one of this rank's slices to `gradients`; false when it has no samples.
  using SliceWork = std::function<bool(int slice, std::span<const TensorRef> weights,
                                       std::span<const TensorRef> gradients, const ReadyCallback& ready)>;
  void begin_step(std::uint64_t seed, std::int64_t step) override {
    address_.seed = seed, address_.step = static_cast<std::uint64_t>(step);
  }
  /// Collective: computes this rank's slices and adds up the gradients of all ranks.
  void sum(int slices, const SliceWork& compute);
  /// Collective: gradients are multiplied by `factor`, bounded, and change the weights. Returns the norm before, as
  /// Clip does.
  double step(Optimizer& optimizer, double factor, const std::optional<Clip>& clip, double rate, std::int64_t step);

  /// First weights; the optimizer starts with them.
  void start(const FlatBuffer& whole, Optimizer& optimizer);
  WholeCopy make_copy(DType dtype);
  /// Collective, on every rank. Split weights stand in their upper halves.
  WholeCopy whole_weights();
  WholeCopy whole_state(std::size_t k);
  void take_weights(const FlatBuffer& whole);
  void take_state(std::size_t k, const FlatBuffer& whole);
  const std::vector<Optimizer::StateInfo>& states() const { return infos_; }
  /// Keeps the weights as they are now, divided like the states; whole_best() brings them back.
  void keep_best();
  WholeCopy whole_best();
  void take_best(const FlatBuffer& whole);

  /// With direct weights: steps of their grids, how many there are, and how many of this rank's part the last step
  /// changed.
  std::vector<double> grid_steps() const { return packed_ ? packed_->steps() : std::vector<double>{}; }
  void set_grid_steps(std::span<const double> steps) { packed_->set_steps(steps); }
  std::int64_t linear_numbers() const { return packed_->linear_numbers(); }
  std::int64_t changed() const { return changed_; }
  /// Collective: such numbers of all parts together.
  double over_parts(double count) const;

  const MemoryLedger& memory() const { return memory_; }
  /// Table of what is held, beside bytes x parameters / ranks.
  std::vector<std::string> memory_report() const;

 private:
  struct Group {
    Interval whole;
    std::vector<int> tensors;
    int module = -1;  ///< -1: small tensors, or those of a network without modules; in use during the whole sum
    int weights_depth = 0;
    std::int64_t weights_at = 0, best_at = 0;      ///< first byte in the storages
    std::int64_t gradients_at = 0, states_at = 0;  ///< first element
    std::unique_ptr<FlatLayout> shard;             ///< what the states of this rank belong to
    Block weights_window, gradients_window;
    int missing = 0;
    std::vector<Block> sums;  ///< ordered mode: of 1, 2, 4, ... slices that wait for their partner
    std::vector<char> full;
    LevelReduce reduce;
  };

  // sharded_model.cpp
  void make_groups(const Network& network, const Settings& settings);
  void make_storage();
  void refuse(const Network& network, const Optimizer& optimizer) const;
  bool weights_direct(const Group& g) const { return g.weights_depth == 0 && kept_ == real_ && !packed_; }
  bool gradients_direct() const { return partition_.gradients == 0 && kept_ == real_ && !(ordered_ && slices_ > 1); }
  Interval share(const Group& g, int depth) const { return share_of(mesh_, g.whole, depth); }
  std::byte* weights_of(Group& g) { return weights_.data() + g.weights_at; }
  std::byte* gradients_of(Group& g) { return gradients_.data() + g.gradients_at * size_of(kept_); }
  /// Where the part that states belong to lies within what is kept of weights and gradients.
  std::byte* weights_shard(Group& g);
  std::byte* gradients_shard(Group& g);

  // kept_weights.cpp
  std::int64_t kept_bytes(Interval part) const;
  void to_real(const std::byte* from, Interval part, std::byte* to) const;
  void to_kept(const std::byte* from, Interval part, std::byte* to) const;
  void gather_kept(std::byte* values, Interval whole, int from, int to, std::string_view what);
  void put_kept(const std::byte* mine, Interval whole, int depth, std::byte* together) const;

  // sharded_sum.cpp
  void open_weights(Group& g, std::string_view what);
  std::byte* gathered_window(Group& g, std::string_view what);
  void start_gather(Group& g, std::string_view what);
  void prefetch_after(const Group& g, bool released);
  void go_on();
  void open_gradients(Group& g);
  void close_weights(Group& g);
  void forward(int module);
  void backward(int module);
  void release(int module);
  void tensor_ready(int tensor);
  void next_groups();
  void group_final(Group& g);
  void accumulate(Group& g, std::byte* values, std::int64_t n, int slice);
  void complete_pending();
  void start_reduce(Group& g);
  lowp::RoundingAddress address_of(const Group& g, int purpose) const;
  void gather_window(Group& g, std::byte* together, std::string_view what);
  void take_part_without_samples();
  void finish();

  // sharded_step.cpp
  void publish(Group& g);
  FlatBuffer stepped_weights(Group& g, Block& window);
  void step_group(Group& g, Optimizer& optimizer, const FlatBuffer& gradients, double rate, std::int64_t step);
  template <class T>
  double squared_norm(double factor, const Clip& clip);
  template <class T>
  Block bounded_gradient(Group& g, double factor, const std::optional<Clip>& clip, double shrink);

  // sharded_copies.cpp
  WholeCopy whole_of(DType dtype, const std::function<void(Group&, std::byte* into)>& gather);
  std::int64_t best_bytes() const;

  const Partition partition_;
  const Mesh& mesh_;
  MemoryLedger memory_;
  Wires wires_;
  DType real_, kept_;  ///< of the network; of weights and gradients between their uses
  bool ordered_, overlap_;
  std::int64_t group_elements_;
  std::vector<Optimizer::StateInfo>
      infos_;  ///< with coded updates the last one is "main": this rank's part of the weights, before coding
  lowp::RoundingAddress address_;  ///< seed and step
  std::unique_ptr<FlatLayout> layout_;
  std::vector<Group> groups_;      ///< in the order in which their gradients are sent
  std::vector<int> group_of_;      ///< by tensor
  std::vector<int> module_first_;  ///< first tensor of each module, and the end
  Block weights_, gradients_;
  std::vector<Block> states_;
  Block best_;
  std::optional<DirectParams> direct_;
  std::unique_ptr<PackedWeights> packed_;  ///< with direct_
  std::int64_t changed_ = 0;
  std::vector<TensorRef> weight_views_, gradient_views_;

  int slices_ = 1, slice_ = 0;
  std::size_t next_ = 0;  ///< first group of the slice that is not final
  std::vector<char> tensor_done_;
  std::vector<Group*> divided_;  ///< with divided weights, in the order of the forward pass
  int uses_ = 0;                 ///< of divided groups in this slice: forward, then backward
  struct Prefetched {
    Group* group = nullptr;
    Block window;  ///< in the kept precision
    LevelGather gather;
  };
  Prefetched prefetched_;
  struct Pending {
    Group* group = nullptr;
    Block kept;     ///< the gradient in the kept precision, while its parts travel
    int slice = 0;  ///< to which it belongs: its parts may arrive when the next one is under way
  };
  Pending pending_;
};

}  // namespace cambium::train
