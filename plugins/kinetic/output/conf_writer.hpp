#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/io/h5.hpp"
#include "core/plugin/writer.hpp"
#include "plugins/kinetic/physics/vlasov.hpp"

namespace cambium::kinetic {

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
  ConfWriter(const Params& params, Context& context) : params_(params), context_(context) {}

  void attach(const Physics& physics) override;
  std::int64_t every() const override { return params_.every; }
  void observe(const State& state, std::int64_t step, double time) override;
  void resume(std::int64_t step) override;
  std::vector<std::string> files() const override { return {"conf.h5"}; }

 private:
  struct Series {
    std::string name;
    std::vector<double> values;
  };
  std::vector<Series> now() const;
  std::string path() const;
  void create();

  Params params_;
  Context& context_;
  const Vlasov* physics_ = nullptr;
  std::optional<io::File> file_;
};

/// Distribution functions of all species: distribution.<step>.h5 with /<species>/f [conf cell][velocity cells...][mode].
class DistributionWriter : public Writer {
 public:
  struct Params {
    std::int64_t every = 1000;
    static void describe(deck::Describe<Params>& d);
  };
  DistributionWriter(const Params& params, Context& context) : params_(params), context_(context) {}

  void attach(const Physics& physics) override;
  std::int64_t every() const override { return params_.every; }
  void observe(const State& state, std::int64_t step, double time) override;
  std::vector<std::string> files() const override { return {"distribution.<step>.h5"}; }

 private:
  Params params_;
  Context& context_;
  const Vlasov* physics_ = nullptr;
};

}  // namespace cambium::kinetic
