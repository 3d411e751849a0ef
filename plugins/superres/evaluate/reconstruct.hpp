#pragma once
#include "core/deck/describe.hpp"
#include "core/plugin/task.hpp"
#include "plugins/superres/evaluate/scores.hpp"

namespace cambium::superres {

/// Stage `reconstruct`: samples a run coarsely in time and space, rebuilds it by interpolation, and says which physics is left.
/// These are the baselines that a trained model has to beat.
class Reconstruct : public Task {
 public:
  struct Params {
    std::string data;
    double rayleigh = 0.0, prandtl = 1.0;
    std::array<double, 3> ratio{};
    std::vector<std::string> methods;
    int frames = 0;
    static void describe(deck::Describe<Params>& d);
  };
  Reconstruct(const Params& params, Context& context);
  void check(Context& context) override;
  Outcome run(Context& context) override;

 private:
  void print(const std::vector<Scores>& scores, Context& context) const;
  void write(const std::vector<Scores>& scores, Context& context) const;

  Params params_;
};

}  // namespace cambium::superres
