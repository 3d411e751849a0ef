#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "core/io/structures/frame.hpp"

namespace cambium::md {

/// Correlates a vector per particle with itself at earlier times, averaged over particles and time origins, for each
/// species and for all. A new origin is taken every `length / origins` samples and kept for `length` samples, so that
/// every lag up to `length` is sampled from about `origins` origins per length of the run. On one rank.
class TimeCorrelation {
 public:
  enum class Kind {
    displacement,  ///< |a(t0 + t) - a(t0)|^2, a(t0) moved with the cell where that has changed
    product        ///< a(t0) . a(t0 + t)
  };
  TimeCorrelation(Kind kind, int length, int origins);

  /// Cell vectors (rows) and the point from which `rows` of a sample are fractions of them.
  struct Cell {
    std::array<double, 9> rows{};
    std::array<double, 3> origin{};
  };
  /// Adds the next sample: `rows` has three values per particle, `type` the species of each. Displacements with cells
  /// are those of fractional coordinates, times the later cell: (s(t0 + t) - s(t0)) h(t0 + t).
  void add(double time, std::vector<double> rows, const std::vector<int>& type, int species,
           const std::optional<Cell>& cell = {});

  /// Averages over the samples so far. Values: all particles first, then each species; lags without samples are left
  /// out.
  struct Result {
    std::vector<double> time;
    std::vector<std::vector<double>> value;
    std::vector<double> origins;  ///< that contribute to each lag
  };
  Result result() const;

  void save(io::Group& group) const;
  /// InputError when the checkpoint has another length.
  void load(const io::Group& group);

 private:
  bool sound() const;  ///< the data read by load() are consistent
  struct Origin {
    std::int64_t sample;
    double time;
    std::vector<double> rows;
    std::optional<Cell> cell;  ///< absent in checkpoints of earlier versions
  };
  Kind kind_;
  int length_, spacing_;
  std::int64_t samples_ = 0;
  std::deque<Origin> origins_;
  std::vector<double> members_;          ///< particles of each species
  std::vector<double> sum_;              ///< [lag][species], over particles and origins
  std::vector<double> elapsed_, count_;  ///< [lag], over origins
};

/// Unwrapped positions, or velocities, as rows for the correlation; `remove_drift` subtracts the motion of the centre
/// of mass of all particles.
std::vector<double> unwrapped_positions(const io::Frame& frame, bool remove_drift);
std::vector<double> velocities(const io::Frame& frame, bool remove_drift);
/// The cell of unwrapped_positions().
TimeCorrelation::Cell cell_of(const io::Frame& frame, bool remove_drift);

}  // namespace cambium::md
