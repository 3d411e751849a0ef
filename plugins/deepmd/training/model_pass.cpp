#include "plugins/deepmd/training/model_pass.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/deepmd/training/direct_sums.hpp"
#include "plugins/deepmd/training/interpolated_sums.hpp"

namespace cambium::deepmd {

template <class T>
ModelPass<T>::ModelPass(const DeepPotentialModel& shape, double interpolation)
    : shape_(shape), cutoff_(CutOff::make(shape.rcut_smth, shape.rcut, shape.env_protection, false)) {
  kernels_.components = shape.components();
  kernels_.channels = shape.width();
  kernels_.axis = shape.axis_neuron;
  for (auto* rows : {&a_, &p_, &a_dot_, &a_bar_}) *rows = Rows<T>(shape.width(), native_width<T>);
  kernels_.stride = a_.stride();
  padding_ = Rows<T>(shape.width(), native_width<T>);
  if (interpolation > 0.0)
    sums_ = std::make_unique<InterpolatedSums<T>>(shape, kernels_, interpolation);
  else
    sums_ = std::make_unique<DirectSums<T>>(shape, kernels_);
  for (const Network& net : shape.fitting) {
    std::vector<int> widths = widths_of(net);
    widths.pop_back();
    fitting_.emplace_back(shape.descriptor_size(), widths);
  }
  inverse_slots_ = 1.0 / shape.neighbours();
}

template <class T>
void ModelPass<T>::Adjoint::reset(const Batch& batch) {
  energy.assign(batch.frames(), 0.0);
  virial.assign(batch.frames(), {});
  force.assign(3 * static_cast<std::size_t>(batch.atoms()), 0.0);
}

template <class T>
double ModelPass<T>::empty_slots(const Batch& batch, int neighbour, int centre, int atom) const {
  const auto pair = static_cast<std::size_t>(centre * shape_.ntypes() + neighbour);
  const double row = kernels_.components == 4 ? -shape_.mean[pair][0] / shape_.deviation[pair][0] : 1.0;
  return row * (shape_.sel[neighbour] - batch.row_count(neighbour, atom));
}

template <class T>
void ModelPass<T>::environment(const Batch& batch) {
  const auto n = static_cast<std::size_t>(batch.rows());
  rows_.grow(n);
  if (geometry_.size() < 3 * n) geometry_.resize(3 * (n + n / 8));
  const bool full = kernels_.components == 4;
  for (int tj = 0; tj < batch.ntypes(); ++tj)
    for (int ti = 0; ti < batch.ntypes(); ++ti) {
      const auto pair = static_cast<std::size_t>(ti * batch.ntypes() + tj);
      const double mean = shape_.mean[pair][0], radial = 1.0 / shape_.deviation[pair][0],
                   angular = 1.0 / shape_.deviation[pair][1];
      const int last = batch.block_end(tj, ti) - 1;
      for (int r = batch.block_begin(tj, ti); r < last; ++r) {
        const double* d = batch.d(r);
        const double distance = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        double w, dw;
        cutoff_.weight(distance, w, dw);
        const double inverse = 1.0 / (distance + cutoff_.protection), s = w * inverse, t = s * inverse;
        double* g = &geometry_[3 * static_cast<std::size_t>(r)];
        g[0] = (dw - s) * inverse / distance;
        g[1] = t;
        g[2] = (dw - 2.0 * s) * inverse * inverse / distance;
        const double x = (s - mean) * radial;
        T* c = &rows_.c[4 * static_cast<std::size_t>(r)];
        rows_.x[r] = static_cast<T>(x);
        c[0] = full ? static_cast<T>(x) : T(1);
        for (int k = 0; k < 3; ++k) c[k + 1] = static_cast<T>(t * d[k] * angular);
      }
      rows_.x[last] = static_cast<T>(-mean * radial);
    }
}

template <class T>
void ModelPass<T>::embed(const Batch& batch, const AllWeights<T>& weights) {
  environment(batch);
  energy_.assign(batch.frames(), 0.0);
  sums_->evaluate(batch, weights, rows_);
  for (auto* rows : {&a_, &p_, &a_dot_, &a_bar_})
    rows->reserve(static_cast<std::int64_t>(batch.atoms()) * kernels_.components);
  const int length = kernels_.components * kernels_.stride, blocks = batch.ntypes() * batch.ntypes();
  padding_.reserve(blocks);
  for (int k = 0; k < blocks; ++k)
    sums_->padding_value(batch.block_end(k / batch.ntypes(), k % batch.ntypes()) - 1, padding_.row(k));
  for (int ti = 0; ti < batch.ntypes(); ++ti)
    for (int i = batch.type_begin(ti); i < batch.type_begin(ti + 1); ++i) {
      T* sum = a(i);
      std::fill_n(sum, length, T(0));
      for (int tj = 0; tj < batch.ntypes(); ++tj) {
        sums_->add_values(batch, tj, i, rows_, sum);
        const T empty = static_cast<T>(empty_slots(batch, tj, ti, i));
        const T* value = padding_.row(tj * batch.ntypes() + ti);
        for (int m = 0; m < kernels_.channels; ++m) sum[m] += empty * value[m];
      }
      for (int k = 0; k < length; ++k) sum[k] *= static_cast<T>(inverse_slots_);
    }
}

template <class T>
void ModelPass<T>::fit(const Batch& batch, const NetworkWeights<T>& net, int type) {
  const auto t = static_cast<std::size_t>(type);
  const int first = batch.type_begin(type), n = batch.type_begin(type + 1) - first;
  FittingPass<T>& pass = fitting_[t];
  pass.reserve(n);
  for (int i = 0; i < n; ++i) kernels_.descriptor(a(first + i), pass.input(i));
  std::vector<double> energies(n);
  pass.forward(net, n, energies.data());
  pass.gradient(net, n);
  const double bias = shape_.fitting_bias[t] + shape_.output_bias[t];
  for (int i = 0; i < n; ++i) {
    energy_[batch.frame_of(first + i)] += energies[i] + bias;
    kernels_.descriptor_adjoint(a(first + i), pass.input_gradient(i), nullptr, nullptr, static_cast<T>(inverse_slots_),
                                p(first + i));
  }
}

template <class T>
void ModelPass<T>::forces(const Batch& batch) {
  force_.assign(3 * static_cast<std::size_t>(batch.atoms()), 0.0);
  virial_.assign(batch.frames(), {});
  const bool full = kernels_.components == 4;
  for (int ti = 0; ti < batch.ntypes(); ++ti)
    for (int tj = 0; tj < batch.ntypes(); ++tj) {
      const auto& deviation = shape_.deviation[ti * batch.ntypes() + tj];
      const double radial = 1.0 / deviation[0], angular = 1.0 / deviation[1];
      for (int i = batch.type_begin(ti); i < batch.type_begin(ti + 1); ++i) {
        const int first = batch.row_begin(tj, i), n = batch.row_count(tj, i);
        sums_->row_gradients(batch, tj, i, p(i), rows_);
        std::array<double, 9>& w = virial_[batch.frame_of(i)];
        double* fi = &force_[3 * static_cast<std::size_t>(i)];
        for (int r = first; r < first + n; ++r) {
          const T* bar = &rows_.c_bar[4 * static_cast<std::size_t>(r)];
          const double *d = batch.d(r), *g = &geometry_[3 * static_cast<std::size_t>(r)];
          const double b0 = (static_cast<double>(rows_.x_bar[r]) + (full ? bar[0] : T(0))) * radial;
          double b[3] = {0, 0, 0};
          for (int k = 0; k < 3 && full; ++k) b[k] = bar[k + 1] * angular;
          const double along = b0 * g[0] + (b[0] * d[0] + b[1] * d[1] + b[2] * d[2]) * g[2];
          double* fj = &force_[3 * static_cast<std::size_t>(batch.neighbour(r))];
          for (int k = 0; k < 3; ++k) {
            const double gradient = along * d[k] + g[1] * b[k];
            fi[k] += gradient;
            fj[k] -= gradient;
            for (std::size_t q = 0; q < 3; ++q) w[3 * static_cast<std::size_t>(k) + q] -= gradient * d[q];
          }
        }
      }
    }
}

template <class T>
void ModelPass<T>::evaluate(const Batch& batch, const AllWeights<T>& weights) {
  embed(batch, weights);
  for (int t = 0; t < batch.ntypes(); ++t) fit(batch, weights.fitting[t], t);
  forces(batch);
}

/// Changes of the environment rows when atom i moves by -force_bar_i and space is strained by -virial_bar.
template <class T>
void ModelPass<T>::changes(const Batch& batch, const Adjoint& adjoint) {
  for (int tj = 0; tj < batch.ntypes(); ++tj)
    for (int ti = 0; ti < batch.ntypes(); ++ti) {
      const auto& deviation = shape_.deviation[ti * batch.ntypes() + tj];
      const double radial = 1.0 / deviation[0], angular = 1.0 / deviation[1];
      for (int r = batch.block_begin(tj, ti); r < batch.block_end(tj, ti) - 1; ++r) {
        const double *d = batch.d(r), *g = &geometry_[3 * static_cast<std::size_t>(r)];
        const double *fi = &adjoint.force[3 * static_cast<std::size_t>(batch.centre(r))],
                     *fj = &adjoint.force[3 * static_cast<std::size_t>(batch.neighbour(r))];
        const auto& w = adjoint.virial[batch.frame_of(batch.centre(r))];
        double move[3], along = 0.0;
        for (std::size_t k = 0; k < 3; ++k) {
          move[k] = fi[k] - fj[k] - (w[3 * k] * d[0] + w[3 * k + 1] * d[1] + w[3 * k + 2] * d[2]);
          along += move[k] * d[k];
        }
        T* c = &rows_.c_dot[4 * static_cast<std::size_t>(r)];
        const double x = g[0] * along * radial;
        rows_.x_dot[r] = static_cast<T>(x);
        c[0] = kernels_.components == 4 ? static_cast<T>(x) : T(0);
        for (std::size_t k = 0; k < 3; ++k) c[k + 1] = static_cast<T>((g[2] * along * d[k] + g[1] * move[k]) * angular);
      }
    }
}

template <class T>
void ModelPass<T>::backward_fitting(const Batch& batch, const NetworkWeights<T>& net, const Adjoint& adjoint,
                                    int type) {
  const int first = batch.type_begin(type), n = batch.type_begin(type + 1) - first;
  const int length = kernels_.components * kernels_.stride;
  FittingPass<T>& pass = fitting_[type];
  std::vector<double> bar(n), energy_dot(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    T* change = a_dot(first + i);
    std::fill_n(change, length, T(0));
    for (int tj = 0; tj < batch.ntypes(); ++tj) sums_->add_changes(batch, tj, first + i, rows_, change);
    for (int k = 0; k < length; ++k) change[k] *= static_cast<T>(inverse_slots_);
    kernels_.descriptor_dot(a(first + i), change, pass.input_dot(i));
    bar[i] = adjoint.energy[batch.frame_of(first + i)];
  }
  pass.tangent(net, n, energy_dot.data());
  pass.backward(net, n, bar.data());
  for (int i = 0; i < n; ++i)
    kernels_.descriptor_adjoint(a(first + i), pass.input_bar(i), a_dot(first + i), pass.input_gradient(i),
                                static_cast<T>(inverse_slots_), a_bar(first + i));
}

/// A padding row takes part in every atom of its block's centre type, as often as that atom has empty slots.
template <class T>
void ModelPass<T>::padding_adjoint(const Batch& batch, int tj, int ti) {
  std::vector<double> sum(kernels_.channels, 0.0);
  for (int i = batch.type_begin(ti); i < batch.type_begin(ti + 1); ++i) {
    const double empty = empty_slots(batch, tj, ti, i);
    for (int m = 0; m < kernels_.channels; ++m) sum[m] += empty * a_bar(i)[m];
  }
  std::transform(sum.begin(), sum.end(), padding_.row(tj * batch.ntypes() + ti),
                 [](double v) { return static_cast<T>(v); });
}

template <class T>
void ModelPass<T>::backward_embedding(const Batch& batch, const NetworkWeights<T>& net, int index) {
  for (int tj = 0; tj < batch.ntypes(); ++tj)
    for (int ti = 0; ti < batch.ntypes(); ++ti) {
      if (shape_.embedding_index(ti, tj) != index) continue;
      padding_adjoint(batch, tj, ti);
      sums_->backward(batch, tj, ti, net, rows_, {&a_bar_, &p_, &padding_});
    }
  sums_->finish(index, net);
}

template <class T>
void ModelPass<T>::backward(const Batch& batch, const AllWeights<T>& weights, const Adjoint& adjoint) {
  changes(batch, adjoint);
  for (int t = batch.ntypes(); t-- > 0;) backward_fitting(batch, weights.fitting[t], adjoint, t);
  for (std::size_t k = weights.embedding.size(); k-- > 0;)
    backward_embedding(batch, weights.embedding[k], static_cast<int>(k));
}

template class ModelPass<double>;
template class ModelPass<float>;

}  // namespace cambium::deepmd
