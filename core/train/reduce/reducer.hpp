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

/// How far gradients may be changed on their way: by `relative` times the range of each tensor, or by `absolute`.
struct LossyMessages {
  std::optional<double> relative, absolute;
  static void describe(deck::Describe<LossyMessages>& d);
  lowp::LossyBound bound() const;
};

/// How gradients are added over slices and ranks.
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

/// Bytes that a step sends, and the time waited for them.
class Communication {
 public:
  virtual ~Communication() = default;
  /// Said before each sum, on every rank: what rounding at random depends on.
  virtual void begin_step(std::uint64_t /*seed*/, std::int64_t /*step*/) {}
  /// Sum over ranks of a few numbers, waited for and counted like the gradients.
  void sum_small(std::span<double> values, const Comm& comm);

  const Traffic& traffic() const { return traffic_; }
  /// s that this rank waited for messages with nothing left to compute.
  double exposed_seconds() const { return exposed_; }

 protected:
  Traffic traffic_;
  double exposed_ = 0.0;
};

/// Sum of the gradients of all slices of all ranks: begin(), then for each of this rank's slices next_slice(), its
/// gradient added to the buffer, ready() whenever one of its tensors is final; then finish().
class Reducer : public Communication {
 public:
  /// Zeroed gradients for begin(), of the layout and type that the reducer was made for; they live as long as it does.
  virtual FlatBuffer make_buffer(const FlatLayout& layout, DType dtype) { return FlatBuffer(layout, dtype); }
  /// Collective. A sum begins, in `gradients`, which stay until finish().
  virtual void begin(FlatBuffer& gradients, int slices);
  /// The last slice is complete, if there was one; what is added to the gradients from here on belongs to the next.
  virtual void next_slice() { ++slice_; }
  /// The gradient of a tensor is final in this slice, which may be said twice, or not at all: it may travel while the
  /// others are computed.
  virtual void ready(int /*tensor*/) {}
  /// Collective. The sum over all ranks stands in the gradients, the same bits on every rank.
  virtual void finish() = 0;

 protected:
  bool last_slice() const { return slice_ == slices_ - 1; }

  FlatBuffer* gradients_ = nullptr;  ///< of the sum under way
  int slices_ = 0, slice_ = -1;      ///< of this rank
};

/// The best speed: slices add into one buffer; in the last one a group of tensors is sent (by a ShareExchange on a few
/// ranks, by MPI_Iallreduce on more) as soon as all of them are final and all groups before it are under way, so that
/// every rank sends in the same order. Sums of different numbers of ranks differ by rounding.
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
  std::vector<int> missing_;       ///< per group: tensors that are not final yet
  std::vector<char> tensor_done_;  ///< a network may call twice
  int next_ = 0;                   ///< first group that is not under way
  std::vector<MPI_Request> requests_;
  std::vector<ShareExchange> exchanges_;  ///< of the groups; none on many ranks
};

/// The same on a few ranks of one node, without messages: tensors are summed where they lie (SharedSum), each as soon
/// as it is final on all ranks. The gradients must come from make_buffer().
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
  std::vector<char> tensor_done_;  ///< a network may call twice
};

/// The same bits for any number of ranks that is a power of two: a fixed number of slices per global batch, each
/// computed alone, added by one binary tree. Its lower levels lie within a rank; its upper ones are exchanges between
/// ranks at distance 1, 2, 4, ..., each passing on half of what it holds (recursive halving), then gathered back. A
/// rank sends 2 P (N - 1) / N of P elements. Nothing overlaps.
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
  std::vector<FlatBuffer> levels_;  ///< sums of 1, 2, 4, ... slices that wait for their partner
  std::vector<char> full_;
  FlatBuffer received_;
};

/// The same bits on a number of ranks that is no power of two, of which each has some neighbouring slices of `all`: a
/// few nodes of the tree, at most two of each size. Every rank adds its part of all nodes and hands it out. A rank
/// sends P (N - 1) / N for each of its nodes and once more for the sum.
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
  std::vector<FlatBuffer> spare_;  ///< memory for sums that wait
};

/// InputError when ordered mode has fewer slices than ranks.
void require_ranks(const ReduceParams& params, int ranks);

/// Where tensors lie whose gradients are added as `params` say: with messages in few bits, whose scales serve 128
/// numbers, each tensor begins a group of its own, because gradients of different tensors differ by orders of
/// magnitude.
FlatLayout layout_of(const ReduceParams& params, std::vector<ParameterInfo> tensors, DType dtype);

std::unique_ptr<Reducer> make_reducer(const ReduceParams& params, const Mesh& mesh, const FlatLayout& layout,
                                      DType dtype);

}  // namespace cambium::train
