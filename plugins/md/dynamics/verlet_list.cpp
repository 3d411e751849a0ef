#include "plugins/md/dynamics/verlet_list.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace cambium::md {

bool VerletList::update(std::int64_t step) {
  // A listed range of (cutoff + skin) has been stretched by a factor stretch_; two atoms may approach each other.
  const double slack = 0.5 * (stretch_ * (list_.cutoff + skin_) - list_.cutoff);
  const double largest = context_.comm.size() > 1 ? context_.comm.max(largest_move2_) : largest_move2_;
  if (!(largest < 1e299)) {
    if (!(largest_move2_ < 1e299)) return false;
    throw NumericalError(fmt::format("step {}: a position on another rank is not a finite number", step), true);
  }
  if (slack > 0.0 && largest < slack * slack) {
    const auto timer = context_.timing.scope("comm");
    domain_.forward_positions(particles_);
    return true;
  }
  try {
    rebuild();
  } catch (const NumericalError& error) {  // lost atoms: the decomposition does not know the step
    throw NumericalError(fmt::format("step {}: {}", step, error.what()), error.elsewhere());
  }
  return true;
}

void VerletList::rebuild() {
  {
    const auto timer = context_.timing.scope("comm");
    domain_.migrate(particles_);
    domain_.borders(particles_, cutoff_ + skin_);
  }
  const auto timer = context_.timing.scope("neighbors");
  build_neighbors(particles_, cutoff_, skin_, list_);
  remember_positions();
  ++rebuilds_;
}

/// Free function because device compilers reject lambdas in private members.
static void copy_positions(const Particles& particles, const View<double* [3]>& to) {
  const auto x = particles.x;
  Kokkos::parallel_for(
      "md::remember_positions", Range(0, particles.nlocal), KOKKOS_LAMBDA(int i) {
        for (int k = 0; k < 3; ++k) to(i, k) = x(i, k);
      });
}

void VerletList::remember_positions() {
  if (built_at_.extent(0) < particles_.v.extent(0))
    built_at_ =
        View<double* [3]>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "md::built_at"), particles_.v.extent(0));
  copy_positions(particles_, built_at_);
  largest_move2_ = 0.0;
  stretch_ = 1.0;
}

double VerletList::pairs_per_atom() const {
  const auto pairs = context_.comm.sum(list_.pairs);
  return particles_.nglobal ? static_cast<double>(pairs) / particles_.nglobal : 0.0;
}

}  // namespace cambium::md
