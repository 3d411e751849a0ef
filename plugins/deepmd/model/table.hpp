#pragma once
#include <string>
#include <vector>

#include "plugins/deepmd/model/dense_layer.hpp"
#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd {

/// Intervals of one table: narrow ones from `lower` to `coarse_from`, wide ones from there to `upper`, then one for
/// linear extrapolation.
struct TableGrid {
  double lower = 0.0, coarse_from = 0.0, upper = 0.0;
  double inverse_fine = 0.0, inverse_coarse = 0.0;  ///< 1 / width
  int fine_count = 0, coarse_count = 0;
  int first = 0;  ///< interval in the storage shared by all tables

  int intervals() const { return fine_count + coarse_count + 1; }

  /// The interval of x, the position t in [0, 1) within it (unbounded in the last one) and 1 / width.
  KOKKOS_INLINE_FUNCTION void locate(double x, int& interval, double& t, double& inverse) const {
    if (x >= upper) {
      interval = first + fine_count + coarse_count;
      inverse = inverse_coarse;
      t = (x - upper) * inverse;
      return;
    }
    const bool near_end = x < coarse_from;
    inverse = near_end ? inverse_fine : inverse_coarse;
    const double u = (x - (near_end ? lower : coarse_from)) * inverse;
    const int last = (near_end ? fine_count : coarse_count) - 1;
    int k = u > 0.0 ? static_cast<int>(u) : 0;
    k = k > last ? last : k;
    interval = first + (near_end ? 0 : fine_count) + k;
    t = u - k;
  }
};

/// Error of a table, measured when it was built.
struct TableReport {
  double value_error = 0.0, slope_error = 0.0;  ///< largest absolute errors of the channels and of their derivatives
  double r_min = 0.0;                           ///< Å, distance beyond which the fine parts cover every pair
  int intervals = 0;                            ///< of all tables
  std::size_t bytes = 0;
  std::string summary() const;
  void add(const TableReport& other);  ///< further tables of the same model
};

/// Embedding networks as piecewise quintic polynomials that match the networks' values and first two derivatives at the
/// nodes (quintic Hermite interpolation), so they are twice continuously differentiable. Storage of interval s: the six
/// coefficients of t of every channel, in the order of TablePlaces.
template <class T>
struct TableSet {
  View<TableGrid*> grids;  ///< by embedding network
  View<int*> net_of;       ///< [centre type * ntypes + neighbour type]
  View<T*> coefficients;
  int ntypes = 0, channels = 0;
  TableReport report;

  KOKKOS_INLINE_FUNCTION const TableGrid& grid(int centre, int neighbour) const {
    return grids(net_of(centre * ntypes + neighbour));
  }
  static constexpr int degree = 5;
  /// Values per interval; on a device those of each power are aligned to 16 bytes (ChannelGroup).
  int stride() const {
    constexpr int group = 16 / static_cast<int>(sizeof(T));
    return (degree + 1) * (device_is_host ? padded<T>(channels) : (channels + group - 1) / group * group);
  }
  std::size_t bytes() const { return coefficients.size() * sizeof(T); }
};

/// Default end of the fine part of a model's tables: the closest pair of its training data, or 0.8 Å.
inline double default_table_r_min(const DeepPotentialModel& model) {
  return model.min_distance > 0.0 ? model.min_distance : 0.8;
}

/// Builds tables whose channels and derivatives differ from the networks by at most `tolerance`: the interval is halved
/// until the error measured between the nodes is below it. The fine part covers r = rcut to r = r_min (Å), for se_e3
/// the product of opposite directions to that of equal ones at r_min; the coarse part covers five times the largest
/// input, for close encounters. InputError when the activation is not smooth enough.
std::vector<NetworkTable> tabulate_networks(const DeepPotentialModel& model, double tolerance, double r_min);

/// The tables in kernel-accessible memory, with their errors measured in the arithmetic of T.
template <class T>
TableSet<T> upload_tables(const DeepPotentialModel& model, std::vector<NetworkTable> tables);

}  // namespace cambium::deepmd
