#pragma once
#include <map>
#include <string>
#include <vector>

namespace cambium::train {

/// Arrays by name.
using KeptNumbers = std::map<std::string, std::vector<double>>;

/// A network with extra state in addition to its weights, such as estimates for each sample. A resumed training needs
/// it, a finished model does not. Optimizers do not use it.
class KeepsNumbers {
 public:
  virtual ~KeepsNumbers() = default;
  /// Collective, between two steps; the same on every rank.
  virtual KeptNumbers kept() const = 0;
  /// Restores the result of kept(), from any number of ranks, without empty arrays; called after restore() and before
  /// the first step. Not collective. InputError if the arrays belong to another loss; the map is empty if the
  /// checkpoint has none.
  virtual void take(const KeptNumbers& kept) = 0;
};

}  // namespace cambium::train
