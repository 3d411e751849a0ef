#include "plugins/graph/layers/spread.hpp"

#include "core/sparse/divided_product.hpp"
#include "plugins/graph/layers/divided_spread.hpp"
#include "plugins/graph/layers/tiled_products.hpp"

namespace cambium::graph {

template <class T>
Spread<T>::Spread(Csr<T> a, std::vector<std::int32_t> nodes)
    : a_(std::move(a)), at_(sparse::transposed(a_)), nodes_(std::move(nodes)), inputs_(a_.columns), outputs_(a_.rows) {}

template <class T>
Spread<T>::Spread() = default;
template <class T>
Spread<T>::~Spread() = default;

template <class T>
void Spread<T>::use_tiles(sparse::TileUse use) {
  tiles_ = std::make_unique<TiledProducts<T>>(use);
  transposed_tiles_ = std::make_unique<TiledProducts<T>>(use);
}

template <class T>
std::vector<std::string> Spread<T>::tiles() const {
  if (!tiles_) return {};
  auto out = tiles_->text();
  for (const auto& line : transposed_tiles_->text()) out.push_back("transposed, " + line);
  return out;
}

template <class T>
std::int64_t Spread<T>::bytes() const {
  return bytes_of(a_) + bytes_of(at_) + 4 * std::ssize(nodes_) +
         (tiles_ ? tiles_->bytes() + transposed_tiles_->bytes() : 0);
}

template <class T>
void Spread<T>::multiply(Rows<const T> h, Rows<T> out) {
  if (tiles_) return tiles_->multiply(a_, gather_inputs(h), out);
  sparse::multiply(a_, gather_inputs(h), out);
}

template <class T>
void Spread<T>::multiply_transposed(Rows<const T> g, Rows<T> out) {
  if (tiles_) return transposed_tiles_->multiply(at_, gather_outputs(g), out);
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
