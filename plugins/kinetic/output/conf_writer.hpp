#pragma once
#include "core/deck/describe.hpp"
#include "core/io/vtkhdf.hpp"
#include "core/plugin/writer.hpp"
#include "plugins/kinetic/output/series_file.hpp"
#include "plugins/kinetic/physics/vlasov.hpp"

namespace cambium::kinetic {

/// A moment of a species or a component of a field, as an expansion over configuration space: [cell][mode].
struct Expansion {
  std::string name;
  std::vector<double> values;
};
/// <species>/density, flux_x, ..., energy and field/Ex, ... of the state as it is.
std::vector<Expansion> expansions_of(const Vlasov& physics);
/// InputError, naming the output, when the physics is no kinetic one.
const Vlasov& kinetic_physics(const Physics& physics, const char* writer);

/// Moments of every species and the fields over configuration space, as expansions: conf.h5 with
///   /step, /time                    one row per output
///   /<species>/density, flux_x, ..., energy   [row][cell][mode]; energy is the integral of v^2 f
///   /field/Ex, ...                  [row][cell][mode]
/// and the grid in the attributes of the root group. apps/python/kinetic_io.py reads it.
class ConfWriter : public Writer {
 public:
  struct Params {
    std::int64_t every = 100;
    static void describe(deck::Describe<Params>& d);
  };
  ConfWriter(const Params& params, Context& context) : params_(params), context_(context), file_(context, "conf.h5") {}

  void attach(const Physics& physics) override;
  std::int64_t every() const override { return params_.every; }
  void observe(const State& state, std::int64_t step, double time) override;
  void resume(std::int64_t step) override;
  std::vector<std::string> files() const override { return {"conf.h5"}; }

 private:
  std::vector<SeriesFile::Column> columns() const;
  void create();

  Params params_;
  Context& context_;
  const Vlasov* physics_ = nullptr;
  SeriesFile file_;
};

/// Distribution functions of all species: distribution.<step>.h5 with /<species>/f [conf cell][velocity
/// cells...][mode]; or, for ParaView, distribution.<species>.vtkhdf with their values over one to three dimensions at
/// every output.
class DistributionWriter : public Writer {
 public:
  struct Params {
    std::int64_t every = 1000;
    enum class Format { hdf5, vtkhdf } format = Format::hdf5;
    std::vector<std::string> axes;
    static void describe(deck::Describe<Params>& d);
  };
  DistributionWriter(const Params& params, Context& context) : params_(params), context_(context) {}

  void attach(const Physics& physics) override;
  std::int64_t every() const override { return params_.every; }
  void observe(const State& state, std::int64_t step, double time) override;
  void resume(std::int64_t step) override;
  std::vector<std::string> files() const override {
    return {params_.format == Params::Format::vtkhdf ? "distribution.<species>.vtkhdf" : "distribution.<step>.h5"};
  }

 private:
  void write_expansions(std::int64_t step, double time);
  void add_samples(std::int64_t step, double time);
  std::string path_of(const std::string& species) const;

  Params params_;
  Context& context_;
  const Vlasov* physics_ = nullptr;
  std::vector<std::vector<int>> axes_;                    ///< of every species, for vtkhdf
  std::vector<std::unique_ptr<io::VtkhdfFile>> samples_;  ///< of every species, on rank 0, from the first output on
};

}  // namespace cambium::kinetic
