#include "plugins/submatrix/dftb/atoms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "core/parallel/gather.hpp"

namespace cambium::submatrix {

namespace {

using constants::angstrom_per_bohr;

/// Fraction of the cell at which the longest empty stretch ends, and its length.
struct Stretch {
  double end, length;
};

Stretch longest_stretch(std::vector<double> fractions) {
  for (double& f : fractions) f -= std::floor(f);
  std::sort(fractions.begin(), fractions.end());
  Stretch out{fractions.front(), fractions.front() + 1.0 - fractions.back()};
  for (std::size_t k = 1; k < fractions.size(); ++k)
    if (const double length = fractions[k] - fractions[k - 1]; length > out.length) out = {fractions[k], length};
  return out;
}

std::vector<std::array<double, 3>> fractions_of(const DftbAtoms& atoms, const Box& box) {
  std::vector<std::array<double, 3>> out(atoms.tag.size());
  for (std::size_t i = 0; i < out.size(); ++i) box.to_fractional(&atoms.x[3 * i], out[i].data());
  return out;
}

Stretch longest_stretch(const std::vector<std::array<double, 3>>& fraction, std::size_t k) {
  std::vector<double> along;
  for (const auto& f : fraction) along.push_back(f[k]);
  return longest_stretch(std::move(along));
}

double shortest_vacuum(const DftbAtoms& atoms, const Box& box) {
  const auto height = box.heights();
  const auto fraction = fractions_of(atoms, box);
  double out = height[0];
  for (std::size_t k = 0; k < 3; ++k) out = std::min(out, longest_stretch(fraction, k).length * height[k]);
  return out;
}

void put_together(DftbAtoms& atoms, const Box& box) {
  constexpr double clearance = 3.0;  // angstrom
  const auto height = box.heights();
  auto fraction = fractions_of(atoms, box);
  for (std::size_t k = 0; k < 3; ++k) {
    const Stretch cut = longest_stretch(fraction, k);
    if (cut.length * height[k] < clearance)
      throw InputError(fmt::format(
          "periodic is false, but the atoms leave only {:.3g} angstrom of the cell empty along cell vector {}; a "
          "molecule needs {:.3g} angstrom: enlarge the cell, or write periodic: true",
          cut.length * height[k], "abc"[k], clearance));
    constexpr double rounding = 1e-9;
    for (auto& f : fraction) f[k] = cut.end + (f[k] - cut.end) - std::floor(f[k] - cut.end + rounding);
  }
  for (std::size_t i = 0; i < fraction.size(); ++i) box.to_cartesian(fraction[i].data(), &atoms.x[3 * i]);
}

}  // namespace

std::size_t DftbAtoms::place_of(std::int64_t id) const {
  return static_cast<std::size_t>(std::lower_bound(tag.begin(), tag.end(), id) - tag.begin());
}

std::array<double, 3> DftbAtoms::vector(int a, int b, const std::array<int, 3>& image) const {
  std::array<double, 3> d;
  for (std::size_t k = 0; k < 3; ++k) {
    d[k] = x[3 * static_cast<std::size_t>(b) + k] - x[3 * static_cast<std::size_t>(a) + k];
    for (std::size_t c = 0; c < 3; ++c) d[k] += image[c] * cell[c][k];
  }
  return d;
}

DftbAtoms gather_atoms(const Particles& particles, bool periodic, const Comm& comm) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.x);
  const auto tag = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.tag);
  std::vector<double> mine;
  for (int i = 0; i < particles.nlocal; ++i)
    mine.insert(mine.end(), {static_cast<double>(tag(i)), x(i, 3), x(i, 0), x(i, 1), x(i, 2)});
  const auto all = all_gather(mine, comm);
  std::vector<std::size_t> order(all.size() / 5);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return all[5 * a] < all[5 * b]; });
  DftbAtoms out;
  out.periodic = periodic;
  for (const auto i : order) {
    out.tag.push_back(static_cast<std::int64_t>(all[5 * i]));
    out.type.push_back(static_cast<int>(all[5 * i + 1]));
    out.x.insert(out.x.end(), all.begin() + static_cast<std::ptrdiff_t>(5 * i + 2),
                 all.begin() + static_cast<std::ptrdiff_t>(5 * i + 5));
  }
  if (!periodic) put_together(out, particles.box);
  if (periodic) out.empty = shortest_vacuum(out, particles.box);
  for (double& c : out.x) c /= angstrom_per_bohr;
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t k = 0; k < 3; ++k) out.cell[c][k] = particles.box.h[c][k] / angstrom_per_bohr;
  out.volume = particles.box.volume() / std::pow(angstrom_per_bohr, 3);
  return out;
}

std::array<int, 3> images_within(const DftbAtoms& atoms, double distance) {
  Box box;
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t k = 0; k < 3; ++k) box.h[c][k] = atoms.cell[c][k];
  const auto height = box.heights();
  std::array<int, 3> out;
  // One more, because atoms may have left the cell since they were last wrapped.
  for (std::size_t k = 0; k < 3; ++k) out[k] = static_cast<int>(std::ceil(distance / height[k])) + 1;
  return out;
}

DftbPairs::DftbPairs(const DftbAtoms& atoms, double cutoff) {
  const std::array<int, 3> reach = atoms.periodic ? images_within(atoms, cutoff) : std::array<int, 3>{};
  for (int a = 0; a < atoms.count(); ++a) {
    for (int b = 0; b < atoms.count(); ++b)
      for (int i = -reach[0]; i <= reach[0]; ++i)
        for (int j = -reach[1]; j <= reach[1]; ++j)
          for (int k = -reach[2]; k <= reach[2]; ++k) {
            const auto d = atoms.vector(a, b, {i, j, k});
            const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            if (r2 < cutoff * cutoff) pair.push_back({b, {i, j, k}, d, std::sqrt(r2)});
          }
    first.push_back(std::ssize(pair));
  }
}

}  // namespace cambium::submatrix
