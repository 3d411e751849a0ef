#pragma once
#include <cstddef>
#include <vector>

#include "core/particles/particles.hpp"

namespace cambium {

/// Every per-atom array of the owned rows, on the host, as columns of plain bytes: the data that move with an atom. On
/// devices the arrays are copied here on construction and back by store().
class AtomRows {
 public:
  AtomRows(Particles& particles, const std::vector<View<double**>*>& carried);

  std::size_t row_bytes() const { return row_bytes_; }
  void pack(int row, std::byte* to) const;
  void unpack(int row, const std::byte* from);
  /// Row i becomes what was row order[i].
  void permute(const std::vector<int>& order);
  /// Makes the changes visible to kernels.
  void store(Particles& particles, const std::vector<View<double**>*>& carried) const;

  const HostView<double* [4]>& x() const { return x_; } const HostView<std::int64_t*>& tag() const { return tag_; }

 private:
  struct Column {
    std::byte* data;
    std::size_t bytes;
  };
  /// The host's copy of an array, entered into the columns.
  template <class V>
  typename V::HostMirror enter(const V& array);

  std::vector<Column> columns_;
  std::size_t row_bytes_ = 0;
  std::vector<std::byte> scratch_;
  HostView<double* [4]> x_;
  HostView<double*[3]> v_, f_;
  HostView<std::int64_t*> tag_;
  HostView<int* [3]> image_;
  HostView<std::uint32_t*> group_;
  std::vector<HostView<double**>> carried_;
};

}  // namespace cambium
