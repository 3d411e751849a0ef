#pragma once
#include <memory>

#include "core/train/kinds/network.hpp"
#include "plugins/deepmd/training/loss.hpp"

namespace cambium::deepmd {

/// Weights of a model's networks, embeddings first: all of them during the lifetime of this object, or, if a callback
/// requests it (sharded weights), those of the modules that are currently gathered.
template <class T>
class OpenNetworks {
 public:
  /// `first`: first parameter of each network, and the total number (first_parameters()).
  OpenNetworks(const DeepPotentialModel& shape, std::span<const int> first, std::span<const TensorRef> weights,
               std::span<const TensorRef> gradients, const train::ReadyCallback& ready);
  int count() const { return static_cast<int>(first_.size()) - 1; }
  int embeddings() const { return static_cast<int>(bound_.embedding.size()); }
  const AllWeights<T>& weights() const { return bound_; }
  const NetworkWeights<T>& operator[](int network) { return bound(network); }

  /// Tensors that a network's gradient is added to; with_gradients() is the network with other targets.
  std::span<const TensorRef> gradients(int network) const;
  NetworkWeights<T> with_gradients(int network, std::span<const TensorRef> gradients) const;

  void forward(int network);
  void backward(int network);  ///< gradients, too
  void release(int network);
  void ready(int network) const;  ///< all of its gradients are final

 private:
  void bind(int network, std::span<const TensorRef> gradients);
  NetworkWeights<T>& bound(int network);

  std::vector<const Network*> networks_;
  std::span<const int> first_;
  std::span<const TensorRef> weights_, gradients_;
  const train::ReadyCallback& callback_;
  AllWeights<T> bound_;
};

/// Prediction of a model for a frame, atoms in the frame's order.
struct Prediction {
  double energy = 0.0;             ///< eV
  std::vector<double> force;       ///< eV/Å, three an atom
  std::array<double, 9> virial{};  ///< eV
};

/// Errors of a Deep Potential on frames and the gradient of its weighted loss, in one precision. Frames are processed
/// in portions large enough for efficient matrix products, distributed over threads: each has its own gradients, which
/// are added in the order of threads.
///
/// With sharded weights (ReadyCallback::by_module) every network is gathered twice: once for the energies of its atoms
/// and their derivatives, and, when the errors of forces are known, once for their tangents along these errors and the
/// gradient. All portions do each of these steps together and keep their activations in between. The result is bitwise
/// identical.
class LossGradient {
 public:
  virtual ~LossGradient() = default;
  using Frames = std::vector<FramePtr>;
  virtual void gradient(const Frames& frames, std::span<const TensorRef> weights, std::span<const double> term_weights,
                        std::span<const TensorRef> gradients, std::span<train::TermSum> terms,
                        const train::ReadyCallback& ready) = 0;
  /// If `terms` is not empty, also adds the terms of the loss to it.
  virtual void evaluate(const Frames& frames, std::span<const TensorRef> weights, std::span<train::TermSum> metrics,
                        std::span<train::TermSum> terms = {}) = 0;
  virtual std::vector<Prediction> predict(const Frames& frames, std::span<const TensorRef> weights) = 0;
  const train::CodedWeights* coded = nullptr;  ///< for evaluate() and predict()

  /// `shape` must outlive it; see ModelPass for `interpolation`.
  static std::unique_ptr<LossGradient> make(DType precision, const DeepPotentialModel& shape, const LossForm& form,
                                            double interpolation);
};

}  // namespace cambium::deepmd
