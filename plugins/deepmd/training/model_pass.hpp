#pragma once
#include "plugins/deepmd/training/fitting_pass.hpp"
#include "plugins/deepmd/training/trained_descriptor.hpp"

namespace cambium::deepmd {

/// Energies, forces and virials of a Deep Potential, and the weights' gradient of any function of them.
///
/// Forces are first derivatives, so a loss of forces requires mixed second derivatives. With v = -dL/dF (and strain
/// from dL/d(virial)) as a direction in the space of positions, the gradient of such a loss is that of the energy's
/// directional derivative along v: values and tangents are propagated through the network together, and one backward
/// pass over the pair gives the full gradient. Geometry and sums over atoms are in double, networks in T.
template <class T>
class ModelPass {
 public:
  /// `shape` gives sizes, statistics and biases; its weights are not read. It must outlive this object.
  /// With `interpolation` the embedding networks are interpolated to that tolerance (see EmbeddingTable); with 0 they
  /// are evaluated at every pair, except those of se_e3, which are always interpolated, then to 1e-12. With attention
  /// layers they are always evaluated at every pair.
  explicit ModelPass(const DeepPotentialModel& shape, double interpolation = 0.0);
  ModelPass(const ModelPass&) = delete;

  void evaluate(const Batch& batch, const AllWeights<T>& weights);
  double energy(int frame) const { return energy_[frame]; }                             ///< eV
  const std::array<double, 9>& virial(int frame) const { return sums_.virial[frame]; }  ///< eV
  const double* force(int place) const {
    return &sums_.force[3 * static_cast<std::size_t>(place)];
  }  ///< eV/Å, by Batch::place

  using Adjoint = LossAdjoint;
  /// Adds the loss's gradient to the weights' gradients. Requires evaluate() of this batch with these weights.
  void backward(const Batch& batch, const AllWeights<T>& weights, const Adjoint& adjoint);

  /// Both in steps, for sharded weights of which only some networks are gathered at a time: embed(), fit() of every
  /// type, forces() equal evaluate(); changes(), backward_fitting() of every type, backward_embedding() of every
  /// network equal backward(). Types and networks may be in any order.
  void embed(const Batch& batch, const AllWeights<T>& weights);  ///< reads the embedding networks
  void fit(const Batch& batch, const NetworkWeights<T>& net, int type);
  void forces(const Batch& batch);
  void changes(const Batch& batch, const Adjoint& adjoint);
  void backward_fitting(const Batch& batch, const NetworkWeights<T>& net, const Adjoint& adjoint, int type);
  void backward_embedding(const Batch& batch, const NetworkWeights<T>& net, int index);

 private:
  void write_parameters(const Batch& batch, int atom, T* columns) const;
  /// Calls f(part, first column) in the order of the columns.
  template <class F>
  void each_part(F&& f) {
    int column = 0;
    for (const auto& part : parts_) {
      f(*part, column);
      column += part->size();
    }
  }

  const DeepPotentialModel& shape_;
  std::vector<std::unique_ptr<TrainedDescriptor<T>>> parts_;
  std::vector<FittingPass<T>> fitting_;
  std::vector<double> energy_;
  ForceSums sums_;
};

extern template class ModelPass<double>;
extern template class ModelPass<float>;

}  // namespace cambium::deepmd
