#include "plugins/superres/convection/poisson.hpp"

#include <cmath>

#include "plugins/superres/convection/rows.hpp"

#include "core/base/constants.hpp"

namespace cambium::superres {
namespace {

int transform_length(const Grid& grid) { return grid.periodic ? grid.nx : 2 * grid.nx; }

/// Systems of a part of the modes, for kernels on strips of columns from..to-1.
struct Systems {
  int m, half, begin, width;
  View<double**> x, inverse, fill;
  View<double*> behind, ahead, height, ends, from_behind, from_ahead;
  Sweep sweep;

  /// Forward elimination along the sweep, after which x(k) = rhs(k) + ahead(k)/pivot x(k+1) + fill(k) x(0); the ends of
  /// this rank's own solution are sent to the others.
  KOKKOS_INLINE_FUNCTION void eliminate(int from, int to) const {
    Lanes reach[strip], first_re[strip], first_im[strip], last_re[strip], last_im[strip];
    for (int n = 0; n < strip; ++n) {
      reach[n] = Lanes(1.0);
      first_re[n] = first_im[n] = Lanes(0.0);
      last_re[n] = last_im[n] = Lanes(0.0);
    }
    for (int start = 0; start < m; start += fetched) {
      Lanes next_re[fetched], next_im[fetched], next_pivot[fetched], h[fetched], a[fetched], c[fetched];
      for (int r = 0; r < fetched; ++r) {
        const int k = start + r < m ? start + r : m - 1, row = sweep.row(k + 1);
        h[r] = Lanes(-height(row));
        a[r] = Lanes(behind(k));
        c[r] = Lanes(ahead(k));
        next_pivot[r] = fetch(&inverse(k, from));
        next_re[r] = fetch(&x(row, from));
        next_im[r] = fetch(&x(row, half + from));
      }
      for (int r = 0; r < fetched && start + r < m; ++r) {
        const int k = start + r, row = sweep.row(k + 1), imaginary = half;
        const double* const pivots = &inverse(k, 0);
        double* const values = &x(row, 0);
        const bool begins = k == 0, sums = sweep.behind;
        for (int j = from; j < to; j += lanes) {
          const int n = (j - from) / lanes;
          const Lanes pivot = fetched_or(next_pivot[r], pivots + j);
          double *const re = values + j, *const im = re + imaginary;
          Lanes new_re = h[r] * fetched_or(next_re[r], re), new_im = h[r] * fetched_or(next_im[r], im);
          if (!begins) {
            new_re = fma(a[r], last_re[n], new_re);
            new_im = fma(a[r], last_im[n], new_im);
          }
          new_re = new_re * pivot;
          new_im = new_im * pivot;
          new_re.store(re);
          new_im.store(im);
          last_re[n] = new_re;
          last_im[n] = new_im;
          if (!sums) continue;
          first_re[n] = fma(reach[n], new_re, first_re[n]);
          first_im[n] = fma(reach[n], new_im, first_im[n]);
          reach[n] = reach[n] * (c[r] * pivot);
        }
      }
    }
    for (int j = from; sweep.ahead && j < to; j += lanes) {
      first_re[(j - from) / lanes].store(&ends(j - begin));
      first_im[(j - from) / lanes].store(&ends(width + j - begin));
      const int last = sweep.down ? 0 : 2 * width, row = sweep.row(m);  // the lowest row of a rank is its first end
      Lanes::load(&x(row, j)).store(&ends(last + j - begin));
      Lanes::load(&x(row, half + j)).store(&ends(last + width + j - begin));
    }
  }

