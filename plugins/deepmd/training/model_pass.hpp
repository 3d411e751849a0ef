#pragma once
#include <array>

#include "plugins/deepmd/datasets/batch.hpp"
#include "plugins/deepmd/model/environment.hpp"
#include "plugins/deepmd/training/fitting_pass.hpp"
#include "plugins/deepmd/training/neighbour_sums.hpp"

namespace cambium::deepmd {

/// Energies, forces and virials of a Deep Potential, and the weights' gradient of any function of them.
///
/// Forces are first derivatives, so a loss of forces needs mixed second derivatives. With v = -dL/dF (and strain from
/// dL/d(virial)) as a direction in the space of positions, the gradient of such a loss is that of the energy's change
/// along v: values and changes are carried through the network together, and one backward pass over the pair gives
/// everything. Geometry and sums over atoms are in double, networks in T.
template <class T>
class ModelPass {
 public:
  /// `shape` gives sizes, statistics and biases; its weights are not read. It must outlive this object.
  /// With `interpolation` the embedding networks are interpolated to that tolerance (see EmbeddingTable); with 0 they
  /// are evaluated at every pair.
  explicit ModelPass(const DeepPotentialModel& shape, double interpolation = 0.0);
  ModelPass(const ModelPass&) = delete;

  void evaluate(const Batch& batch, const AllWeights<T>& weights);
  double energy(int frame) const { return energy_[frame]; }                        ///< eV
  const std::array<double, 9>& virial(int frame) const { return virial_[frame]; }  ///< eV
  const double* force(int place) const {
    return &force_[3 * static_cast<std::size_t>(place)];
  }  ///< eV/Å, by Batch::place

  /// Derivatives of a loss with respect to what evaluate() gives, in the same order.
  struct Adjoint {
    std::vector<double> energy, force;
    std::vector<std::array<double, 9>> virial;
    void reset(const Batch& batch);
  };
  /// Adds the loss's gradient to the weights' gradients. Needs evaluate() of this batch with these weights.
  void backward(const Batch& batch, const AllWeights<T>& weights, const Adjoint& adjoint);

  /// Both in parts, for weights of which only some networks' are there at a time: embed(), fit() of every type,
  /// forces() are evaluate(); changes(), backward_fitting() of every type, backward_embedding() of every network are
  /// backward(). Types and networks come in any order.
  void embed(const Batch& batch, const AllWeights<T>& weights);  ///< reads the embedding networks
  void fit(const Batch& batch, const NetworkWeights<T>& net, int type);
  void forces(const Batch& batch);
  void changes(const Batch& batch, const Adjoint& adjoint);
  void backward_fitting(const Batch& batch, const NetworkWeights<T>& net, const Adjoint& adjoint, int type);
  void backward_embedding(const Batch& batch, const NetworkWeights<T>& net, int index);

 private:
  void environment(const Batch& batch);
  void padding_adjoint(const Batch& batch, int tj, int ti);
  double empty_slots(const Batch& batch, int neighbour, int centre, int atom) const;
  T* a(int atom) { return a_.row(static_cast<std::int64_t>(atom) * kernels_.components); }
  T* p(int atom) { return p_.row(static_cast<std::int64_t>(atom) * kernels_.components); }
  T* a_dot(int atom) { return a_dot_.row(static_cast<std::int64_t>(atom) * kernels_.components); }
  T* a_bar(int atom) { return a_bar_.row(static_cast<std::int64_t>(atom) * kernels_.components); }

  const DeepPotentialModel& shape_;
  CutOff cutoff_;
  DescriptorKernels<T> kernels_;
  std::unique_ptr<NeighbourSums<T>> sums_;
  std::vector<FittingPass<T>> fitting_;
  double inverse_slots_ = 0.0;     ///< 1 / sum of sel
  Rows<T> a_, p_, a_dot_, a_bar_;  ///< `components` rows an atom; p = dE/dA and a_bar carry inverse_slots_
  Rows<T> padding_;                ///< by (neighbour, centre) type: values of the padding row, then their adjoints
  PairRows<T> rows_;
  std::vector<double> geometry_;  ///< of each row: (ds/dr)/r, t, (dt/dr)/r with s = w/r, t = w/r^2
  std::vector<double> energy_, force_;
  std::vector<std::array<double, 9>> virial_;
};

extern template class ModelPass<double>;
extern template class ModelPass<float>;

}  // namespace cambium::deepmd
