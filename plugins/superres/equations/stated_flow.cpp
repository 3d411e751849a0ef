#include "plugins/superres/equations/stated_flow.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "plugins/superres/equations/field_file.hpp"

namespace cambium::superres {
namespace {

/// Beyond the digits of single precision.
bool differ(double a, double b) { return std::fabs(a - b) > 1e-6 * std::fabs(b); }

}  // namespace

StatedFlow StatedFlow::of(const std::string& path) {
  const FieldFile file(path, true);
  return {path, file.number("Rayleigh"), file.number("Prandtl"), file.text("plates"), file.section()};
}

void StatedFlow::require_rayleigh(double of_deck, const std::string& section) const {
  if (!rayleigh || !differ(*rayleigh, of_deck)) return;
  throw KeyError("superres.flow.rayleigh", section + "rayleigh",
                 fmt::format("'{}' has the Rayleigh number {} and 'rayleigh' is {}: give that of the data", path,
                             number_text(*rayleigh), number_text(of_deck)));
}

void StatedFlow::require_prandtl(double of_deck, const std::string& section) const {
  if (!prandtl || !differ(*prandtl, of_deck)) return;
  throw KeyError("superres.flow.prandtl", section + "prandtl",
                 fmt::format("'{}' has the Prandtl number {} and 'prandtl' is {}: give that of the data", path,
                             number_text(*prandtl), number_text(of_deck)));
}

double StatedFlow::prandtl_of(const std::optional<double>& of_deck, const std::string& section) const {
  if (of_deck) require_prandtl(*of_deck, section);
  return of_deck ? *of_deck : prandtl.value_or(1.0);
}

void StatedFlow::require_plane(const std::string& key, const std::string& advice) const {
  if (!section) return;
  throw KeyError("superres.flow.section", key,
                 fmt::format("'{}' is a section of a flow in three dimensions, which the equations in two do not "
                             "continue: {}",
                             path, advice));
}

void StatedFlow::require_plates(const std::string& of_deck, const std::string& section) const {
  if (!plates || *plates == of_deck) return;
  throw KeyError(
      "superres.flow.plates", section + "plates",
      fmt::format("the plates of '{}' are {} and 'plates' is {}: give those of the data", path, *plates, of_deck));
}

}  // namespace cambium::superres
