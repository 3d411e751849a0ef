#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "plugins/md/nep/near_atoms.hpp"
#include "plugins/md/pace/pace_energy.hpp"
#include "plugins/md/pace/pace_model.hpp"
#include "plugins/md/pace/pace_radial.hpp"
#include "plugins/md/pace/pace_shapes.hpp"
#include "plugins/md/pace/pace_tree.hpp"

namespace cambium::md {

/// Energies of a few atoms of one type and their gradients with respect to the neighbours' positions. Lanes of a pack
/// are neighbours of one type in sums over neighbours, and atoms in the products of these sums: then all lanes do the
/// same, without gathers. Sums are over basis functions, which are combined to radial functions once for each atom.
/// Memory is reused from call to call.
template <class P>
class PaceAtoms {
 public:
  /// model_type: type of the model by type of the deck.
  PaceAtoms(const PaceModel& model, std::vector<int> model_type)
      : m_(model), type_(std::move(model_type)), cutoff_(model.file.cutoff()), shapes_(model.file.l_max),
        radial_(model.file.basis_max), range_(type_.size()), h_(model.row()),
        sums_(model.file.types() * model.file.n_max * model.row()),
        base_(model.file.types() * model.file.basis_max * model.row()) {}

  /// Sets the model's type of the following atoms.
  void begin(int type) {
    own_ = type;
    for (std::size_t t = 0; t < range_.size(); ++t) range_[t] = m_.file.bond(own_, type_[t]).cutoff;
    tree_.begin(m_.products[own_]);
  }

  /// `count` atoms, at most P::width, of the type set by begin(); `atoms` are their rows, `list(i, n)` returns the
  /// neighbours of one, with their number in n. `push(lane, row, g, d)` gets the gradient g (eV/Å) of a lane's energy
  /// with respect to the position of each neighbour at distance d, possibly several times. energies: by lane, eV.
  template <class List, class Push>
  void operator()(const double* positions, const int* atoms, int count, List&& list, Push&& push, double* energies) {
    tree_.clear();
    for (int lane = 0; lane < count; ++lane) {
      int n = 0;
      const int* j = list(atoms[lane], n);
      candidates_.find(positions, atoms[lane], j, n, cutoff_, static_cast<int>(type_.size()));
      candidates_.sort_into(near_[lane], range_);
      sum_neighbours(lane);
      hand_over(lane);
    }
    tree_.forward();
    for (int lane = 0; lane < count; ++lane) energies[lane] = embed(lane);
    tree_.backward();
    for (int lane = 0; lane < count; ++lane) {
      take_back(lane);
      give_neighbours(lane, push);
    }
  }

 private:
  using Shapes = PaceShapes<P>;
  struct Closest {
    double r, reach;  ///< Å; reach: distance beyond the inner range
    int at;           ///< index among the neighbours; -1: none
    int type;
  };

  double* base(int type, int k) { return base_.data() + (type * m_.file.basis_max + k) * m_.row(); }
  double* sums(int type, int n) { return sums_.data() + (type * m_.file.n_max + n) * m_.row(); }

  void direct(const NearAtoms<P>& near, int k, const PaceFile::Bond& bond, P& r, P& inverse_r, P* u) {
    r = P::load(near.r.data() + k);
    inverse_r = reciprocal(r);
    u[0] = P::load(near.x.data() + k) * inverse_r;
    u[1] = P::load(near.y.data() + k) * inverse_r;
    u[2] = P::load(near.z.data() + k) * inverse_r;
    shapes_.set(u[0], u[1], u[2], bond.l_max);
  }

  PaceValue<P> core(P r, const PaceFile::Bond& bond, int other) {
    if (bond.core_height == 0.0) return {0.0, 0.0};
    if (m_.file.inner != PaceFile::Inner::zbl) return pace_core(r, bond, m_.file.inner);
    double distance[P::width], value[P::width], slope[P::width];
    r.store(distance);
    for (int lane = 0; lane < P::width; ++lane) {
      const auto one = pace_nuclei(distance[lane], bond, m_.charges[own_], m_.charges[other]);
      value[lane] = one.value;
      slope[lane] = one.slope;
    }
    return {P::load(value), P::load(slope)};
  }

  /// Sums of g_k times harmonics over the neighbours of a lane, and of the core repulsion.
  void sum_neighbours(int lane) {
    std::fill(base_.begin(), base_.end(), 0.0);
    core_[lane] = 0.0;
    closest_[lane] = {0.0, cutoff_, -1, 0};
    for (const auto& group : near_[lane].groups) {
      const int other = type_[group.type], basis = m_.basis_of(own_, other);
      const auto& bond = m_.file.bond(own_, other);
      const int shapes = (bond.l_max + 1) * (bond.l_max + 1), packs = (group.last - group.first) / P::width;
      functions_.resize(packs * whole_blocks(basis), 0.0);
      harmonics_.resize(packs * whole_blocks(shapes), 0.0);
      P repulsion = 0.0, r, inverse_r, u[3];
      for (int k = 0; k < packs; ++k) {
        direct(near_[lane], group.first + k * P::width, bond, r, inverse_r, u);
        radial_(r, bond, m_.file.inner, basis);
        P* const g = functions_.data() + k * whole_blocks(basis);
        P* const y = harmonics_.data() + k * whole_blocks(shapes);
        std::fill(std::copy(radial_.value(), radial_.value() + basis, g), g + whole_blocks(basis), P(0.0));
        std::fill(std::copy(shapes_.values(), shapes_.values() + shapes, y), y + whole_blocks(shapes), P(0.0));
        repulsion += core(r, bond, other).value;
      }
      multiply(packs, basis, shapes, other);
      core_[lane] += sum(repulsion);
      if (m_.file.inner == PaceFile::Inner::zbl) find_closest(lane, group);
    }
  }

