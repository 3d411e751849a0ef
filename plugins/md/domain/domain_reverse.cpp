#include <vector>

#include "plugins/md/domain/domain.hpp"

namespace cambium::md {
namespace {

/// Adds to each owned row the rows of its copies, in list order. Copies below `own` are ghost rows of this rank, the
/// others rows received from peers.
template <int W>
void gather_copies(double* rows, const double* returned, int nlocal, int own, const View<int*>& offset,
                   const View<int*>& copy) {
  Kokkos::parallel_for(
      "domain: reverse add", Range(0, nlocal), KOKKOS_LAMBDA(int i) {
        double* sum = rows + static_cast<std::size_t>(i) * W;
        for (int e = offset(i); e < offset(i + 1); ++e) {
          const int k = copy(e);
          const double* from = k < own ? rows + static_cast<std::size_t>(nlocal + k) * W
                                       : returned + static_cast<std::size_t>(k - own) * W;
          for (int c = 0; c < W; ++c) sum[c] += from[c];
        }
      });
}

}  // namespace

void Domain::plan_reverse() {
  const int total = own_copies_ + peers_.near_rows();
  if constexpr (!device_is_host) {
    entries_by_row(copies_, total, nlocal_, reverse_work_);
    reverse_offset_ = reverse_work_.start;
    reverse_copy_ = reverse_work_.member;
    reverse_planned_ = true;
    return;
  }
  const auto copies = Kokkos::create_mirror_view(copies_);
  Kokkos::deep_copy(copies, copies_);
  Kokkos::resize(reverse_offset_, nlocal_ + 1);
  Kokkos::resize(reverse_copy_, total);
  const auto offset = Kokkos::create_mirror_view(reverse_offset_);
  const auto copy = Kokkos::create_mirror_view(reverse_copy_);
  std::vector<int> next(nlocal_ + 1, 0);
  for (int k = 0; k < total; ++k) ++next[copies(k, 0) + 1];
  for (int i = 0; i < nlocal_; ++i) next[i + 1] += next[i];
  for (int i = 0; i <= nlocal_; ++i) offset(i) = next[i];
  for (int k = 0; k < total; ++k) copy(next[copies(k, 0)]++) = k;
  Kokkos::deep_copy(reverse_offset_, offset);
  Kokkos::deep_copy(reverse_copy_, copy);
  reverse_planned_ = true;
}

template <int W>
void Domain::reverse_rows(double* rows) {
  if (!reverse_planned_) plan_reverse();
  const std::size_t words = static_cast<std::size_t>(W) * peers_.near_rows();
  if (buffer_.extent(0) < words)
    buffer_ = View<double*>(Kokkos::ViewAllocateWithoutInitializing("domain: buffer"), words + words / 8);
  if (!peers_.peers().empty()) {
    peers_.begin_back(rows + static_cast<std::size_t>(nlocal_ + own_copies_) * W, buffer_.data(), W);
    peers_.finish();
  }
  gather_copies<W>(rows, buffer_.data(), nlocal_, own_copies_, reverse_offset_, reverse_copy_);
}

void Domain::reverse_add(View<double* [3]> per_atom) {
  require_rows(per_atom.extent(0));
  reverse_rows<3>(per_atom.data());
}

void Domain::reverse_add(View<double* [9]> per_atom) {
  require_rows(per_atom.extent(0));
  reverse_rows<9>(per_atom.data());
}

}  // namespace cambium::md