  /// Back substitution from the first row ahead, with the last one behind; both are stored in the ghost rows.
  KOKKOS_INLINE_FUNCTION void substitute(int from, int to) const {
    for (int j = from; sweep.ahead && j < to; j += lanes)
      for (int c = 0; c < 2; ++c) {
        if (sweep.behind) Lanes::load(&from_behind(c * width + j - begin)).store(&x(0, c * half + j));
        Lanes::load(&from_ahead(c * width + j - begin)).store(&x(sweep.row(m + 1), c * half + j));
      }
    const int start = sweep.ahead ? m : m - 1;
    Lanes last[2][strip];
    for (int j = from; j < to; j += lanes)
      for (int c = 0; c < 2; ++c) last[c][(j - from) / lanes] = Lanes::load(&x(sweep.row(start + 1), c * half + j));
    for (int top = start; top >= 1; top -= fetched) {
      Lanes next[2][fetched], pivot[fetched], filled[fetched], coupling[fetched];
      for (int r = 0; r < fetched; ++r) {
        const int k = top - r > 1 ? top - r : 1, row = sweep.row(k);
        coupling[r] = Lanes(ahead(k - 1));
        pivot[r] = fetch(&inverse(k - 1, from));
        filled[r] = sweep.behind ? fetch(&fill(k - 1, from)) : Lanes(0.0);
        for (int c = 0; c < 2; ++c) next[c][r] = fetch(&x(row, c * half + from));
      }
      for (int r = 0; r < fetched && top - r >= 1; ++r) {
        const int k = top - r, row = sweep.row(k), imaginary = half;
        const double *const pivots = &inverse(k - 1, 0), *const fills = sweep.behind ? &fill(k - 1, 0) : nullptr,
                            *const ghosts = &x(0, 0);
        double* const values = &x(row, 0);
        for (int j = from; j < to; j += lanes) {
          const Lanes factor = coupling[r] * fetched_or(pivot[r], pivots + j);
          const Lanes q = fills ? fetched_or(filled[r], fills + j) : Lanes(0.0);
          for (int c = 0; c < 2; ++c) {
            double* const here = values + c * imaginary + j;
            Lanes& value = last[c][(j - from) / lanes];
            value = fma(factor, value, fetched_or(next[c][r], here));
            if (fills) value = fma(q, Lanes::load(ghosts + c * imaginary + j), value);
            value.store(here);
          }
        }
      }
    }
  }
};

Systems systems_of(const Part& part, const View<double**>& x, const View<double**>& inverse, const View<double**>& fill,
                   const View<double*>& behind, const View<double*>& ahead, const Slab& slab, const Sweep& sweep) {
  const auto& ends = part.interfaces;
  return {slab.rows,
          static_cast<int>(inverse.extent(1)),
          part.from,
          part.to - part.from,
          x,
          inverse,
          fill,
          behind,
          ahead,
          slab.height,
          ends.ends,
          ends.below,
          sweep.down ? ends.below : ends.above,
          sweep};
}

}  // namespace

Poisson::Poisson(const Comm& comm, const Slab& slab, int batch)
    : source("poisson source", batch * slab.grid.lines(), padded(transform_length(slab.grid))), slab_(slab),
      fft_(transform_length(slab.grid)),
      plane_fft_(slab.grid.spatial() ? std::make_unique<PlaneFft>(slab.grid.nx, slab.grid.ny) : nullptr),
      sweep_(Sweep::of(slab)), half_(half()), spectrum_("poisson spectrum", slab.rows + 2, 2 * half_ + 16),
      whole_("poisson rows", slab.grid.periodic ? 0 : batch, padded(transform_length(slab.grid))),
      inverse_("poisson pivots", slab.rows, half_), behind_("poisson behind", slab.rows),
      ahead_("poisson ahead", slab.rows) {
  for (const auto& [from, to] : parts_of(half_, comm.size()))
    parts_.push_back(
        {from, to, Interfaces(comm, 2 * (to - from), 1, to - from, slab.share_memory, slab.grid.spatial())});
  factorise();
}

double Poisson::squared_wave(int j) const {
  const Grid& g = slab_.grid;
  const auto wave = [](double d, int mode, int length) { return 2.0 / d * std::sin(constants::pi * mode / length); };
  const int mode = plane_fft_ ? plane_fft_->mode_x(j) : std::min(j, fft_.modes() - 1);
  const double x = wave(g.dx(), mode, fft_.length());
  if (!plane_fft_) return x * x;
  const double y = wave(g.dy(), plane_fft_->mode_y(j), g.ny);
  return x * x + y * y;
}

void Poisson::factorise() {
  const Grid& g = slab_.grid;
  const int m = slab_.rows;
  const auto behind = Kokkos::create_mirror_view(behind_), ahead = Kokkos::create_mirror_view(ahead_);
  const auto coupling = [&](int face) { return face == 0 || face == g.nz ? 0.0 : 1.0 / g.between(face); };
  for (int k = 0; k < m; ++k) {
    const int row = slab_.first + sweep_.row(k + 1) - 1;
    behind(k) = coupling(sweep_.down ? row + 1 : row);
    ahead(k) = coupling(sweep_.down ? row : row + 1);
  }
  Kokkos::deep_copy(behind_, behind);
  Kokkos::deep_copy(ahead_, ahead);
  const auto inverse = Kokkos::create_mirror_view(inverse_);
  View<double**> fill("poisson fill", sweep_.behind ? m : 0, half_);
  const auto hf = Kokkos::create_mirror_view(fill);
  for (Part& part : parts_) {
    Interfaces::Response response;
    for (int j = part.from; j < part.to; ++j) {
      const double square = squared_wave(j);
      double reach = 1.0, behind_first = 0.0;  // response of the first row to row k, and to the rank behind
      for (int k = 0; k < m; ++k) {
        const int row = slab_.first + sweep_.row(k + 1) - 1;
        double pivot = behind(k) + ahead(k) + square * g.height(row);
        if (square == 0.0 && row == 0) pivot += 1.0 / g.height(0);
        if (k > 0) pivot -= behind(k) * ahead(k - 1) * inverse(k - 1, j);
        inverse(k, j) = 1.0 / pivot;
        if (!sweep_.behind) continue;
        hf(k, j) = (k == 0 ? behind(0) : behind(k) * hf(k - 1, j)) * inverse(k, j);
        behind_first += reach * hf(k, j);
        reach *= ahead(k) * inverse(k, j);
      }
      response.add(sweep_, behind_first, sweep_.behind ? hf(m - 1, j) : 0.0, reach, ahead(m - 1) * inverse(m - 1, j));
    }
    part.interfaces.set(response);
  }
  Kokkos::deep_copy(inverse_, inverse);
  Kokkos::deep_copy(fill, hf);
  fill_ = fill;
}

void Poisson::mirror(int rows) const {
  const auto s = source;
  const int nx = slab_.grid.nx;
  Kokkos::parallel_for(
      "poisson: mirror", Range(0, rows), KOKKOS_LAMBDA(int k) {
        for (int i = 0; i < nx; ++i) s(k, 2 * nx - 1 - i) = s(k, i);
      });
}

void Poisson::eliminate(const Part& part) {
  const auto systems = systems_of(part, spectrum_, inverse_, fill_, behind_, ahead_, slab_, sweep_);
  for_strips(
      "poisson: eliminate", part.from, part.to, KOKKOS_LAMBDA(int from, int to) { systems.eliminate(from, to); });
}

void Poisson::substitute(const Part& part) {
  const auto systems = systems_of(part, spectrum_, inverse_, fill_, behind_, ahead_, slab_, sweep_);
  for_strips(
      "poisson: substitute", part.from, part.to, KOKKOS_LAMBDA(int from, int to) { systems.substitute(from, to); });
}

/// No ends to wait for: forward and back while a strip is in cache.
void Poisson::solve_alone(const Part& part) {
  const auto systems = systems_of(part, spectrum_, inverse_, fill_, behind_, ahead_, slab_, sweep_);
  for_strips(
      "poisson: sweeps", part.from, part.to, KOKKOS_LAMBDA(int from, int to) {
        systems.eliminate(from, to);
        systems.substitute(from, to);
      });
}

void Poisson::forward(int first, int count) {
  if (!plane_fft_) {
    if (!slab_.grid.periodic) mirror(count);
    const auto modes = Kokkos::subview(spectrum_, std::make_pair(first, first + count), Kokkos::ALL);
    return fft_.forward(source, 0, modes, half_, count);
  }
  const int lines = slab_.grid.ny;
  for (int k = 0; k < count; ++k)
    plane_fft_->forward(Kokkos::subview(source, std::make_pair(k * lines, (k + 1) * lines), Kokkos::ALL), 0,
                        spectrum_.data() + (first + k) * spectrum_.stride(0));
}

void Poisson::solve() {
  if (!sweep_.ahead) return solve_alone(parts_.front());
  for (Part& part : parts_) {
    eliminate(part);
    part.interfaces.start();
  }
  join_together(parts_);
  for (Part& part : parts_) {
    part.interfaces.finish();
    substitute(part);
  }
}

void Poisson::rows(const View<double**>& phi, int first, int count) {
  if (plane_fft_) {
    const RowLayout layout = RowLayout::of(slab_.grid);
    for (int k = first; k < first + count; ++k)
      plane_fft_->backward(spectrum_.data() + k * spectrum_.stride(0),
                           View<double**>(phi.data() + k * phi.stride(0) + layout.pitch, layout.lines, layout.pitch),
                           margin);
    return;
  }
  const auto wanted = std::make_pair(first, first + count);
  const auto solved = Kokkos::subview(spectrum_, wanted, Kokkos::ALL);
  const auto rows = Kokkos::subview(phi, wanted, Kokkos::ALL);
  if (slab_.grid.periodic) {
    fft_.backward(solved, half_, rows, margin, count);
    return;
  }
  fft_.backward(solved, half_, whole_, 0, count);
  const auto s = whole_;
  for_rows(
      "poisson: unmirror", 0, count, slab_.grid.nx,
      KOKKOS_LAMBDA(int k, int i) { Lanes::load(&s(k, i)).store(&rows(k, margin + i)); });
}

}  // namespace cambium::superres
