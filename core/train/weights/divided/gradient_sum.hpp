#pragma once
#include "core/train/reduce/slice_tree.hpp"
#include "core/train/weights/divided/parts.hpp"

namespace cambium::train {

/// The sum of gradients over slices and ranks: a group's is added up as soon as it is final on this rank, and goes to
/// the ranks that keep it. Slices are added over one binary tree in ordered mode, whatever is divided. Ranks among
/// which gradients are divided exchange every slice, so they take turns (BatchPlan::turns).
class GradientSum {
 public:
  /// The parts outlive this.
  explicit GradientSum(DividedParts& parts);

  /// Views of a slice's gradients; they have memory from backward() until the gradient is final.
  std::span<const TensorRef> views() const { return views_; }
  void begin(int slices);
  void next_slice(int slice);
  void backward(int module);
  /// A tensor's gradient is final in this slice. True when that sent nothing, so that there is time for advance().
  bool ready(int tensor);
  /// The slice is computed: what the network did not announce is final. InternalError when it left out a module.
  void end_slice();
  /// Goes on with what has arrived.
  void advance();
  /// Collective. Waits: the sums lie where they are kept.
  void finish();

 private:
  struct Sum {
    Block window;  ///< of this slice, in the network's precision
    int missing = 0;
    SumTree<Block> tree;  ///< ordered mode: of 1, 2, 4, ... slices that wait for their partner
    LevelReduce reduce;
  };
  struct Pending {
    DividedGroup* group = nullptr;
    Block kept;     ///< the gradient in the kept precision, while its parts travel
    int slice = 0;  ///< to which it belongs: its parts may arrive when the next one is under way
  };
  Sum& sum_of(const DividedGroup& g) { return sums_[g.number]; }
  bool in_place() const;
  bool last_slice() const { return slice_ == slices_ - 1; }
  void open(DividedGroup& g);
  void group_final(DividedGroup& g);
  Block narrowed(Block window, std::int64_t n) const;
  void send_slice(DividedGroup& g, Block kept);
  void send_node(DividedGroup& g, Block kept);
  void accumulate(DividedGroup& g, std::byte* values, std::int64_t n, int slice);
  void add_node(DividedGroup& g, SliceNode node, const std::byte* values, std::int64_t n);
  void take_root(DividedGroup& g, std::int64_t n);
  std::int64_t slice_number(int slice) const;
  NodeRanks peers(const DividedGroup& g, int from, int to) const;
  void reduce_nodes(DividedGroup& g);
  void complete_pending();
  void start_reduce(DividedGroup& g);

  DividedParts& parts_;
  std::vector<TensorRef> views_;
  std::vector<Sum> sums_;  ///< by group
  int slices_ = 1, slice_ = 0;
  std::size_t next_ = 0;  ///< first group of the slice that is not final
  std::vector<char> tensor_done_;
  Pending pending_;
};

}  // namespace cambium::train
