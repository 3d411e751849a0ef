#include "plugins/md/domain/domain.hpp"

#include "core/base/error.hpp"

namespace cambium::md {
namespace {

/// to[k] = rows[copies(first + k)], positions moved by the copy's cell translation.
template <int W, class T>
void copy_rows(const T* rows, const View<int* [4]>& copies, int first, int count, T* to) {
  Kokkos::parallel_for(
      "domain: copy rows", Range(0, count), KOKKOS_LAMBDA(int k) {
        const T* from = rows + static_cast<std::size_t>(copies(first + k, 0)) * W;
        for (int c = 0; c < W; ++c) to[static_cast<std::size_t>(k) * W + c] = from[c];
      });
}

void copy_positions(const double* rows, const View<int* [4]>& copies, int first, int count, double* to,
                    const Box& box) {
  Kokkos::parallel_for(
      "domain: copy positions", Range(0, count), KOKKOS_LAMBDA(int k) {
        const double* from = rows + static_cast<std::size_t>(copies(first + k, 0)) * 4;
        const double na = copies(first + k, 1), nb = copies(first + k, 2), nc = copies(first + k, 3);
        double* x = to + static_cast<std::size_t>(k) * 4;
        x[0] = from[0] + (na * box.h[0][0] + nb * box.h[1][0] + nc * box.h[2][0]);
        x[1] = from[1] + (nb * box.h[1][1] + nc * box.h[2][1]);
        x[2] = from[2] + nc * box.h[2][2];
        x[3] = from[3];
      });
}

}  // namespace

Domain::Domain(const Comm& comm, const Box& box, std::optional<std::array<int, 3>> grid, double range)
    : comm_(comm), division_{grid ? BrickGrid::given(*grid, comm.size()) : BrickGrid::choose(comm.size(), box, range),
                             {}},
      brick_(division_.grid.brick_of(comm.rank())), peers_(comm) {
  division_.require_room(box, range);
}

void Domain::cut(std::optional<CutTree> cuts) {
  if (cuts && cuts->ranks() != comm_.size()) throw InternalError("planes for another number of ranks");
  division_.cuts = std::move(cuts);
  peers_known_ = false;
}

template <int W, class T>
void Domain::forward_rows(T* rows, T* buffer, const Box* box) {
  auto copy = [&](int first, int count, T* to) {
    if constexpr (W == 4)
      copy_positions(rows, copies_, first, count, to, *box);
    else
      copy_rows<W>(rows, copies_, first, count, to);
  };
  T* ghosts = rows + static_cast<std::size_t>(nlocal_) * W;
  if (peers_.peers().empty()) {
    copy(0, own_copies_, ghosts);
    return;
  }
  copy(own_copies_, peers_.near_rows(), buffer);
  peers_.begin_out(buffer, ghosts + static_cast<std::size_t>(own_copies_) * W, W);
  copy(0, own_copies_, ghosts);
  peers_.finish();
}

template void Domain::forward_rows<4>(double*, double*, const Box*);
template void Domain::forward_rows<1>(std::int64_t*, std::int64_t*, const Box*);

void Domain::require_rows(std::size_t rows) const {
  if (rows < static_cast<std::size_t>(nlocal_ + own_copies_ + peers_.far_rows()))
    throw InternalError("a per-atom array is shorter than owned and ghost rows together");
}

void Domain::forward_positions(Particles& p) { forward_rows<4>(p.x.data(), buffer_.data(), &p.box); }

void Domain::forward(View<double*> per_atom) {
  require_rows(per_atom.extent(0));
  forward_rows<1>(per_atom.data(), buffer_.data(), nullptr);
}

}  // namespace cambium::md
