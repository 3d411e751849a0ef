#include "plugins/graph/layers/spread.hpp"

#include "core/sparse/product.hpp"
#include "plugins/graph/layers/divided_spread.hpp"

namespace cambium::graph {

template <class T>
Spread<T>::Spread(Csr<T> a, std::vector<std::int32_t> nodes)
    : a_(std::move(a)), at_(sparse::transposed(a_)), nodes_(std::move(nodes)), inputs_(a_.columns), outputs_(a_.rows) {}

template <class T>
void Spread<T>::multiply(Rows<const T> h, Rows<T> out) {
  sparse::multiply(a_, gather_inputs(h), out);
}

template <class T>
void Spread<T>::multiply_transposed(Rows<const T> g, Rows<T> out) {
  sparse::multiply(at_, gather_outputs(g), out);
}

template <class T>
std::unique_ptr<Spread<T>> make_spread(const Csr<double>& own, const sparse::LayoutKeys& keys, const Comm& comm) {
  sparse::require_ranks(keys, comm.size());
  if (comm.size() == 1) return std::make_unique<Spread<T>>(sparse::converted<T>(own), std::vector<std::int32_t>{});
  if (keys.scheme == sparse::Scheme::rows || keys.scheme == sparse::Scheme::needed_rows)
    return std::make_unique<RowSpread<T>>(own, keys, comm);
  return std::make_unique<ProductSpread<T>>(own, keys, comm);
}

template class Spread<float>;
template class Spread<double>;
template std::unique_ptr<Spread<float>> make_spread(const Csr<double>&, const sparse::LayoutKeys&, const Comm&);
template std::unique_ptr<Spread<double>> make_spread(const Csr<double>&, const sparse::LayoutKeys&, const Comm&);

}  // namespace cambium::graph
