#include "plugins/submatrix/dftb/integrals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace cambium::submatrix {

namespace {

/// Values of own pairs go to all ranks.
void share(std::vector<double>& values, const DftbIntegrals& integrals, const Comm& comm) {
  std::vector<int> count, first;
  for (int r = 0; r < comm.size(); ++r) {
    first.push_back(static_cast<int>(integrals.offset[integrals.begin(r)]));
    count.push_back(static_cast<int>(integrals.offset[integrals.end(r)]) - first.back());
  }
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, values.data(), count.data(), first.data(), MPI_DOUBLE, comm.handle());
}

void fill_own_atom(const DftbParameters::Element& element, double* h, double* s) {
  const int n = element.functions();
  for (int l = 0; l <= element.highest; ++l)
    for (int i = l * l; i < (l + 1) * (l + 1); ++i) {
      h[i * n + i] = element.onsite[l];
      s[i * n + i] = 1.0;
    }
}

/// Derivatives of blocks by central differences.
void differences(const DftbParameters& parameters, std::array<int, 2> types, bool first, std::array<double, 3> d,
                 double step, PairBlocks& out) {
  PairBlocks more, less;
  for (std::size_t k = 0; k < 3; ++k) {
    d[k] += step;
    parameters.blocks(types[0], types[1], first, d.data(), false, more);
    d[k] -= 2.0 * step;
    parameters.blocks(types[0], types[1], first, d.data(), false, less);
    d[k] += step;
    for (std::size_t e = 0; e < more.h.size(); ++e) {
      out.dh[k][e] = (more.h[e] - less.h[e]) / (2.0 * step);
      out.ds[k][e] = (more.s[e] - less.s[e]) / (2.0 * step);
    }
  }
}

void require_apart(const DftbAtoms& atoms, int a, const DftbPairs::Pair& pair) {
  constexpr double least = 0.1;
  if (pair.r < least)
    throw InputError(
        fmt::format("atoms {} and {} are {:.3g} bohr apart; dftb needs at least {} bohr: check the structure",
                    atoms.tag[a], atoms.tag[pair.other], pair.r, least));
}

/// Derivative by component k of the vector of a pair of the electrons' energy, from one end of the pair.
struct PairSlope {
  const PairBlocks& blocks;
  std::size_t rows, columns;
  const double* weighted;

  double of_weighted(std::size_t k) const {
    double out = 0.0;
    for (std::size_t i = 0; i < rows * columns; ++i) out -= 2.0 * weighted[i] * blocks.ds[k][i];
    return out;
  }
  double of_channel(std::size_t k, const double* density, const double* own, const double* other) const {
    double out = 0.0;
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        const double v = 0.5 * (own[shell_of(static_cast<int>(i))] + other[shell_of(static_cast<int>(j))]);
        const std::size_t at = i * columns + j;
        out += 2.0 * density[at] * (blocks.dh[k][at] + v * blocks.ds[k][at]);
      }
    return out;
  }
};

}  // namespace

DftbIntegrals integrals_of(const DftbAtoms& atoms, const DftbParameters& parameters, const Comm& comm) {
  DftbIntegrals out;
  out.pairs = DftbPairs(atoms, parameters.cutoff());
  out.first_function = {0};
  std::vector<double> cost;
  for (int a = 0; a < atoms.count(); ++a) {
    out.functions.push_back(parameters.elements()[atoms.type[a]].functions());
    out.first_function.push_back(out.first_function.back() + out.functions.back());
    cost.push_back(static_cast<double>(out.pairs.first[a + 1] - out.pairs.first[a]));
  }
  out.ranges = ColumnRanges::balanced(cost, comm.size());
  out.offset = {0};
  for (int a = 0; a < atoms.count(); ++a)
    for (auto e = out.pairs.first[a]; e < out.pairs.first[a + 1]; ++e)
      out.offset.push_back(out.offset.back() + out.functions[a] * out.functions[out.pairs.pair[e].other]);
  out.h.assign(static_cast<std::size_t>(out.offset.back()), 0.0);
  out.s = out.h;
  PairBlocks blocks;
  for (int a = out.ranges.begin(comm.rank()); a < out.ranges.end(comm.rank()); ++a)
    for (auto e = out.pairs.first[a]; e < out.pairs.first[a + 1]; ++e) {
      const auto& pair = out.pairs.pair[e];
      double *h = out.h.data() + out.offset[e], *s = out.s.data() + out.offset[e];
      if (pair.r == 0.0 && pair.other == a) {
        fill_own_atom(parameters.elements()[atoms.type[a]], h, s);
        continue;
      }
      require_apart(atoms, a, pair);
      parameters.blocks(atoms.type[a], atoms.type[pair.other], a <= pair.other, pair.d.data(), false, blocks);
      const auto size = out.offset[e + 1] - out.offset[e];
      std::copy_n(blocks.h.begin(), size, h);
      std::copy_n(blocks.s.begin(), size, s);
    }
  share(out.h, out, comm);
  share(out.s, out, comm);
  return out;
}

double add_band_forces(const DftbAtoms& atoms, const DftbParameters& parameters, const DftbIntegrals& integrals,
                       const std::vector<std::vector<double>>& density, const std::vector<double>& weighted,
                       const std::vector<std::vector<double>>& potential, double step, int rank, double* force,
                       double* virial) {
  double repulsion = 0.0;
  PairBlocks blocks;
  const int begin = integrals.ranges.begin(rank);
  for (int a = begin; a < integrals.ranges.end(rank); ++a)
    for (auto e = integrals.pairs.first[a]; e < integrals.pairs.first[a + 1]; ++e) {
      const auto& pair = integrals.pairs.pair[e];
      if (pair.r == 0.0) continue;
      const int ta = atoms.type[a], tb = atoms.type[pair.other];
      parameters.blocks(ta, tb, a <= pair.other, pair.d.data(), step <= 0.0, blocks);
      if (step > 0.0) differences(parameters, {ta, tb}, a <= pair.other, pair.d, step, blocks);
      const auto pushed = (a <= pair.other ? parameters.repulsion(ta, tb) : parameters.repulsion(tb, ta)).at(pair.r);
      repulsion += 0.5 * pushed.energy;
      const auto own = most_shells * static_cast<std::size_t>(a),
                 other = most_shells * static_cast<std::size_t>(pair.other);
      const PairSlope slopes{blocks, static_cast<std::size_t>(integrals.functions[a]),
                             static_cast<std::size_t>(integrals.functions[pair.other]),
                             weighted.data() + integrals.offset[e]};
      for (std::size_t k = 0; k < 3; ++k) {
        // Each pair is seen from both ends, with the same trace.
        double slope = pushed.slope * pair.d[k] / pair.r + slopes.of_weighted(k);
        for (std::size_t c = 0; c < density.size(); ++c)
          slope +=
              slopes.of_channel(k, density[c].data() + integrals.offset[e], &potential[c][own], &potential[c][other]);
        force[3 * static_cast<std::size_t>(a - begin) + k] += slope;
        for (std::size_t l = 0; l < 3; ++l) virial[3 * k + l] -= 0.5 * slope * pair.d[l];
      }
    }
  return repulsion;
}

}  // namespace cambium::submatrix
