#pragma once
#include <map>
#include <optional>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/weights/artifact.hpp"
#include "plugins/superres/equations/equation.hpp"
#include "plugins/superres/evaluate/nudged_solver.hpp"
#include "plugins/superres/evaluate/refinement.hpp"
#include "plugins/superres/evaluate/scores.hpp"

namespace cambium::superres {

/// Stage `reconstruct`: samples a run coarsely in time and space, reconstructs it by interpolation, by the solver
/// itself and by trained models, and reports how well the physics is preserved. One of the reconstructions may be
/// written, at any resolution.
class Reconstruct : public Task {
 public:
  /// Output of a reconstruction to a file.
  struct Write {
    std::string method, file;
    std::array<int, 3> points{};
    std::optional<std::array<double, 2>> times, heights;
    static void describe(deck::Describe<Write>& d);
  };
  struct Params {
    std::string data;
    double rayleigh = 0.0;
    std::optional<double> prandtl;
    std::array<double, 3> ratio{};
    std::optional<bool> periodic;
    Wall plates = Wall::no_slip;
    std::vector<std::string> methods;
    std::map<std::string, std::string> models;
    bool allow_other_parameters = false;
    std::vector<std::string> equations;
    std::map<std::string, double> constants;
    int frames = 0;
    std::optional<Refinement> refine;
    std::optional<Write> write;
    static void describe(deck::Describe<Params>& d);
  };
  /// Parses the equations; InputError points at the column.
  Reconstruct(const Params& params, Context& context);
  void examine(Check&) override;
  Outcome run(Context& context) override;
  Work work() const override { return work_; }
  std::vector<std::string> files() const override;
  std::vector<Citation> citations() const override { return citations_; }

 private:
  using Models = std::map<std::string, train::LoadedModel>;
  FieldData refined(const std::string& model, const FieldData& coarse, const std::array<std::vector<double>, 3>& places,
                    train::LoadedModel& of, Context& context) const;
  FieldData rebuilt(const std::string& method, const FieldData& coarse,
                    const std::array<std::vector<double>, 3>& places, Models& models, Context& context) const;
  /// The flow of the data, by the keys and what their file states. KeyError if these contradict each other.
  Convected flow_of(const FieldData& truth) const;
  /// Loads the models and checks that they were trained on such flows as the data.
  Models loaded(Context& context) const;
  void require_no_mask(const FieldData& truth) const;
  std::array<std::array<double, 2>, 2> require_writable(const FieldData& coarse) const;
  void write_one(const FieldData& coarse, Models& models, Context& context) const;
  /// Methods, models and refined models: the columns of the table.
  std::vector<std::string> columns() const;
  void print(const std::vector<Scores>& scores, Context& context) const;
  void write(const std::vector<Scores>& scores, Context& context) const;
  /// Writes the middle frame of b, of the data and of every method, for figures.
  void write_frames(const FieldData& truth, const std::vector<std::vector<float>>& frames, Context& context) const;

  Params params_;
  std::vector<Equation> equations_;
  Convected flow_;  ///< of the data
  Work work_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::superres
