#pragma once
#include "plugins/deepmd/training/layer_weights.hpp"

namespace cambium::deepmd {

/// An embedding network's weights in double, with its own gradient.
class WidenedNetwork {
 public:
  template <class T>
  void assign(const NetworkWeights<T>& net) {
    store_.resize(net.size());
    layers_.resize(net.size());
    for (std::size_t l = 0; l < net.size(); ++l) {
      const LayerWeights<T>& from = net[l];
      Store& own = store_[l];
      const auto columns = static_cast<std::size_t>(from.rank > 0 ? from.rank : from.out);
      const std::size_t size = static_cast<std::size_t>(from.in) * columns;
      own.w.assign(from.w, from.w + size);
      own.dw.assign(size, 0.0);
      const std::size_t leave = from.rank > 0 ? columns * static_cast<std::size_t>(from.out) : 0;
      own.leave.assign(from.leave, from.leave + leave);
      own.dleave.assign(leave, 0.0);
      own.db.assign(from.out, 0.0);
      LayerWeights<double>& to = layers_[l];
      to.in = from.in;
      to.out = from.out;
      to.copies = from.copies;
      to.rank = from.rank;
      to.w = own.w.data();
      to.dw = own.dw.data();
      to.leave = own.leave.data();
      to.dleave = own.dleave.data();
      to.db = own.db.data();
      const std::vector<double> b(from.b.begin(), from.b.begin() + from.out);
      to.b = detail::padded_copy(b.data(), from.out, 0.0);
      if (from.in == 1) to.first_row = detail::padded_copy(to.w, from.out, 0.0);
    }
  }
  const NetworkWeights<double>& layers() const { return layers_; }

  /// Adds the gradient to that of the network that was copied.
  template <class T>
  void add_gradient_to(const NetworkWeights<T>& net) const {
    for (std::size_t l = 0; l < net.size(); ++l) {
      for (std::size_t k = 0; k < store_[l].dw.size(); ++k) net[l].dw[k] += static_cast<T>(store_[l].dw[k]);
      for (std::size_t k = 0; k < store_[l].dleave.size(); ++k) net[l].dleave[k] += static_cast<T>(store_[l].dleave[k]);
      for (std::size_t k = 0; k < store_[l].db.size(); ++k) net[l].db[k] += static_cast<T>(store_[l].db[k]);
    }
  }

 private:
  struct Store {
    std::vector<double> w, dw, leave, dleave, db;
  };
  std::vector<Store> store_;
  NetworkWeights<double> layers_;
};

}  // namespace cambium::deepmd
