#pragma once
#include <array>
#include <span>
#include <string>
#include <vector>

#include "plugins/deepmd/datasets/frame.hpp"
#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd {

/// Statistics of the training data that a model needs before the first step, by DeePMD-kit's rules.
struct Statistics {
  std::vector<int> most_neighbours;           ///< by neighbour type, of any atom
  double closest = 0.0;                       ///< Å, smallest distance of a pair
  std::vector<double> mean, radial, angular;  ///< of the environment rows, by centre type
  std::vector<double> bias;                   ///< eV by type: least squares of the energies, smallest norm
};

/// Sums over frames. The means are over all slots of the neighbour list, with empty ones counted as zero rows; x, y and
/// z are pooled and have mean zero; standard deviations are at least 0.01.
class StatisticsSums {
 public:
  StatisticsSums(int ntypes, double rcut, double rcut_smth, bool radial_only);
  void add(const TrainingFrame& frame);
  /// `sel` is the number of slots by neighbour type.
  Statistics result(const std::vector<int>& sel) const;
  /// By neighbour type, or with `together` one value for all types.
  std::vector<int> most_neighbours(bool together = false) const {
    return together ? std::vector<int>{most_together_} : most_;
  }

 private:
  int ntypes_;
  double rcut_, rcut_smth_;
  bool radial_only_;
  double closest_ = 1e30;
  std::vector<int> most_;
  int most_together_ = 0;
  std::vector<double> atoms_, s_, s2_, a2_;  ///< by centre type
  std::vector<std::vector<double>> counts_;  ///< atoms by type, of each labelled frame
  std::vector<double> energies_;
};

/// Mean and inverse standard deviation of frame or atomic parameters (`size` values each); the deviation is at least
/// 0.01.
class ParameterSums {
 public:
  explicit ParameterSums(int size) : n_(size), sum_(size, 0.0), squares_(size, 0.0) {}
  void add(std::span<const double> values);  ///< of a frame, or atom after atom
  ParameterInput result() const;

 private:
  std::size_t n_;
  double count_ = 0.0;
  std::vector<double> sum_, squares_;
};

/// Solution of smallest norm of min |counts x - energies|^2 (what numpy.linalg.lstsq gives).
std::vector<double> least_squares(const std::vector<std::vector<double>>& counts, const std::vector<double>& energies);

/// `sel` for data with these largest numbers of neighbours: a tenth more, rounded up to a multiple of four.
std::vector<int> automatic_sel(const std::vector<int>& most_neighbours);

}  // namespace cambium::deepmd
