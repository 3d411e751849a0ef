#pragma once
#include <map>
#include <string>
#include <vector>

#include "plugins/graph/tiles/hybrid.hpp"

namespace cambium::graph {

/// Products of one matrix with dense ones of several widths. The faster form for each width is chosen at its first
/// product. T: float, double.
template <class T>
class TiledProducts {
 public:
  explicit TiledProducts(sparse::TileUse use) : use_(use) {}
  /// out = A h, up to rounding; `a` must be the same in every call.
  void multiply(const sparse::Csr<T>& a, sparse::Rows<const T> h, sparse::Rows<T> out);
  /// "width 16: dense tiles 61 %, ...", one string for each width.
  std::vector<std::string> text() const;
  std::int64_t bytes() const;

 private:
  sparse::TileUse use_;
  std::map<std::int64_t, sparse::HybridMatrix<T>> forms_;
};

}  // namespace cambium::graph
