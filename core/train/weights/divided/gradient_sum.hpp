#pragma once
#include "core/train/reduce/slice_tree.hpp"
#include "core/train/weights/divided/parts.hpp"

namespace cambium::train {

/// Sum of gradients over slices and ranks: a group is reduced as soon as it is final on this rank, and sent to the
/// ranks that store it. In ordered mode slices are added over one binary tree, whatever the partition. Ranks that shard
/// gradients exchange every slice, so their slices are interleaved (BatchPlan::turns).
class GradientSum {
 public:
  /// The parts must outlive this.
  explicit GradientSum(DividedParts& parts);

  /// Views of a slice's gradients; valid from backward() until the gradient is final.
  std::span<const TensorRef> views() const { return views_; }
  void begin(int slices);
  void next_slice(int slice);
  void backward(int module);
  /// Marks a tensor's gradient as final in this slice. True if that sent nothing, so there is time for advance().
  bool ready(int tensor);
  /// Ends the slice: gradients that the network did not announce are final. InternalError if it left out a module.
  void end_slice();
  /// Processes messages that have arrived.
  void advance();
  /// Collective. Waits until the sums are in their storage.
  void finish();

 private:
  struct Sum {
    Block window;  ///< for this slice, in the network's precision
    int missing = 0;
    SumTree<Block> tree;  ///< ordered mode: sums of 1, 2, 4, ... slices that wait for their sibling
    LevelReduce reduce;
  };
  struct Pending {
    DividedGroup* group = nullptr;
    Block kept;     ///< the gradient in storage precision, while its parts are sent
    int slice = 0;  ///< its slice: its parts may arrive during the next one
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
  std::size_t next_ = 0;  ///< first group of the slice that is not yet final
  std::vector<char> tensor_done_;
  Pending pending_;
};

}  // namespace cambium::train
