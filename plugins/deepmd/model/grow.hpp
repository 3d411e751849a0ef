#pragma once
#include <cstddef>
#include <string>

namespace cambium::deepmd {

/// A view of at least n rows, with room for a quarter more where it had too few; what was in it is lost.
template <class V>
void grow(V& view, const std::string& label, std::size_t n) {
  if (view.extent(0) >= n) return;
  view = V();
  view = V(label, n + n / 4);
}

}  // namespace cambium::deepmd
