#pragma once
#include <torch/torch.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/train/kinds/activations.hpp"
#include "core/train/networks/torch/keeper.hpp"

namespace cambium::train {

/// Compressed storage of the tensors that Torch saves for the backward pass while a Saving scope is open; a tensor is
/// freed with its last user. Error bounds follow from the resulting gradient error (Jin et al., COMET, PVLDB 15, 2021):
/// the error of an activation is uniform in [-e, e], and a weight's gradient sums n products of it with the loss
/// gradient L, so its error has the standard deviation e sqrt(n R / 3) L_rms, with R the fraction of nonzero
/// activations (zeros stay exact). It is kept at `share` times the mean absolute gradient of the same weights, with n,
/// R, L_rms and the gradient of the previous step.
///
/// Tensors that only ReLU and maxima read in the backward pass are stored as signs. Integers are stored exactly;
/// parameters, small arrays and other types unchanged. Not thread-safe.
class SavedTensors : public Keeper {
 public:
  explicit SavedTensors(const ActivationParams& params) : params_(params) {}
  SavedTensors(const SavedTensors&) = delete;

  /// Compresses tensors saved on this thread during its lifetime, except `parameters`.
  class Saving {
   public:
    Saving(SavedTensors& to, const std::vector<torch::Tensor>& parameters);

   private:
    Keeping keeping_;
  };
  /// Before backward(): observes the nodes of the graph of `loss` to determine the bounds.
  void watch(const torch::Tensor& loss);
  /// After backward(): applies the resulting bounds to the next pass.
  void adapt();

  /// One saved array, identified by its order in the forward pass and its shape without the batch axis.
  struct Slot {
    std::vector<std::int64_t> shape;
    bool values = true;                ///< false: signs suffice
    double bound = 0.0;                ///< of the last pass
    double present = 1.0;              ///< R
    double plain = 0.0, packed = 0.0;  ///< bytes in the last pass
    /// For the weights of the reading node, in the last pass: predicted standard deviation of the gradient's error at
    /// `bound`, mean absolute gradient.
    double predicted = 0.0, gradient = 0.0;
    double error_per_bound = 0.0;
    std::vector<std::string> readers;
  };
  const std::vector<Slot>& slots() const { return slots_; }
  /// True if the readers of saved tensors are not known yet, which a pass over a few samples determines.
  bool wants_probe() const { return slots_.empty() && params_.keep == ActivationParams::Keep::compressed; }
  /// Peak bytes stored for backward passes; and without compression.
  double peak() const { return peak_; }
  double plain_peak() const { return plain_peak_; }
  /// Peak bytes allocated since the beginning of a pass: by Torch, and for encoded arrays.
  double allocated_peak() const { return allocated_peak_; }
  std::vector<std::string> report() const;

 private:
  Again keep(const torch::Tensor& saved) override;
  friend struct BeforeNode;
  friend struct AfterNode;
  struct Entry;
  struct Counter;
  std::shared_ptr<Entry> pack(const torch::Tensor& data);
  torch::Tensor unpack(const Entry& entry);
  void encode(Entry& entry, const torch::Tensor& data);
  std::size_t slot_of(const torch::Tensor& data);
  void hold(double packed, double plain, bool encoded);

  ActivationParams params_;
  std::vector<Slot> slots_;
  std::size_t next_ = 0;
  std::vector<void*> parameters_;
  struct Known {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    std::int64_t offset, elements;
    std::weak_ptr<Entry> entry;
  };
  std::map<c10::StorageImpl*, std::vector<Known>> known_;  ///< arrays saved by several nodes
  double held_ = 0.0, plain_ = 0.0, peak_ = 0.0, reading_peak_ = 0.0, plain_peak_ = 0.0, allocated_peak_ = 0.0;
  /// The running node: its name, mean square of its incoming gradient, products summed per weight.
  struct Reader {
    std::string name;
    double square = 0.0;
    double terms = 0.0;
    std::vector<std::size_t> slots;
  } reader_;
  std::shared_ptr<Counter> counter_;
  std::unique_ptr<c10::DebugInfoGuard> counting_;
};

/// Activation checkpointing: segment(x), storing only x; the backward pass recomputes it.
torch::Tensor recomputed(const std::function<torch::Tensor(const torch::Tensor&)>& segment, const torch::Tensor& x);

}  // namespace cambium::train
