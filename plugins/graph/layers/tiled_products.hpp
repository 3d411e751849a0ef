#pragma once
#include <map>
#include <string>
#include <vector>

#include "plugins/graph/tiles/hybrid.hpp"

namespace cambium::graph {

/// Products of one matrix with dense ones of several widths, each width in the form that was faster when its first
/// product was asked for. T: float, double.
template <class T>
class TiledProducts {
 public:
  explicit TiledProducts(sparse::TileUse use) : use_(use) {}
  /// out = A h, up to rounding; `a` is the same in every call.
  void multiply(const sparse::Csr<T>& a, sparse::Rows<const T> h, sparse::Rows<T> out);
  /// "width 16: dense tiles 61 %, ...", for each.
  std::vector<std::string> text() const;
  std::int64_t bytes() const;

 private:
  sparse::TileUse use_;
  std::map<std::int64_t, sparse::HybridMatrix<T>> forms_;
};

}  // namespace cambium::graph
