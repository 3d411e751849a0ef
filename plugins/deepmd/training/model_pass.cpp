#include "plugins/deepmd/training/model_pass.hpp"

#include <algorithm>

namespace cambium::deepmd {

void LossAdjoint::reset(const Batch& batch) {
  energy.assign(batch.frames(), 0.0);
  virial.assign(batch.frames(), {});
  force.assign(3 * static_cast<std::size_t>(batch.atoms()), 0.0);
}

template <class T>
ModelPass<T>::ModelPass(const DeepPotentialModel& shape, double interpolation) : shape_(shape) {
  for (const DeepPotentialModel& part : shape.descriptors()) {
    if (part.descriptor == DeepPotentialModel::Descriptor::se_e3)
      parts_.push_back(make_angle_descriptor<T>(part, interpolation));
    else if (part.type_embedding.layers.empty())
      parts_.push_back(make_pair_descriptor<T>(part, interpolation));
    else if (part.attention.layers() == 0)
      parts_.push_back(make_species_descriptor<T>(part, interpolation));
    else
      parts_.push_back(make_attention_descriptor<T>(part));
  }
  for (int t = 0; t < shape.ntypes(); ++t) {
    std::vector<int> widths = widths_of(shape.fitting_of(t));
    widths.pop_back();
    fitting_.emplace_back(shape.descriptor_size() + shape.fparam.size + shape.aparam.size, widths);
  }
}

template <class T>
void ModelPass<T>::embed(const Batch& batch, const AllWeights<T>& weights) {
  energy_.assign(batch.frames(), 0.0);
  std::size_t first = 0;
  for (const auto& part : parts_) {
    const auto n = static_cast<std::size_t>(part->networks());
    part->embed(batch, std::span(weights.embedding).subspan(first, n));
    first += n;
  }
}

/// Normalised frame and atomic parameters, after the descriptor.
template <class T>
void ModelPass<T>::write_parameters(const Batch& batch, int atom, T* columns) const {
  const TrainingFrame& frame = batch.frame(batch.frame_of(atom));
  const ParameterInput &of_frame = shape_.fparam, &of_atom = shape_.aparam;
  for (int k = 0; k < of_frame.size; ++k)
    *columns++ = static_cast<T>((frame.fparam[k] - of_frame.mean[k]) * of_frame.inverse_deviation[k]);
  for (int k = 0; k < of_atom.size; ++k)
    *columns++ = static_cast<T>((frame.aparam[batch.number_of(atom) * of_atom.size + k] - of_atom.mean[k]) *
                                of_atom.inverse_deviation[k]);
}

template <class T>
void ModelPass<T>::fit(const Batch& batch, const NetworkWeights<T>& net, int type) {
  const auto t = static_cast<std::size_t>(type);
  const int first = batch.type_begin(type), n = batch.type_begin(type + 1) - first;
  FittingPass<T>& pass = fitting_[t];
  pass.reserve(n);
  for (int i = 0; i < n; ++i) {  // in the order of columns: padding of a part is overwritten by the next
    each_part([&](TrainedDescriptor<T>& part, int column) { part.value(first + i, pass.input(i) + column); });
    write_parameters(batch, first + i, pass.input(i) + shape_.descriptor_size());
  }
  std::vector<double> energies(n);
  pass.forward(net, n, energies.data());
  pass.gradient(net, n);
  const double bias = shape_.fitting_bias[t] + shape_.output_bias[t];
  for (int i = 0; i < n; ++i) {
    energy_[batch.frame_of(first + i)] += energies[i] + bias;
    each_part([&](TrainedDescriptor<T>& part, int column) {
      part.take_gradient(first + i, pass.input_gradient(i) + column);
    });
  }
}

template <class T>
void ModelPass<T>::forces(const Batch& batch) {
  sums_.force.assign(3 * static_cast<std::size_t>(batch.atoms()), 0.0);
  sums_.virial.assign(batch.frames(), {});
  for (const auto& part : parts_) part->add_forces(batch, sums_);
}

template <class T>
void ModelPass<T>::evaluate(const Batch& batch, const AllWeights<T>& weights) {
  embed(batch, weights);
  for (int t = 0; t < batch.ntypes(); ++t) fit(batch, weights.fitting_of(t), t);
  forces(batch);
}

template <class T>
void ModelPass<T>::changes(const Batch& batch, const Adjoint& adjoint) {
  for (const auto& part : parts_) part->take_changes(batch, adjoint);
}

template <class T>
void ModelPass<T>::backward_fitting(const Batch& batch, const NetworkWeights<T>& net, const Adjoint& adjoint,
                                    int type) {
  const int first = batch.type_begin(type), n = batch.type_begin(type + 1) - first;
  FittingPass<T>& pass = fitting_[type];
  std::vector<double> bar(n), energy_dot(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    each_part(
        [&](TrainedDescriptor<T>& part, int column) { part.change(batch, first + i, pass.input_dot(i) + column); });
    std::fill_n(pass.input_dot(i) + shape_.descriptor_size(), shape_.fparam.size + shape_.aparam.size, T(0));
    bar[i] = adjoint.energy[batch.frame_of(first + i)];
  }
  pass.tangent(net, n, energy_dot.data());
  pass.backward(net, n, bar.data());
  for (int i = 0; i < n; ++i)
    each_part([&](TrainedDescriptor<T>& part, int column) {
      part.take_adjoints(first + i, pass.input_bar(i) + column, pass.input_gradient(i) + column);
    });
}

template <class T>
void ModelPass<T>::backward_embedding(const Batch& batch, const NetworkWeights<T>& net, int index) {
  for (const auto& part : parts_) {
    if (index < part->networks()) return part->backward(batch, net, index);
    index -= part->networks();
  }
}

template <class T>
void ModelPass<T>::backward(const Batch& batch, const AllWeights<T>& weights, const Adjoint& adjoint) {
  changes(batch, adjoint);
  for (int t = batch.ntypes(); t-- > 0;) backward_fitting(batch, weights.fitting_of(t), adjoint, t);
  for (std::size_t k = weights.embedding.size(); k-- > 0;)
    backward_embedding(batch, weights.embedding[k], static_cast<int>(k));
}

template class ModelPass<double>;
template class ModelPass<float>;

}  // namespace cambium::deepmd