  static constexpr int block_rows = 4, block_columns = P::width >= 8 ? 4 : 2;
  static int whole_blocks(int n) { return (n + 3) / 4 * 4; }

  /// Adds to the sums of a type: products of functions and harmonics, in blocks that fit into registers.
  void multiply(int packs, int basis, int shapes, int other) {
    for (int b = 0; b < basis; b += block_rows)
      for (int s = 0; s < shapes; s += block_columns) {
        P block[block_rows][block_columns];
        for (auto& row : block)
          for (P& entry : row) entry = 0.0;
        for (int k = 0; k < packs; ++k) {
          const P* const g = functions_.data() + k * whole_blocks(basis) + b;
          const P* const y = harmonics_.data() + k * whole_blocks(shapes) + s;
          for (int i = 0; i < block_rows; ++i)
            for (int j = 0; j < block_columns; ++j) block[i][j] = fma(g[i], y[j], block[i][j]);
        }
        for (int i = 0; i < std::min(block_rows, basis - b); ++i)
          for (int j = 0; j < std::min(block_columns, shapes - s); ++j) base(other, b + i)[s + j] += sum(block[i][j]);
      }
  }

  void find_closest(int lane, const typename NearAtoms<P>::Group& group) {
    const auto& near = near_[lane];
    const auto& bond = m_.file.bond(own_, type_[group.type]);
    for (int k = group.first; k < group.last && near.row[k] >= 0; ++k) {
      const double reach = near.r[k] - (bond.inner - bond.inner_width);
      if (reach < closest_[lane].reach) closest_[lane] = {near.r[k], reach, k, type_[group.type]};
    }
  }

  /// Combines the sums of basis functions to radial functions and stores them as factors of the tree; adds functions of
  /// rank 1.
  void hand_over(int lane) {
    for (int other = 0; other < m_.file.types(); ++other) {
      const auto& bond = m_.file.bond(own_, other);
      const double* table = m_.table(own_, other);
      for (int n = 0; n < bond.functions; ++n) {
        for (int s = 0; s < m_.row(); s += P::width) {
          P value = 0.0;
          for (int k = 0; k < bond.basis_size; ++k)
            value = fma(P::load(table + (n * bond.basis_size + k) * m_.row() + s), P::load(base(other, k) + s), value);
          value.store(sums(other, n) + s);
        }
      }
    }
    const auto& products = m_.products[own_];
    for (std::size_t f = 0; f < products.sums.size(); ++f) {
      const auto& [type, n, l, m] = products.sums[f];
      const double* from = sums(type, n);
      const double re = from[Shapes::real(l, std::abs(m))], im = m ? from[Shapes::imaginary(l, std::abs(m))] : 0.0;
      const double sign = m < 0 && m % 2 != 0 ? -1.0 : 1.0;
      tree_.set_factor(f, lane, sign * re, m < 0 ? -sign * im : im);
    }
    for (std::size_t k = 0; k < products.linear.size(); ++k)
      for (int p = 0; p < products.densities; ++p)
        tree_.density(p, lane) +=
            products.linear_c[k * products.densities + p] * base(products.linear[k].type, products.linear[k].n)[0];
  }

  /// Returns the energy of a lane; sets its derivatives with respect to the densities in the tree.
  double embed(int lane) {
    const auto& e = m_.file.embeddings[own_];
    double energy = 0.0;
    for (int p = 0; p < e.densities; ++p) {
      const auto f = pace_embedding(tree_.density(p, lane), e.exponents[p], e.shifted);
      energy += e.weights[p] * f.value;
      tree_.slope(p, lane) = e.weights[p] * f.slope;
    }
    const double repulsion = core_[lane];
    Pack<double, 1> share, share_slope;
    closest_slope_[lane] = 0.0;
    if (m_.file.inner == PaceFile::Inner::zbl) {
      share = 1.0;
      if (const auto& near = closest_[lane]; near.at >= 0) {
        const double width = m_.file.bond(own_, near.type).inner_width;
        pace_step(Pack<double, 1>(width - near.reach), width, width, share, share_slope);
        closest_slope_[lane] = -share_slope.v * (energy - repulsion);
      }
      core_slope_[lane] = 1.0 - share.v;
    } else {
      pace_step(Pack<double, 1>(repulsion), e.core_cutoff, e.width, share, share_slope);
      core_slope_[lane] = 1.0 + energy * share_slope.v;
    }
    for (int p = 0; p < e.densities; ++p) tree_.slope(p, lane) *= share.v;
    const double kept = m_.file.inner == PaceFile::Inner::zbl ? 1.0 - share.v : 1.0;
    return energy * share.v + kept * repulsion + m_.file.e0[own_];
  }

