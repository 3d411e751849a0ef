#include "plugins/graph/layers/tiled_products.hpp"

#include <fmt/format.h>

#include "plugins/graph/graphs/bytes.hpp"

namespace cambium::graph {

template <class T>
void TiledProducts<T>::multiply(const sparse::Csr<T>& a, sparse::Rows<const T> h, sparse::Rows<T> out) {
  if (h.width < 1 || a.rows < 1) return sparse::multiply(a, h, out);
  auto found = forms_.find(h.width);
  if (found == forms_.end()) found = forms_.try_emplace(h.width, a, h.width, use_).first;
  found->second.multiply(h, out);
}

template <class T>
std::vector<std::string> TiledProducts<T>::text() const {
  std::vector<std::string> out;
  for (const auto& [width, form] : forms_) out.push_back(fmt::format("width {}: {}", width, form.text()));
  return out;
}

template <class T>
std::int64_t TiledProducts<T>::bytes() const {
  std::int64_t out = 0;
  for (const auto& [width, form] : forms_) {
    const auto& split = form.split();
    out += bytes_of(form.rows()) + bytes_of(split.rows) +
           bytes_in(split.panels, split.dense, split.bitmap, split.dense_values, split.bitmap_values);
  }
  return out;
}

template class TiledProducts<float>;
template class TiledProducts<double>;

}  // namespace cambium::graph
