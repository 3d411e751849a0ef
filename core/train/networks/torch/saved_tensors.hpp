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

/// Storage of what Torch saves for the backward pass while a Saving scope is open, compressed as soon as it is saved;
/// the tensor itself is freed with its last user. Bounds follow from the error that they make in gradients (Jin et al.,
/// COMET, PVLDB 15, 2021): the error of an activation is even in [-e, e], and a weight's gradient sums n products of it
/// with the loss's gradient L, so that its error has the deviation e sqrt(n R / 3) L_rms, with R the share of
/// activations that are not zero (these stay exact). It is held at `share` of the mean absolute gradient of the same
/// weights, as the step before knew n, R, L_rms and the gradient.
///
/// What only ReLU and maxima read in the backward pass is kept as signs. Integers are kept exactly; parameters, small
/// arrays and other types as they are. One thread.
class SavedTensors : public Keeper {
 public:
  explicit SavedTensors(const ActivationParams& params) : params_(params) {}
  SavedTensors(const SavedTensors&) = delete;

  /// Compresses what is saved on this thread while it lives. `parameters` are never touched.
  class Saving {
   public:
    Saving(SavedTensors& to, const std::vector<torch::Tensor>& parameters);

   private:
    Keeping keeping_;
  };
  /// Before backward(): watches the nodes behind `loss` for what the bounds follow from.
  void watch(const torch::Tensor& loss);
  /// After backward(): the next pass takes the bounds that follow.
  void adapt();

  /// One saved array, by its order in the forward pass and its shape behind the batch.
  struct Slot {
    std::vector<std::int64_t> shape;
    bool values = true;                ///< false: signs are enough
    double bound = 0.0;                ///< of the last pass
    double present = 1.0;              ///< R
    double plain = 0.0, packed = 0.0;  ///< B of the last pass
    /// For the reader's weights, in the last pass: predicted deviation of the gradient's error at `bound`, mean
    /// absolute gradient.
    double predicted = 0.0, gradient = 0.0;
    double error_per_bound = 0.0;
    std::vector<std::string> readers;
  };
  const std::vector<Slot>& slots() const { return slots_; }
  /// Nothing is known yet of who reads what: a pass over a few samples tells.
  bool wants_probe() const { return slots_.empty() && params_.keep == ActivationParams::Keep::compressed; }
  /// Most bytes kept for backward passes at one time; and without compression.
  double peak() const { return peak_; }
  double plain_peak() const { return plain_peak_; }
  /// Most bytes allocated beyond those at the beginning of a pass: by Torch, and for encoded arrays.
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
  std::map<c10::StorageImpl*, std::vector<Known>> known_;  ///< arrays that several nodes save
  double held_ = 0.0, plain_ = 0.0, peak_ = 0.0, reading_peak_ = 0.0, plain_peak_ = 0.0, allocated_peak_ = 0.0;
  /// The node that runs: its name, mean square of what arrives, products summed per weight.
  struct Reader {
    std::string name;
    double square = 0.0;
    double terms = 0.0;
    std::vector<std::size_t> slots;
  } reader_;
  std::shared_ptr<Counter> counter_;
  std::unique_ptr<c10::DebugInfoGuard> counting_;
};

/// segment(x), of which only x is kept; the backward pass computes it again.
torch::Tensor recomputed(const std::function<torch::Tensor(const torch::Tensor&)>& segment, const torch::Tensor& x);

}  // namespace cambium::train
