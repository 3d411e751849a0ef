#pragma once
#include "core/deck/describe.hpp"
#include "core/plugin/writer.hpp"
#include "plugins/kinetic/physics/vlasov.hpp"
#include "plugins/kinetic/writers/output_clock.hpp"
#include "plugins/kinetic/writers/series_file.hpp"

namespace cambium::kinetic {

/// Time series at points of configuration space, what a probe would see: points.h5 with
///   /step, /time                              one row per output
///   /<species>/density, flux_x, ..., energy   [row][point]; energy is the integral of v^2 f
///   /field/Ex, ...                            [row][point]
/// and the positions in the root group's attribute `at`, [point][dimension]. On a face between cells the value is that
/// of the upper one.
class PointWriter : public Writer {
 public:
  struct Params {
    std::vector<std::vector<std::string>> at;
    std::optional<std::int64_t> every;
    std::optional<double> interval;  ///< in the unit of time of the physics
    static void describe(deck::Describe<Params>& d) {
      d("at", &Params::at, "points of configuration space (formulas)").example("[[0.5], [2.0]]");
      describe_times(d, 1);
    }
  };
  PointWriter(const Params& params, Context& context)
      : params_(params), context_(context), file_(context, "points.h5") {}

  void attach(const Physics& physics) override;
  std::int64_t every() const override { return clock_.every(params_.every, 1); }
  void observe(const State& state, std::int64_t step, double time) override;
  void save(io::Group& group) const override { clock_.save(group); }
  void load(const io::Group& group) override { clock_.load(group); }
  void resume(std::int64_t step) override { file_.resume(step, columns()); }
  std::vector<std::string> files() const override { return {"points.h5"}; }

 private:
  /// A cell and the values of its modes at a point there.
  struct Place {
    int cell = 0;  ///< of this rank, or -1
    std::vector<double> at;
    std::vector<double> basis;
  };
  std::vector<SeriesFile::Column> columns() const;
  void create();

  Params params_;
  Context& context_;
  OutputClock clock_{params_.interval};
  const Vlasov* physics_ = nullptr;
  std::vector<Place> place_;
  SeriesFile file_;
};

}  // namespace cambium::kinetic
