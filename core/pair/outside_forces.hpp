#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/parallel/host_threads.hpp"

namespace cambium {

/// Forces that threads of a rank give to atoms of each other and to ghosts, in kernels whose central atom pushes its
/// neighbours. Each thread has a part of the atoms, to whose rows it alone adds, the last one ghosts, too; what it
/// gives to other rows is kept here and added afterwards, part by part: the same bits in every run on as many threads,
/// which atomic additions do not give. With one thread nothing is outside.
class OutsideForces {
 public:
  struct Given {
    int row;
    double f[3];
  };

  /// Parts of atoms 0..n-1 in whole blocks, one for each thread that is worth starting; their lists are emptied.
  void begin(int n, int block) {
    constexpr int enough = 16;  // atoms
    n_ = n;
    block_ = block;
    given_.resize(thread_shares(n, enough));
    for (auto& list : given_) list.clear();
  }

  int parts() const { return static_cast<int>(given_.size()); }
  /// First atom of a part; n for the one behind the last.
  int first(int part) const {
    const std::int64_t blocks = (n_ + block_ - 1) / block_;
    return part == parts() ? n_ : static_cast<int>(blocks * part / parts()) * block_;
  }
  std::vector<Given>& of(int part) { return given_[part]; }

  /// f: three numbers for each row, of ghosts, too. Rows are shared out among threads, each of which reads all lists.
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
