#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cambium {

/// A value that a stage computed. results.json holds it in full precision, the summary prints it, and tables of sweeps,
/// `theory` and `x-doctor` refer to it by its key.
struct Result {
  std::string key;    ///< lower-case letters, digits and underscores: "nusselt_number_bottom"; one of a kind in a stage
  std::string label;  ///< in the summary: "Nusselt number: bottom". May be reworded: nothing parses it
  double value = 0.0;
  std::string unit = {};
  std::optional<double> uncertainty = {};  ///< one standard error, in the same unit
  std::string remark = {};                 ///< in brackets after the value: "17 peaks from t = 1 to 12"
  int digits = 6;                          ///< significant ones in the summary; 0: a table or sentence there has it
};

/// The results as lines of the summary. Neighbours whose labels agree up to ": " share a line: "Nusselt number: bottom
/// 4.1, top 4.2". A label that ends in its own key is a symbol: "growth rate of the field: gamma = -0.153". A label of
/// one part precedes a colon: "largest force: 0.001 eV/Å (converged)". Results without digits have no line.
std::vector<std::string> result_lines(std::span<const Result> results);

/// Words as a key: "gcn (train_2)" is gcn_train_2.
std::string key_of(std::string_view words);

/// A result that is printed in a table of the summary.
inline Result in_table(std::string key, std::string label, double value) {
  return {.key = std::move(key), .label = std::move(label), .value = value, .digits = 0};
}

/// Appends the results of a part to those of the stage.
inline void append(std::vector<Result>& to, std::vector<Result> more) {
  for (auto& result : more) to.push_back(std::move(result));
}

}  // namespace cambium
