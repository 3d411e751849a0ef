#include "plugins/deepmd/training/shared_embedding.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::deepmd {

template <class T>
SharedEmbedding<T>::SharedEmbedding(const DeepPotentialModel& shape) : shape_(shape) {}

template <class T>
template <class F>
void SharedEmbedding<T>::each_species(int pair, F&& f) const {
  const int nt = shape_.ntypes();
  f(1, shape_.type_one_side ? pair : pair / nt);
  if (!shape_.type_one_side) f(1 + width(), pair % nt);
}

template <class T>
void SharedEmbedding<T>::take(const NetworkWeights<T>& types, const NetworkWeights<T>& net) {
  const auto nt = shape_.type_map.size();
  Rows rows(nt, std::vector<double>(nt, 0.0));
  for (std::size_t t = 0; t < nt; ++t) rows[t][t] = 1.0;
  values_.assign(1, rows);
  active_.clear();
  for (const LayerWeights<T>& layer : types) {
    active_.emplace_back(nt);
    for (std::size_t t = 0; t < nt; ++t) {
      const std::vector<double>& x = values_.back()[t];
      std::vector<double> y(layer.b.begin(), layer.b.begin() + layer.out);
      for (std::size_t k = 0; k < x.size(); ++k)
        for (std::size_t c = 0; c < y.size(); ++c) y[c] += x[k] * static_cast<double>(layer.w[k * y.size() + c]);
      if (!layer.linear)
        for (double& value : y) value = std::tanh(value);
      active_.back()[t] = y;
      for (std::size_t c = 0; c < y.size(); ++c)
        y[c] = y[c] * static_cast<double>(layer.idt[c]) + (layer.copies > 0 ? x[c % x.size()] : 0.0);
      rows[t] = std::move(y);
    }
    values_.push_back(rows);
  }
  bar_.assign(nt, std::vector<double>(static_cast<std::size_t>(width()), 0.0));
  networks_.assign(static_cast<std::size_t>(pairs()), net);
  bias_bar_.assign(networks_.size(), std::vector<T>(net.front().b.size(), T(0)));
  for (int pair = 0; pair < pairs(); ++pair) {
    LayerWeights<T>& first = networks_[static_cast<std::size_t>(pair)].front();
    std::vector<double> bias(first.b.begin(), first.b.begin() + first.out);
    each_species(pair, [&](int row, int type) {
      for (int k = 0; k < width(); ++k)
        for (int c = 0; c < first.out; ++c)
          bias[static_cast<std::size_t>(c)] +=
              of(type)[static_cast<std::size_t>(k)] * static_cast<double>(first.w[(row + k) * first.out + c]);
    });
    std::transform(bias.begin(), bias.end(), first.b.begin(), [](double v) { return static_cast<T>(v); });
    first.in = 1;
    first.first_row = detail::padded_copy(first.w, first.out, T(0));
  }
}

template <class T>
NetworkWeights<T> SharedEmbedding<T>::with_gradient(int pair, const NetworkWeights<T>& net) {
  const auto k = static_cast<std::size_t>(pair);
  NetworkWeights<T> out = net;
  LayerWeights<T>& first = out.front();
  first.in = 1;
  first.b = networks_[k].front().b;
  first.first_row = networks_[k].front().first_row;
  first.db = bias_bar_[k].data();
  return out;
}

template <class T>
void SharedEmbedding<T>::add_adjoint(int type, const T* bar) {
  for (std::size_t k = 0; k < bar_[type].size(); ++k) bar_[type][k] += static_cast<double>(bar[k]);
}

template <class T>
void SharedEmbedding<T>::backward(const NetworkWeights<T>& net) {
  const LayerWeights<T>& first = net.front();
  for (int pair = 0; pair < pairs(); ++pair) {
    const std::vector<T>& bias = bias_bar_[static_cast<std::size_t>(pair)];
    for (int c = 0; c < first.out; ++c) first.db[c] += bias[static_cast<std::size_t>(c)];
    each_species(pair, [&](int row, int type) {
      for (int k = 0; k < width(); ++k) {
        const T* w = first.w + (row + k) * first.out;
        T* dw = first.dw + (row + k) * first.out;
        const double value = of(type)[static_cast<std::size_t>(k)];
        double sum = 0.0;
        for (int c = 0; c < first.out; ++c) {
          const double of_bias = static_cast<double>(bias[static_cast<std::size_t>(c)]);
          dw[c] += static_cast<T>(value * of_bias);
          sum += static_cast<double>(w[c]) * of_bias;
        }
        bar_[static_cast<std::size_t>(type)][static_cast<std::size_t>(k)] += sum;
      }
    });
  }
}

template <class T>
void SharedEmbedding<T>::backward_types(const NetworkWeights<T>& types) const {
  Rows bar = bar_;
  for (std::size_t l = types.size(); l-- > 0;) {
    const LayerWeights<T>& layer = types[l];
    for (std::size_t t = 0; t < bar.size(); ++t) {
      const std::vector<double>&x = values_[l][t], &y = active_[l][t];
      std::vector<double> below(x.size(), 0.0);
      for (std::size_t c = 0; c < y.size(); ++c) {
        const double z = bar[t][c] * static_cast<double>(layer.idt[c]) * (layer.linear ? 1.0 : 1.0 - y[c] * y[c]);
        if (layer.didt) layer.didt[c] += static_cast<T>(bar[t][c] * y[c]);
        if (layer.db) layer.db[c] += static_cast<T>(z);
        if (layer.copies > 0) below[c % x.size()] += bar[t][c];
        for (std::size_t k = 0; k < x.size(); ++k) {
          layer.dw[k * y.size() + c] += static_cast<T>(x[k] * z);
          below[k] += static_cast<double>(layer.w[k * y.size() + c]) * z;
        }
      }
      bar[t] = std::move(below);
    }
  }
}

template class SharedEmbedding<double>;
template class SharedEmbedding<float>;

}  // namespace cambium::deepmd
