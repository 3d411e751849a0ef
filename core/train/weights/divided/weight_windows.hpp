#pragma once
#include <string_view>

#include "core/train/weights/divided/parts.hpp"

namespace cambium::train {

/// Weights as used by a network: before a module is used, its weights are gathered into a window, in the network's
/// precision, which is freed afterwards. With Partition::prefetch the next module is meanwhile gathered into a separate
/// window. Replicated weights that need no conversion are used in place.
class WeightWindows {
 public:
  /// The parts must outlive this.
  explicit WeightWindows(DividedParts& parts);

  std::span<const TensorRef> views() const { return views_; }
  /// Before and after all slices of a step: weights that are always in use.
  void begin(int slices);
  void end();
  void next_slice(int slice);
  /// Collective over the levels that shard weights, in the same order on all their ranks.
  void forward(int module) { use(module, "gather forward"); }
  void backward(int module) { use(module, "gather backward"); }
  void release(int module);
  /// MPI libraries without a progress thread make progress only inside MPI calls.
  void advance() { prefetched_.gather.advance(false); }

 private:
  void use(int module, std::string_view what);
  void open(DividedGroup& g, std::string_view what);
  void close(DividedGroup& g);
  std::byte* gathered(DividedGroup& g, std::string_view what);
  void start_gather(DividedGroup& g, std::string_view what);
  void gather_in_few_bits(DividedGroup& g, std::byte* together, std::string_view what);
  void prefetch_after(const DividedGroup& g, bool released);
  bool seen_in_place(const DividedGroup& g) const { return g.weights_depth == 0 && parts_.form.plain(); }

  struct Prefetched {
    DividedGroup* group = nullptr;
    Block window;  ///< in storage format
    LevelGather gather;
  };
  DividedParts& parts_;
  std::vector<TensorRef> views_;
  std::vector<Block> windows_;          ///< by group
  std::vector<DividedGroup*> divided_;  ///< with sharded weights, in the order of the forward pass
  int slices_ = 1, slice_ = 0;
  int uses_ = 0;  ///< uses of sharded groups in this slice: forward, then backward
  Prefetched prefetched_;
};

}  // namespace cambium::train
