#pragma once
#include "core/deck/describe.hpp"
#include "core/plugin/writer.hpp"

namespace cambium::superres {

/// Spectra along x of u, w and b, and of v in three dimensions, averaged over height, depth and time: E(k) with sum_k
/// E(k) = <f^2>/2.
class SpectrumWriter : public Writer {
 public:
  struct Params {
    std::string file;
    std::int64_t every = 50;
    double from = 0.0;
    static void describe(deck::Describe<Params>& d) {
      d("file", &Params::file, "name in the folder of the stage").def("spectrum.csv");
      d("every", &Params::every, "steps between two samples").at_least(1).def(50);
      d("start_time", &Params::from, "time at which averaging begins").formerly("from").non_negative().def(0.0);
    }
  };
  SpectrumWriter(const Params& params, Context& context) : params_(params), context_(context) {}
  std::int64_t every() const override { return params_.every; }
  void observe(const State& state, std::int64_t step, double time) override;
  void finish(const State& state) override;
  void save(io::Group& group) const override;
  void load(const io::Group& group) override;
  std::vector<std::string> files() const override { return {params_.file}; }

 private:
  Params params_;
  Context& context_;
  std::vector<double> sums_;  ///< of all fields one after the other; the same on every rank
  std::int64_t samples_ = 0;
};

}  // namespace cambium::superres
