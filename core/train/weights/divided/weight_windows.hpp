#pragma once
#include <string_view>

#include "core/train/weights/divided/parts.hpp"

namespace cambium::train {

/// Weights as a network sees them: before a module is used its weights are brought together in a window, in the
/// network's precision; after it the window is freed. With Partition::prefetch the module that comes next is gathered
/// into a window of its own meanwhile. Weights that are whole and plain are seen where they lie.
class WeightWindows {
 public:
  /// The parts outlive this.
  explicit WeightWindows(DividedParts& parts);

  std::span<const TensorRef> views() const { return views_; }
  /// Before and after all slices of a step: what is in use all the time.
  void begin(int slices);
  void end();
  void next_slice(int slice);
  /// Collective over the levels that divide weights, in one order on all their ranks.
  void forward(int module) { use(module, "gather forward"); }
  void backward(int module) { use(module, "gather backward"); }
  void release(int module);
  /// MPI libraries without a progress thread move on only inside their own calls.
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
    Block window;  ///< in the kept form
    LevelGather gather;
  };
  DividedParts& parts_;
  std::vector<TensorRef> views_;
  std::vector<Block> windows_;          ///< by group
  std::vector<DividedGroup*> divided_;  ///< with divided weights, in the order of the forward pass
  int slices_ = 1, slice_ = 0;
  int uses_ = 0;  ///< of divided groups in this slice: forward, then backward
  Prefetched prefetched_;
};

}  // namespace cambium::train
