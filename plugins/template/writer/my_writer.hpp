#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/writer.hpp"

namespace cambium::my_writer {

/// Number density of the particles in slabs along one axis of the cell, averaged over the observations:
///   n_k = < N_k / (V / bins) >,
/// where N_k counts the particles whose fractional coordinate is in [k, k + 1) / bins and V is the cell's volume.
class MyWriter : public Writer {
 public:
  /// Keys of the deck. This declaration is also their validation, their documentation and their JSON schema.
  struct Params {
    std::int64_t every = 100;
    int bins = 50;
    std::string axis = "c";
    static void describe(deck::Describe<Params>& d);
  };
  MyWriter(const Params& params, Context& context);

  std::int64_t every() const override { return params_.every; }
  void observe(const State& state, std::int64_t step, double time) override;
  void finish(const State&) override;
  /// Observations so far are stored in checkpoints, so that a resumed run averages over all of them.
  void save(io::Group& group) const override;
  void load(const io::Group& group) override;
  std::vector<std::string> files() const override { return {"my_writer.csv"}; }

  /// 1/Å^3 by slab; zeros before the first observation.
  std::vector<double> density() const;

 private:
  Params params_;
  Context& context_;
  int axis_;                 ///< of the cell: 0, 1, 2
  std::vector<double> sum_;  ///< of the densities, the same on every rank
  double samples_ = 0.0;
};

}  // namespace cambium::my_writer
