#pragma once
#include <memory>
#include <optional>
#include <string>

#include "core/codec/codec.hpp"
#include "core/deck/describe.hpp"
#include "core/lowp/message.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/reduce/mesh.hpp"
#include "core/train/reduce/share_exchange.hpp"
#include "core/train/reduce/shared_sum.hpp"
#include "core/train/reduce/slice_tree.hpp"
#include "core/train/reduce/traffic.hpp"

namespace cambium::train {

/// Error bound for gradients in messages: `relative` to the range of each tensor, or `absolute`.
struct LossyMessages {
  std::optional<double> relative, absolute;
  static void describe(deck::Describe<LossyMessages>& d);
  lowp::LossyBound bound() const;
};

/// Summation of gradients over slices and ranks.
struct ReduceParams {
  enum class Mode { fast, ordered };
  Mode mode = Mode::fast;
  int slices = 8;
  bool overlap = true, shared_memory = true;
  double group = 4e6;
  lowp::WireCodec codec = lowp::WireCodec::none;
  std::optional<LossyMessages> lossy;
  static void describe(deck::Describe<ReduceParams>& d);
};

/// Bytes sent in a step, and the time spent waiting for them.
class Communication {
 public:
  virtual ~Communication() = default;
  /// Called before each sum, on every rank; seeds stochastic rounding.
  virtual void begin_step(std::uint64_t /*seed*/, std::int64_t /*step*/) {}
  /// Sum of a few values over ranks, with waiting time and bytes counted like those of gradients.
  void sum_small(std::span<double> values, const Comm& comm);

  const Traffic& traffic() const { return traffic_; }
  /// Time in s that this rank waited for messages with nothing left to compute.
  double exposed_seconds() const { return exposed_; }

 protected:
  Traffic traffic_;
  double exposed_ = 0.0;
};

/// Sum of the gradients of all slices of all ranks: begin(), then for each local slice next_slice(), its gradient added
/// to the buffer, and ready() whenever one of its tensors is final; then finish().
class Reducer : public Communication {
 public:
  /// Zeroed gradients for begin(), with the layout and type that the reducer was made for; must not outlive the
  /// reducer.
  virtual FlatBuffer make_buffer(const FlatLayout& layout, DType dtype) { return FlatBuffer(layout, dtype); }
  /// Collective. Starts a sum in `gradients`, which must stay valid until finish().
  virtual void begin(FlatBuffer& gradients, int slices);
  /// Completes the previous slice, if any; gradients added from here on belong to the next one.
  virtual void next_slice() { ++slice_; }
  /// Marks the gradient of a tensor as final in this slice: it may be sent while others are computed. May be called
  /// twice, or not at all.
  virtual void ready(int /*tensor*/) {}
  /// Collective. The gradients then contain the sum over all ranks, bitwise identical on every rank.
  virtual void finish() = 0;

 protected:
  bool last_slice() const { return slice_ == slices_ - 1; }

  FlatBuffer* gradients_ = nullptr;  ///< of the current sum
  int slices_ = 0, slice_ = -1;      ///< of this rank
};

/// Fastest mode: slices are accumulated in one buffer; in the last one a group of tensors is sent (by a ShareExchange
/// on a few ranks, by MPI_Iallreduce on more) as soon as all of them are final and all previous groups are in flight,
/// so every rank sends in the same order. Results on different numbers of ranks differ by rounding.
class FastReducer : public Reducer {
 public:
  FastReducer(const Mesh& mesh, const FlatLayout& layout, bool overlap);
  void begin(FlatBuffer& gradients, int slices) override;
  void ready(int tensor) override;
  void finish() override;

 private:
  bool alone() const { return mesh_.world().size() == 1; }
  void send_next();
  void go_on(bool wait);

  const Mesh& mesh_;
  const FlatLayout& layout_;
  bool overlap_;
  std::vector<int> missing_;       ///< per group: tensors not yet final
  std::vector<char> tensor_done_;  ///< a network may call ready() twice
  int next_ = 0;                   ///< first group that is not in flight
  std::vector<MPI_Request> requests_;
  std::vector<ShareExchange> exchanges_;  ///< of the groups; empty on many ranks
};

/// The same for a few ranks of one node, without messages: tensors are summed in shared memory (SharedSum), each as
/// soon as it is final on all ranks. The gradients must come from make_buffer().
class SharedReducer : public Reducer {
 public:
  SharedReducer(const Mesh& mesh, const FlatLayout& layout, bool overlap, std::unique_ptr<SharedSum> shared);
  FlatBuffer make_buffer(const FlatLayout&, DType) override { return shared_->buffer(); }
  void begin(FlatBuffer& gradients, int slices) override;
  void ready(int tensor) override;
  void finish() override;

 private:
  const Mesh& mesh_;
  const FlatLayout& layout_;
  bool overlap_;
  std::unique_ptr<SharedSum> shared_;
  std::vector<char> tensor_done_;  ///< a network may call ready() twice
};

/// Deterministic reduction, bitwise identical for any power-of-two number of ranks: a fixed number of slices per global
/// batch, each computed separately, added by one binary tree. Its lower levels are within a rank; its upper ones are
/// recursive halving, exchanges between ranks at distance 1, 2, 4, ... of half the remaining data each, followed by a
/// gather. A rank sends 2 P (N - 1) / N of P elements. Nothing overlaps.
class OrderedReducer : public Reducer {
 public:
  OrderedReducer(const Mesh& mesh, const FlatLayout& layout, DType dtype);
  void begin(FlatBuffer& gradients, int slices) override;
  void next_slice() override;
  void finish() override;

 private:
  void carry();
  void exchange();

  const Mesh& mesh_;
  const FlatLayout& layout_;
  DType dtype_;
  std::vector<FlatBuffer> levels_;  ///< sums of 1, 2, 4, ... slices that wait for their sibling
  std::vector<char> full_;
  FlatBuffer received_;
};

/// The same on numbers of ranks that are not powers of two. Each rank has consecutive slices of `all`: a few nodes of
/// the tree, at most two of each size. Every rank adds its chunk of all nodes and sends the result to all. A rank sends
/// P (N - 1) / N for each of its nodes and once more for the sum.
class TreeReducer : public Reducer {
 public:
  TreeReducer(const Mesh& mesh, const FlatLayout& layout, DType dtype, std::int64_t all);
  void begin(FlatBuffer& gradients, int slices) override;
  void next_slice() override;
  void finish() override;

 private:
  void keep();
  void give_back();
  void exchange();
  NodeRanks ranks() const;

  const Mesh& mesh_;
  const FlatLayout& layout_;
  DType dtype_;
  std::int64_t all_;
  SumTree<FlatBuffer> tree_;
  std::vector<FlatBuffer> spare_;  ///< memory for pending sums
};

/// InputError if ordered mode has fewer slices than ranks.
void require_ranks(const ReduceParams& params, int ranks);

/// Layout of tensors whose gradients are reduced as `params` specify: for low-bit messages, whose scales cover 128
/// values, each tensor begins its own group, because gradients of different tensors differ by orders of magnitude.
FlatLayout layout_of(const ReduceParams& params, std::vector<ParameterInfo> tensors, DType dtype);

std::unique_ptr<Reducer> make_reducer(const ReduceParams& params, const Mesh& mesh, const FlatLayout& layout,
                                      DType dtype);

}  // namespace cambium::train
