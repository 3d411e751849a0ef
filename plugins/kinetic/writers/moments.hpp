#pragma once
#include "core/deck/describe.hpp"
#include "core/particles/grid_fields.hpp"
#include "core/plugin/writer.hpp"
#include "plugins/kinetic/physics/vlasov.hpp"
#include "plugins/kinetic/species/higher_moments.hpp"
#include "plugins/kinetic/writers/output_clock.hpp"
#include "plugins/kinetic/writers/series_file.hpp"

namespace cambium::kinetic {

/// A moment of a species or a component of a field, as an expansion over configuration space: [cell][mode].
struct Expansion {
  std::string name;
  std::vector<double> values;
};
/// <species>/density, flux_x, ..., energy and field/Ex, ... of the state as it is, in this rank's cells.
std::vector<Expansion> own_expansions_of(const Vlasov& physics);
/// Collective: moments about the mean velocity of every species, <species>/pressure_xx, ..., in this rank's cells.
std::vector<Expansion> higher_expansions_of(const Vlasov& physics, const std::vector<HigherMoment>& moments);
/// Meaning of a moment or field, in words: of "electron/flux_x", "flux of electron along x".
std::string meaning_of(const std::string& name);
/// The middles of an axis' cells as a coordinate of its name.
void write_axis(io::File& file, const GridFields::Axis& axis);
/// InputError, naming the output, when the physics is no kinetic one.
const Vlasov& kinetic_physics(const Physics& physics, const char* writer);

/// Moments of every species and the fields over configuration space, as expansions: conf.h5 with
///   /step, /time                    one row per output
///   /<species>/density, flux_x, ..., energy   [row][cell][mode]; energy is the integral of v^2 f
///   /<species>/pressure_xx, ...     [row][cell][mode]; if `also` requests them
///   /field/Ex, ...                  [row][cell][mode]
///   /electron_density, /Ex, ...     [row][y][x], values at the centres of the parts of cells
/// and the grid in the attributes of the root group. xarray opens it; plugins/kinetic/python/kinetic_io.py, too.
class MomentsWriter : public Writer {
 public:
  struct Params {
    std::optional<std::int64_t> every;
    std::optional<double> interval;  ///< in the unit of time of the physics
    std::vector<std::string> also;
    std::optional<io::Compression> compress;
    static std::string problem_of(const Params& p);
    static void describe(deck::Describe<Params>& d) {
      describe_times(d, 100);
      d("also", &Params::also,
        "further moments of every species, about its mean velocity: pressure (tensor, m <w_i w_j>), heat_flux (vector, "
        "m/2 <w_i w^2>), third_moment (tensor, m <w_i w_j w_k>); over the velocities of the grid")
          .def({});
      d("compress", &Params::compress,
        "compression of moments and fields, lossless or within an error bound; a relative one refers to the range of "
        "each mode");
      d.check(problem_of);
    }
  };
  MomentsWriter(const Params& params, Context& context);

  void attach(const Physics& physics) override;
  std::int64_t every() const override { return clock_.every(params_.every, 100); }
  void observe(const State& state, std::int64_t step, double time) override;
  void save(io::Group& group) const override { clock_.save(group); }
  void load(const io::Group& group) override { clock_.load(group); }
  bool shows_end() const override { return true; }
  void observe_end(const State& state, std::int64_t step, double time) override {
    if (clock_.shows_end(step, time, every())) observe(state, step, time);
  }
  void finish(const State&) override { file_.say_stored(); }
  void resume(std::int64_t step) override;
  std::vector<std::string> files() const override { return {"conf.h5"}; }

 private:
  std::vector<SeriesFile::Column> columns() const;
  void create();

  std::vector<std::string> names() const;  ///< of all expansions, in their order

  Params params_;
  Context& context_;
  OutputClock clock_{params_.interval};
  std::vector<HigherMoment> also_;
  const Vlasov* physics_ = nullptr;
  SeriesFile file_;
};

}  // namespace cambium::kinetic
