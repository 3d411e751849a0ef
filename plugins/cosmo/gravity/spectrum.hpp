#pragma once
#include <functional>
#include <vector>

#include "plugins/cosmo/gravity/box_waves.hpp"

namespace cambium::cosmo {

/// Bins of wave number b - 1/2 <= |k| box / (2 pi) < b + 1/2, b = 1 .. n/2.
struct Bins {
  std::vector<double> k;      ///< mean of the modes' |k|
  std::vector<double> modes;  ///< how many, k and -k both
};
Bins bins_of(const BoxWaves& waves);

/// Means over the modes of each bin of f(|k|).
std::vector<double> mean_over_modes(const BoxWaves& waves, const std::function<double(double k)>& f);

/// Means over the modes of each bin of Re(a b*) V / n^6, in the cube of the box's unit: power for a = b. With `clouds`,
/// divided by the squared Fourier transform of a cloud, so that both must be densities of assign_clouds(). Aliased
/// power is not removed.
std::vector<double> cross_power(const BoxWaves& waves, const View<const double*>& a, const View<const double*>& b,
                                std::optional<Clouds> clouds = {});

}  // namespace cambium::cosmo
