#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/kinetic/solver/phase_grid.hpp"

namespace cambium::kinetic {

/// Widths of the cells along one velocity dimension. At most one key is given; without any, cells have the same width.
struct SpacingParams {
  std::vector<std::string> edges;
  std::string mapping, stretch;
  static void describe(deck::Describe<SpacingParams>& d);
};

/// Divides the cells of an axis as the keys of dimension d say; cells of equal widths (to rounding) have no edges
/// afterwards. `what` begins messages. KeyError, about a key below "spacing", for edges that do not increase from the
/// axis' lower to its upper end or are not one more than its cells.
void divide(Axis& axis, const SpacingParams& keys, std::size_t d, const std::map<std::string, double>& parameters,
            const std::string& what);

/// KeyError unless v = 0 is between two cells of velocity dimension d (or outside of all).
void require_zero_on_face(const Axis& axis, const std::string& species, int d);

/// KeyError, about `key`, unless the cells of velocity dimension d are mirror images of each other at 0, as a wall that
/// reflects needs.
void require_symmetric(const Axis& axis, const std::string& species, int d, const std::string& key);

}  // namespace cambium::kinetic
