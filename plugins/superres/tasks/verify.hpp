#pragma once
#include <map>
#include <optional>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/superres/equations/equation.hpp"

namespace cambium::superres {

/// Stage `verify`: checks equations written as text against data before training on them. Prints the residual of the
/// data, as given and with exchanged axes, and refuses equations that the data do not obey.
class Verify : public Task {
 public:
  struct Params {
    std::string data;
    std::vector<std::string> fields;
    std::vector<std::string> equations;
    std::map<std::string, double> constants;
    double tolerance = 0.0;
    int frames = 0;
    std::optional<bool> periodic;
    static void describe(deck::Describe<Params>& d);
  };
  /// Parses the equations; InputError points at the column.
  Verify(const Params& params, Context& context);
  void examine(Check&) override;
  Outcome run(Context& context) override;
  Work work() const override { return work_; }
  std::vector<std::string> files() const override { return {"residuals.csv"}; }

 private:
  Params params_;
  std::vector<Equation> equations_;
  Work work_;
};

}  // namespace cambium::superres
