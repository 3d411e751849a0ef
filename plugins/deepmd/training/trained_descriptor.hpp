#pragma once
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "plugins/deepmd/datasets/batch.hpp"
#include "plugins/deepmd/training/layer_weights.hpp"

namespace cambium::deepmd {

/// Derivatives of a loss with respect to the results of ModelPass::evaluate(), in the same order.
struct LossAdjoint {
  std::vector<double> energy, force;
  std::vector<std::array<double, 9>> virial;
  void reset(const Batch& batch);
};

/// Accumulators of the forces of a batch's pairs: eV/Å by atom of the batch, and virials by frame.
struct ForceSums {
  std::vector<double> force;
  std::vector<std::array<double, 9>> virial;

  /// gradient = dE_i/dr_j of the pair of row r.
  void add(const Batch& batch, int row, const double gradient[3]) {
    const double* d = batch.d(row);
    double *fi = &force[3 * static_cast<std::size_t>(batch.centre(row))],
           *fj = &force[3 * static_cast<std::size_t>(batch.neighbour(row))];
    std::array<double, 9>& w = virial[batch.frame_of(batch.centre(row))];
    for (std::size_t k = 0; k < 3; ++k) {
      fi[k] += gradient[k];
      fj[k] -= gradient[k];
      for (std::size_t q = 0; q < 3; ++q) w[3 * k + q] -= gradient[k] * d[q];
    }
  }
};

/// Change of d = r_j - r_i of row r when atom i moves by -force_bar_i and space is strained by -virial_bar.
inline std::array<double, 3> move_of(const Batch& batch, const LossAdjoint& adjoint, int row) {
  const double *d = batch.d(row), *fi = &adjoint.force[3 * static_cast<std::size_t>(batch.centre(row))],
               *fj = &adjoint.force[3 * static_cast<std::size_t>(batch.neighbour(row))];
  const auto& w = adjoint.virial[batch.frame_of(batch.centre(row))];
  std::array<double, 3> move;
  for (std::size_t k = 0; k < 3; ++k)
    move[k] = fi[k] - fj[k] - (w[3 * k] * d[0] + w[3 * k + 1] * d[1] + w[3 * k + 2] * d[2]);
  return move;
}

/// One descriptor in training: values, forces, tangents along the direction of a loss's gradient, and the gradient of
/// its embedding networks' weights. Calls are in the order of ModelPass; atoms in any order.
template <class T>
class TrainedDescriptor {
 public:
  virtual ~TrainedDescriptor() = default;
  virtual int size() const = 0;      ///< columns
  virtual int networks() const = 0;  ///< embedding networks

  virtual void embed(const Batch& batch, std::span<const NetworkWeights<T>> networks) = 0;
  /// Writes an atom's columns; up to a register of zeros is written after them.
  virtual void value(int atom, T* d) = 0;
  /// Stores dE/d(columns), for add_forces() and later calls.
  virtual void take_gradient(int atom, const T* d_gradient) = 0;
  virtual void add_forces(const Batch& batch, ForceSums& sums) = 0;
  virtual void take_changes(const Batch& batch, const LossAdjoint& adjoint) = 0;
  /// Writes the tangent of an atom's columns; up to a register of zeros is written after them.
  virtual void change(const Batch& batch, int atom, T* d_dot) = 0;
  /// Stores the adjoints of value() and of change().
  virtual void take_adjoints(int atom, const T* d_bar, const T* d_dot_bar) = 0;
  /// Adds the gradient of the weights of one network, after the adjoints of all atoms are set.
  virtual void backward(const Batch& batch, const NetworkWeights<T>& net, int index) = 0;
};

/// The descriptor of `shape`, which is no hybrid and must outlive it; see ModelPass for `interpolation`.
template <class T>
std::unique_ptr<TrainedDescriptor<T>> make_pair_descriptor(const DeepPotentialModel& shape, double interpolation);
template <class T>
std::unique_ptr<TrainedDescriptor<T>> make_angle_descriptor(const DeepPotentialModel& shape, double interpolation);
/// se_atten without attention layers or se_e2_a with type embedding, and se_atten with them. Networks are the species'
/// embedding, the embedding network, and those of attention.
template <class T>
std::unique_ptr<TrainedDescriptor<T>> make_species_descriptor(const DeepPotentialModel& shape, double interpolation);
template <class T>
std::unique_ptr<TrainedDescriptor<T>> make_attention_descriptor(const DeepPotentialModel& shape);

}  // namespace cambium::deepmd
