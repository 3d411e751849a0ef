#pragma once
#include <cstddef>
#include <string>

#include "core/deck/describe.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/deck_file.hpp"

namespace cambium::train {

/// The data that a deck's earlier stages write for a training, made at the deck's test size (its x-test notes) in a
/// temporary folder, which is removed with this object. A plan uses only the shapes of its samples.
class TrialData {
 public:
  /// Runs the stages before index `stage` (from 0). Collective. InputError if they cannot run.
  TrialData(const std::string& deck, const DeckOptions& options, std::size_t stage, Registry& registry,
            Context& context);
  ~TrialData();
  TrialData(const TrialData&) = delete;
  TrialData& operator=(const TrialData&) = delete;

  /// The deck as it was written, its run directory the temporary folder.
  const ReadDeck& deck() const { return full_; }
  /// The same with its test notes applied: ranges of samples fit the generated data.
  const ReadDeck& small() const { return small_; }

 private:
  std::string folder_;
  bool root_ = false;
  ReadDeck full_, small_;
};

}  // namespace cambium::train
