#pragma once
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/potential.hpp"
#include "core/plugin/task.hpp"
#include "plugins/deepmd/data/extxyz_keys.hpp"
#include "plugins/deepmd/data/labelled_data.hpp"

namespace cambium::deepmd {

/// The stage `compare`: force errors of several potentials of any type on labelled frames, in one table. Some
/// parameters of a potential may first be fitted to the forces of other frames: the cheapest baseline for a model.
class Compare : public Task {
 public:
  struct Fit {
    std::map<std::string, std::array<double, 2>> vary;
    std::vector<std::string> systems;
    int frames = 50;
    static void describe(deck::Describe<Fit>& d);
  };
  struct Entry {
    deck::Choice<Potential> potential;
    std::optional<Fit> fit;
    static void describe(deck::Describe<Entry>& d);
  };
  struct Params {
    std::vector<std::string> systems;
    std::map<std::string, Entry> potentials;
    ExtxyzKeys labels;
    static void describe(deck::Describe<Params>& d);
  };
  Compare(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> files() const override { return files_; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  deck::Choice<Potential> fitted(const std::string& name, const Entry& entry, Context& context);

  Params params_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> files_;
  std::vector<Citation> citations_;
};

/// Errors of force components (eV/Å) over frames.
struct ForceErrors {
  double squares = 0.0, absolute = 0.0, components = 0.0;  ///< sums
  double rmse() const;
  double mae() const;
};

/// Collective: frames, every `stride`-th, are distributed over the ranks. InputError if a frame has no forces or no
/// cell.
ForceErrors force_errors(const deck::Choice<Potential>& potential, const LabelledData& data, std::size_t stride,
                         Context& context);

/// Smallest value of `f` on the unit cube of `dimensions`: the best of a third of the `evaluations`, at points of the
/// Halton sequence, then the simplex method of Nelder and Mead (Computer J. 7, 308, 1965) from there, with points
/// projected onto the cube.
std::vector<double> simplex_minimum(const std::function<double(const std::vector<double>&)>& f, std::size_t dimensions,
                                    int evaluations);

}  // namespace cambium::deepmd
