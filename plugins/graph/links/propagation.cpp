#include "plugins/graph/links/propagation.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::graph {

template <class T>
sparse::Csr<T> scaled_links(const sparse::Csr<float>& links) {
  auto out = sparse::converted<T>(links);
  std::vector<double> of_item(links.columns, 0.0);
  for (const auto item : links.column) of_item[item] += 1.0;
  for (std::int64_t user = 0; user < links.rows; ++user)
    for (auto e = links.start[user]; e < links.start[static_cast<std::size_t>(user) + 1]; ++e) {
      const auto k = static_cast<std::size_t>(e);
      out.value[k] =
          static_cast<T>(1.0 / std::sqrt(static_cast<double>(links.length(user)) * of_item[links.column[k]]));
    }
  return out;
}

template <class T>
sparse::Csr<T> scaled_links_of_all(const LinkGraph& graph) {
  auto up = scaled_links<T>(graph.training);
  if (!graph.bipartite) return up;
  const auto down = sparse::transposed(up);
  sparse::Csr<T> out;
  out.rows = out.columns = graph.nodes();
  out.start = up.start;
  for (std::int64_t item = 0; item < graph.items; ++item)
    out.start.push_back(up.entries() + down.start[static_cast<std::size_t>(item) + 1]);
  for (const auto item : up.column) out.column.push_back(item + static_cast<std::int32_t>(graph.users));
  out.column.insert(out.column.end(), down.column.begin(), down.column.end());
  out.value = std::move(up.value);
  out.value.insert(out.value.end(), down.value.begin(), down.value.end());
  return out;
}

template <class T>
void Propagation<T>::apply(const T* in, T* out, std::int64_t width) {
  const auto n = matrix_.rows;
  const auto size = static_cast<std::size_t>(n * width);
  now_.resize(size);
  next_.resize(size);
  std::copy_n(in, size, out);
  for (std::int64_t layer = 0; layer < layers_; ++layer) {
    sparse::multiply(matrix_, {layer == 0 ? in : now_.data(), n, width, width}, {next_.data(), n, width, width});
    std::swap(now_, next_);
    for (std::size_t k = 0; k < size; ++k) out[k] += now_[k];
  }
  const T share = T(1) / static_cast<T>(layers_ + 1);
  for (std::size_t k = 0; k < size; ++k) out[k] *= share;
}

template sparse::Csr<float> scaled_links<float>(const sparse::Csr<float>&);
template sparse::Csr<double> scaled_links<double>(const sparse::Csr<float>&);
template sparse::Csr<float> scaled_links_of_all<float>(const LinkGraph&);
template sparse::Csr<double> scaled_links_of_all<double>(const LinkGraph&);
template class Propagation<float>;
template class Propagation<double>;

}  // namespace cambium::graph
