#pragma once
#include <cstddef>
#include <string>

namespace cambium::deepmd {

/// Returns a view of at least n rows, with a quarter more if it had to be reallocated; its contents are lost then.
template <class V>
void grow(V& view, const std::string& label, std::size_t n) {
  if (view.extent(0) >= n) return;
  view = V();
  view = V(label, n + n / 4);
}

}  // namespace cambium::deepmd
