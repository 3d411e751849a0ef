#pragma once
#include <optional>
#include <vector>

#include "core/deck/describe.hpp"

namespace cambium::submatrix {

/// How states near the Fermi level are occupied.
struct FillingKeys {
  enum class Kind { fermi, gaussian, methfessel_paxton };
  Kind type = Kind::fermi;
  double temperature = 0.0;  ///< K
  int order = 2;
  static void describe(deck::Describe<FillingKeys>& d);
};

/// States of all k-points with their occupation. Hartree.
struct Occupied {
  std::vector<double> f;  ///< of each state, 0 to 1
  double mu = 0.0, electrons = 0.0;
  double mu_down = 0.0;       ///< of spin down, with a fixed N up - N down; else mu
  double band_energy = 0.0;   ///< 2 sum w f e; of states of one spin sum w f e
  double entropy_term = 0.0;  ///< -T S
  double homo = 0.0, lumo = 0.0;
};

/// Fills states e (k-point by k-point, each `functions` ascending levels, k-points of weight w) with `electrons`, two
/// to a state: Fermi, Gaussian, or M. Methfessel and A. T. Paxton, Phys. Rev. B 40, 3616 (1989). mu is the middle of
/// the gap where that gives the number of electrons.
Occupied fill(const std::vector<double>& e, const std::vector<double>& w, double electrons, const FillingKeys& keys);

/// Electrons of a system, in states of both spins or in those of each.
struct ElectronNumbers {
  double all = 0.0;
  bool polarised = false;
  std::optional<double> unpaired = {};  ///< fixed N up - N down; without: one Fermi level for both spins
  int channels() const { return polarised ? 2 : 1; }
  double per_state() const { return polarised ? 1.0 : 2.0; }
};

/// The same for states of one channel, or of two: those of spin up, then those of spin down, with the same k-points and
/// one electron in each. homo and lumo are then of both spins.
Occupied fill(const std::vector<double>& e, const std::vector<double>& w, const ElectronNumbers& electrons,
              const FillingKeys& keys);

}  // namespace cambium::submatrix
