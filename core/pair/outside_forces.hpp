#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/parallel/host_threads.hpp"

namespace cambium {

/// Forces that threads of a rank contribute to atoms of each other and to ghosts, in kernels whose central atom pushes
/// its neighbours. Each thread has a range of the atoms and is the only one that adds to its rows; the last one has the
/// ghosts, too. Contributions to other rows are buffered here and added afterwards, range by range: bitwise
/// reproducible for the same number of threads, unlike atomic additions. With one thread nothing is buffered.
class OutsideForces {
 public:
  struct Given {
    int row;
    double f[3];
  };

  /// Splits atoms 0..n-1 into ranges of full blocks, one per thread worth starting; empties their lists.
  void begin(int n, int block) {
    constexpr int enough = 16;  // atoms
    n_ = n;
    block_ = block;
    given_.resize(thread_shares(n, enough));
    for (auto& list : given_) list.clear();
  }

  int parts() const { return static_cast<int>(given_.size()); }
  /// First atom of a range; n for the index past the last.
  int first(int part) const {
    const std::int64_t blocks = (n_ + block_ - 1) / block_;
    return part == parts() ? n_ : static_cast<int>(blocks * part / parts()) * block_;
  }
  std::vector<Given>& of(int part) { return given_[part]; }

  /// f: three values per row, including ghosts. Rows are split among threads, each of which reads all lists.
  void add_to(double* f) const {
    if (parts() < 2) return;
    on_threads(parts(), [&](int part) {
      for (const auto& list : given_)
        for (const Given& g : list) {
          if ((g.row >> 4) % parts() != part) continue;  // 16 rows together: no two threads write to one cache line
          for (int k = 0; k < 3; ++k) f[3 * static_cast<std::int64_t>(g.row) + k] += g.f[k];
        }
    });
  }

 private:
  int n_ = 0, block_ = 1;
  std::vector<std::vector<Given>> given_;
};

}  // namespace cambium
