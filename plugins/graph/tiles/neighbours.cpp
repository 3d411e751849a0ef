#include "plugins/graph/tiles/neighbours.hpp"

#include <algorithm>
#include <iterator>

#include "core/base/error.hpp"
#include "core/numerics/bfloat16.hpp"

namespace cambium::sparse {

template <class T>
Neighbours neighbours_of(const Csr<T>& a) {
  if (a.rows != a.columns) throw InternalError("neighbours_of: the matrix is not square");
  const Csr<T> back = transposed(a);
  Neighbours out;
  out.start.reserve(a.start.size());
  out.node.reserve(a.column.size());
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto first = std::ssize(out.node);
    const auto to = a.columns_of(i), from = back.columns_of(i);
    std::set_union(to.begin(), to.end(), from.begin(), from.end(), std::back_inserter(out.node));
    out.node.erase(std::remove(out.node.begin() + first, out.node.end(), static_cast<std::int32_t>(i)), out.node.end());
    out.start.push_back(std::ssize(out.node));
  }
  return out;
}

template Neighbours neighbours_of(const Csr<double>&);
template Neighbours neighbours_of(const Csr<float>&);
template Neighbours neighbours_of(const Csr<Bf16>&);

}  // namespace cambium::sparse