  /// Derivatives of a lane's energy with respect to its sums of basis functions, from those with respect to the factors
  /// of the tree.
  void take_back(int lane) {
    const auto& products = m_.products[own_];
    std::fill(sums_.begin(), sums_.end(), 0.0);
    for (std::size_t f = 0; f < products.sums.size(); ++f) {
      const auto& [type, n, l, m] = products.sums[f];
      double re, im;
      tree_.weight(f, lane, re, im);
      const double sign = m < 0 && m % 2 != 0 ? -1.0 : 1.0;
      double* to = sums(type, n);
      to[Shapes::real(l, std::abs(m))] += sign * re;
      if (m) to[Shapes::imaginary(l, std::abs(m))] += m < 0 ? sign * im : -im;
    }
    std::fill(base_.begin(), base_.end(), 0.0);
    for (int other = 0; other < m_.file.types(); ++other) {
      const auto& bond = m_.file.bond(own_, other);
      const double* table = m_.table(own_, other);
      for (int k = 0; k < bond.basis_size; ++k)
        for (int s = 0; s < m_.row(); s += P::width) {
          P value = 0.0;
          for (int n = 0; n < bond.functions; ++n)
            value = fma(P::load(table + (n * bond.basis_size + k) * m_.row() + s), P::load(sums(other, n) + s), value);
          value.store(base(other, k) + s);
        }
    }
    for (std::size_t k = 0; k < products.linear.size(); ++k)
      for (int p = 0; p < products.densities; ++p)
        base(products.linear[k].type, products.linear[k].n)[0] +=
            products.linear_c[k * products.densities + p] * tree_.slope(p, lane);
  }

  template <class Push>
  void give_neighbours(int lane, Push&& push) {
    const auto& near = near_[lane];
    P r, inverse_r, u[3], t[3];
    for (const auto& group : near.groups) {
      const int other = type_[group.type], basis = m_.basis_of(own_, other);
      const auto& bond = m_.file.bond(own_, other);
      const int shapes = (bond.l_max + 1) * (bond.l_max + 1);
      for (int k = group.first; k < group.last; k += P::width) {
        direct(near, k, bond, r, inverse_r, u);
        radial_(r, bond, m_.file.inner, basis);
        P along = P(core_slope_[lane]) * core(r, bond, other).slope;
        for (int s = 0; s < shapes; ++s) {
          P by_value = 0.0, by_slope = 0.0;
          for (int b = 0; b < basis; ++b) {
            const P w = base(other, b)[s];
            by_value = fma(radial_.value()[b], w, by_value);
            by_slope = fma(radial_.slope()[b], w, by_slope);
          }
          h_[s] = by_value;
          along = fma(by_slope, shapes_.values()[s], along);
        }
        shapes_.gradient(h_.data(), t);
        along -= inverse_r * fma(t[0], u[0], fma(t[1], u[1], t[2] * u[2]));  // only motion across rotates it
        double lanes[3][P::width];
        for (int c = 0; c < 3; ++c) fma(along, u[c], t[c] * inverse_r).store(lanes[c]);
        give(lane, k, lanes, push);
      }
    }
    if (closest_slope_[lane] == 0.0) return;
    const int k = closest_[lane].at;
    const double scale = closest_slope_[lane] / near.r[k], d[3] = {near.x[k], near.y[k], near.z[k]};
    const double g[3] = {scale * d[0], scale * d[1], scale * d[2]};
    push(lane, near.row[k], g, d);
  }

  template <class Push>
  void give(int lane, int k, const double (&lanes)[3][P::width], Push&& push) {
    const auto& near = near_[lane];
    for (int one = 0; one < P::width; ++one) {
      if (near.row[k + one] < 0) return;  // the rest of the pack is padding
      const double g[3] = {lanes[0][one], lanes[1][one], lanes[2][one]};
      const double d[3] = {near.x[k + one], near.y[k + one], near.z[k + one]};
      push(lane, near.row[k + one], g, d);
    }
  }

  const PaceModel& m_;
  std::vector<int> type_;
  double cutoff_;
  int own_ = 0;  ///< model type of the atoms
  Candidates<P> candidates_;
  NearAtoms<P> near_[P::width];
  double core_[P::width], core_slope_[P::width], closest_slope_[P::width];
  Closest closest_[P::width];
  PaceTree<P> tree_;
  Shapes shapes_;
  PaceRadial<P> radial_;
  std::vector<double> range_;
  std::vector<P> functions_, harmonics_, h_;
  std::vector<double> sums_, base_;
};

}  // namespace cambium::md
