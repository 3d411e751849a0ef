#pragma once
#include <memory>

#include "core/parallel/context.hpp"
#include "plugins/podlstm/search/search.hpp"

namespace cambium::podlstm {

/// Ranks in groups of equal size that evaluate a trial together. The first of each group takes part in the search; the
/// others do what it does.
class Groups {
 public:
  /// Collective. InputError unless `size` divides the number of ranks.
  Groups(int size, const Context& context);

  const Comm& own() const { return *own_; }  ///< this rank's group
  Comm& own() { return *own_; }
  bool leads() const { return own_->rank() == 0; }

  /// Collective: runs the search between the leaders while the others follow them. `evaluate` is called by all ranks of
  /// a group with the same job. False when it was asked to stop before all trials were finished; the report is that of
  /// rank 0.
  bool search(SearchSpace space, const SearchOptions& options, Journal* journal, const Evaluate& evaluate,
              Context& context, SearchReport& report);

 private:
  void follow(const Evaluate& evaluate) const;
  std::unique_ptr<Comm> own_, leaders_;  ///< leaders_ on leaders alone
};

/// The same context on other ranks.
Context with_comm(const Context& context, Comm& comm);

}  // namespace cambium::podlstm
