#pragma once
#include <map>
#include <string>
#include <vector>

namespace cambium::train {

/// Arrays by their names.
using KeptNumbers = std::map<std::string, std::vector<double>>;

/// A network that keeps numbers beside its weights which a resumed training needs and a finished model does not, such
/// as estimates for each sample. Optimizers never see them.
class KeepsNumbers {
 public:
  virtual ~KeepsNumbers() = default;
  /// Collective, between two steps; the same on every rank.
  virtual KeptNumbers kept() const = 0;
  /// Result of kept() on any number of ranks, empty arrays left out, after restore() and before the first step. Sends
  /// no message. InputError when they are those of another loss; the map is empty where the checkpoint holds none.
  virtual void take(const KeptNumbers& kept) = 0;
};

}  // namespace cambium::train
