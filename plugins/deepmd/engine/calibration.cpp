#include "plugins/deepmd/engine/calibration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/deck/describe.hpp"

namespace cambium::deepmd {

namespace {

/// The file, as a deck.
struct Stored {
  double level = 0.9;
  std::int64_t frames = 0, atoms = 0;
  std::vector<double> deviation, bound;
  std::vector<std::string> models;
  static void describe(deck::Describe<Stored>& d) {
    d("level", &Stored::level, "fraction of force errors that the bound covers").greater_than(0.0).less_than(1.0);
    d("frames", &Stored::frames, "number of held-out frames of the calibration").at_least(1);
    d("atoms", &Stored::atoms, "number of atoms of these frames").at_least(1);
    d("deviation", &Stored::deviation, "deviations of the committee").unit("eV/angstrom");
    d("bound", &Stored::bound, "bounds of the force error at these deviations").unit("eV/angstrom");
    d("models", &Stored::models, "checksums of the model files");
    d.check([](const Stored& s) -> std::string {
      if (s.deviation.empty() || s.deviation.size() != s.bound.size())
        return "deviation and bound need the same number of values, one at least";
      for (std::size_t k = 0; k < s.bound.size(); ++k) {
        const bool positive = s.deviation[k] > 0.0 && s.bound[k] > 0.0;
        if (!positive || (k > 0 && (s.deviation[k] <= s.deviation[k - 1] || s.bound[k] < s.bound[k - 1])))
          return "deviation and bound need positive values in rising order";
      }
      return "";
    });
  }
};

}  // namespace

std::string Calibration::to_yaml() const {
  return fmt::format(
      "# Error of an atom's force (eV/angstrom) that a fraction `level` of atoms does not exceed, by the committee's "
      "deviation\n# (eV/angstrom): logarithmic interpolation, constant below, proportional above, proportional for one "
      "value.\nlevel: {}\nframes: {}\natoms: {}\ndeviation: [{}]\nbound: [{}]\nmodels: [{}]\n",
      level, frames, atoms, fmt::join(curve.deviation, ", "), fmt::join(curve.bound, ", "),
      fmt::format("'{}'", fmt::join(models, "', '")));
}

Calibration Calibration::load(const std::string& path) {
  const auto stored = deck::read<Stored>(deck::load(path));
  return {stored.level, stored.frames, stored.atoms, {stored.deviation, stored.bound}, stored.models};
}

void Calibration::require_models(std::span<const std::string> paths, const std::string& source) const {
  if (paths.size() != models.size())
    throw InputError(
        fmt::format("'{}' calibrates a committee of {} models, this one has {}; run the stage 'calibrate' "
                    "with the same models",
                    source, models.size(), paths.size()));
  for (std::size_t k = 0; k < paths.size(); ++k)
    if (checksum_of(paths[k]) != models[k])
      throw InputError(
          fmt::format("'{}' was made with another model than '{}' as model {} of the committee; run the stage "
                      "'calibrate' with the same models in the same order",
                      source, paths[k], k + 1));
}

std::string checksum_of(const std::string& path) {
  std::uint64_t sum = 14695981039346656037ULL;  // FNV-1a
  for (const char c : text_of_file(path)) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return fmt::format("{:016x}", sum);
}

}  // namespace cambium::deepmd
